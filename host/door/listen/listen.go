// Package listen opens the sockets of the doors: those that the service manager passes, else at the addresses of the
// configuration.
//
// It never serves anybody.
package listen

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"

	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/service"
)

// Open listens at the address of the doors, and at that of the Firehose, where it has one of its own; nil: it has none.
//
// # Errors
//
// An address that somebody else has, with the key to change; a socket of the service manager that is none of TCP, or reaches
// further than the configuration lets guests in, or is one too many.
func Open(cfg config.Config, log *slog.Logger) (doors, hose net.Listener, err error) {
	given, err := service.Sockets()
	if err != nil {
		return nil, nil, err
	}
	keys := []string{"door.listen", "door.firehose"}
	addresses := []string{cfg.Door.Listen, cfg.Door.Firehose}
	if cfg.Door.Firehose == "" {
		keys = keys[:1]
	}
	var open []net.Listener
	for i, key := range keys {
		var l net.Listener
		if i < len(given) {
			l, err = passed(key, given[i], cfg, log)
		} else {
			l, err = At(key, addresses[i])
		}
		if err != nil {
			break
		}
		open = append(open, l)
	}
	if err == nil && len(given) > len(open) {
		err = fmt.Errorf("the service manager passes %d sockets, for the keys %s: take the ListenStream= out that is too much", len(given), strings.Join(keys, " and "))
	}
	if err != nil {
		for _, l := range append(open, given[min(len(open), len(given)):]...) {
			err = errors.Join(err, l.Close())
		}
		return nil, nil, err
	}
	if len(open) > 1 {
		hose = open[1]
	}
	return open[0], hose, nil
}

// passed takes a socket that the service manager listens at, in place of one of a setting: what that setting allows of
// guests holds for it.
func passed(key string, l net.Listener, cfg config.Config, log *slog.Logger) (net.Listener, error) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%s: the service manager passes a socket at %s, must be one of TCP: ListenStream=127.0.0.1:3000", key, l.Addr())
	}
	if !at.IP.IsLoopback() && cfg.GuestsAllowed() && !cfg.Door.Insecure {
		return nil, fmt.Errorf("%s: the service manager passes a socket at %s, which other machines can reach, and %s says %s: set it to that address, with identity.tokens", key, at, key, cfg.Door.Listen)
	}
	log.Info("the service manager listens for the daemon", "key", key, "listen", at.String())
	return l, nil
}

// At listens at the address that a setting has, and says which one to change where it cannot.
func At(key, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: another program listens at %s already; stop it (is it a companiond?), or give %s another port: %w", key, address, key, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return l, nil
}

// Package service speaks with the service manager that runs the daemon, as systemd has it: it says when the daemon is ready,
// reloads and stops, keeps its watchdog quiet while the daemon works, and takes the sockets that it opened.
//
// Run by hand, where no manager listens, it does nothing. It never decides what "works" means: its caller asks the rooms.
package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Manager is whoever runs the daemon: systemd, or nobody.
type Manager struct {
	log *slog.Logger
}

// New finds the manager of this process by its environment (NOTIFY_SOCKET). A nil Manager is nobody.
func New(log *slog.Logger) *Manager { return &Manager{log} }

// Ready says that the daemon is there for everybody; status is shown to people.
func (m *Manager) Ready(status string) { m.tell(daemon.SdNotifyReady, "STATUS="+oneLine(status)) }

// Status shows people how the daemon is.
func (m *Manager) Status(status string) { m.tell("STATUS=" + oneLine(status)) }

// Stopping says that the daemon ends because it was asked to.
func (m *Manager) Stopping() { m.tell(daemon.SdNotifyStopping, "STATUS=stopping") }

// Reload says that the daemon reads its configuration anew, until done is called with what is shown then.
func (m *Manager) Reload() (done func(status string)) {
	m.tell(daemon.SdNotifyReloading, strings.TrimSpace(daemon.SdNotifyMonotonicUsec()))
	return m.Ready
}

// tell sends a message whole: two of them could be taken for two states.
func (m *Manager) tell(lines ...string) {
	if m == nil {
		return
	}
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		m.log.Warn("the service manager cannot be told how the daemon is", "err", err)
	}
}

// oneLine keeps what is shown from being taken for another message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Watch keeps the watchdog quiet until ctx ends: twice within its time it asks works, and tells of it only where that
// answers nil before the next time. A manager without a watchdog is told nothing.
// It answers nil; a watchdog whose time cannot be read is told of in the log.
func (m *Manager) Watch(ctx context.Context, works func(context.Context) error) error {
	patience, err := m.patience()
	if err != nil {
		m.log.Warn("the watchdog of the service manager is told nothing, for its time cannot be read", "err", err)
	}
	if patience == 0 || err != nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(patience / 2)
	defer tick.Stop()
	for {
		err := m.ask(ctx, patience, works)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			m.tell(daemon.SdNotifyWatchdog)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// ask waits for half of the watchdog's time. After a quarter it says in the log what does not answer: at the end of a half that the manager
// waits for, too, nobody would read it any more.
func (m *Manager) ask(ctx context.Context, patience time.Duration, works func(context.Context) error) (err error) {
	for again := range 2 {
		asked, cancel := context.WithTimeout(ctx, patience/4)
		err = works(asked)
		late := asked.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if again == 0 {
			m.log.Error("the daemon does not work; its service manager starts it anew if that lasts", "err", err, "watchdog", patience)
		}
		if !late {
			return err
		}
	}
	return err
}

// patience is the watchdog's time, 0 where there is none.
func (m *Manager) patience() (time.Duration, error) {
	if m == nil {
		return 0, nil
	}
	return daemon.SdWatchdogEnabled(false)
}

// maxSockets is how many sockets a service manager may pass. More is no number of sockets but a mistake or a trick, and each
// would be looked at.
const maxSockets = 64

// Sockets gives the listening sockets that the manager opened for the daemon, in the order of its unit, and none the second
// time.
//
// # Errors
//
// One that is no listening stream socket; and a number of sockets, meant for this process, that is none.
func Sockets() ([]net.Listener, error) {
	if pid, fds := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"); fds != "" && pid == strconv.Itoa(os.Getpid()) {
		if n, err := strconv.Atoi(fds); err != nil || n < 0 || n > maxSockets {
			return nil, fmt.Errorf("LISTEN_FDS is %.40q, and a service manager passes 0 to %d sockets: unset it, or mend the .socket unit", fds, maxSockets)
		}
	}
	listeners, err := activation.Listeners()
	if err != nil {
		return nil, err
	}
	for i, l := range listeners {
		if l == nil {
			return nil, fmt.Errorf("socket %d of the service manager is none to listen at; a .socket unit for companiond has ListenStream= alone", i+1)
		}
	}
	return listeners, nil
}

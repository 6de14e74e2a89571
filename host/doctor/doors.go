package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/companiond/companiond/host/control"
)

// doors looks whether the addresses are free, or whose they are.
func (o Options) doors(ctx context.Context, s control.Status, running bool) (items []Item) {
	items = append(items, door(ctx, "door.listen", o.Config.Door.Listen, running, s.PID))
	if o.Config.Door.Firehose != "" {
		items = append(items, door(ctx, "door.firehose", o.Config.Door.Firehose, running, s.PID))
	}
	return items
}

// inUseOnWindows is WSAEADDRINUSE, which syscall does not name.
const inUseOnWindows = syscall.Errno(10048)

func door(ctx context.Context, thing, address string, running bool, pid int) Item {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		_ = l.Close()
		if running && !strings.HasSuffix(address, ":0") {
			return Item{Warn, thing, address + " is free, though the daemon runs: it listens elsewhere", "companiond status; companiond reload says what waits for a restart"}
		}
		return Item{OK, thing, address + " is free", ""}
	}
	switch {
	case errors.Is(err, syscall.EACCES):
		return Item{Fail, thing, err.Error(), "choose a port above 1023"}
	case !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, inUseOnWindows):
		return Item{Fail, thing, err.Error(), "give " + thing + " an address of this machine"}
	}
	who, id := holderOf(address)
	switch {
	case running && (id == 0 || id == pid):
		return Item{OK, thing, address + " is the daemon's", ""}
	case strings.HasSuffix(who, ", systemd)"): // a socket unit; whose it is only a connection would tell, which starts the daemon
		return Item{OK, thing, address + " is listened at by systemd, for the daemon", ""}
	case companiond(ctx, address):
		return Item{Fail, thing, fmt.Sprintf("another companiond is at %s%s", address, who), "stop it, or give this one another port: " + thing + " = \"127.0.0.1:3001\""}
	}
	return Item{Fail, thing, fmt.Sprintf("another program is at %s%s", address, who), "stop it, or choose another port: " + thing + " = \"127.0.0.1:3001\""}
}

// companiond says whether one of us answers at an address.
func companiond(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/openapi.json", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return err == nil && strings.Contains(string(b), "companiond")
}

// holderOf finds which process listens at a port, as far as the system tells whoever asks: " (process 7, node)", or nothing.
func holderOf(address string) (who string, pid int) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		return "", 0
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listeners(table, n, inodes)
	}
	if len(inodes) == 0 {
		return "", 0
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*") // an error would be of the pattern
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err != nil || !inodes[to] {
			continue
		}
		parts := strings.Split(fd, "/")
		name, _ := os.ReadFile("/proc/" + parts[2] + "/comm")
		_, _ = fmt.Sscan(parts[2], &pid)
		return fmt.Sprintf(" (process %d, %s)", pid, strings.TrimSpace(string(name))), pid
	}
	return "", 0
}

// listeners takes in the sockets of a table of Linux's that listen at a port, as links to them are called.
func listeners(table string, port int, inodes map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	const listening = "0A"
	for lines := bufio.NewScanner(f); lines.Scan(); {
		c := strings.Fields(lines.Text())
		if len(c) > 9 && c[3] == listening && strings.HasSuffix(c[1], fmt.Sprintf(":%04X", port)) {
			inodes["socket:["+c[9]+"]"] = true
		}
	}
}

package child

import (
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"time"
)

// Limits bound what a child takes; 0 is no bound.
type Limits struct {
	Memory int64         // bytes that it has of the system
	CPU    time.Duration // that it computes, in all its threads
	File   int64         // bytes of one file that it writes, where the system can say so
	// Background lets everything else on the machine go first.
	Background bool
}

// limitsKey is the variable of the environment in which a child finds its limits.
const limitsKey = "COMPANIOND_CHILD"

func (l Limits) encode() string {
	return fmt.Sprintf("%d %d %d %t", l.Memory, l.CPU, l.File, l.Background)
}

func decodeLimits(s string) (l Limits, err error) {
	if _, err := fmt.Sscanf(s, "%d %d %d %t", &l.Memory, &l.CPU, &l.File, &l.Background); err != nil {
		return l, fmt.Errorf("child: this program is started by companiond only: %w", err)
	}
	return l, nil
}

// Usage is what a child has taken so far.
type Usage struct {
	CPU    time.Duration
	Memory int64 // bytes that it has of the system now
}

// Exit codes of a child that ends itself. They are none that Go or a shell uses.
const (
	exitMemory = 93
	exitCPU    = 94
	exitOrphan = 95
)

const (
	watchEvery  = 5 * time.Millisecond
	reportEvery = 20 // watches
	// memoryRoom is what a limit of the system leaves above Limits.Memory, for what the
	// program's own watch does not see: one that ends itself can say why.
	memoryRoom = 128 << 20
)

// Is says whether this process was started by a [Command].
func Is() bool { return os.Getenv(limitsKey) != "" }

// Obey bounds the process that calls it as its [Command] says: at a bound the process
// exits, and [Command.Run] says which one it was. Report hears now and then what it has
// taken; nil is nobody.
//
// # Errors
//
// It fails in a process that no Command started.
func Obey(report func(Usage)) error {
	l, err := decodeLimits(os.Getenv(limitsKey))
	if err != nil {
		return err
	}
	limit(l)
	go func() {
		for n := 1; ; n++ {
			u := Usage{CPU: cpuTime(), Memory: UsedMemory()}
			switch {
			case l.Memory > 0 && u.Memory > l.Memory:
				leave(exitMemory, fmt.Sprintf("it took %d MiB of memory, at most %d are allowed", u.Memory>>20, l.Memory>>20))
			case l.CPU > 0 && u.CPU > l.CPU:
				leave(exitCPU, fmt.Sprintf("it computed for more than %v", l.CPU))
			case report != nil && n%reportEvery == 0:
				report(u)
			}
			time.Sleep(watchEvery)
		}
	}()
	return nil
}

// UsedMemory gives the bytes that this process's Go runtime has of the system.
func UsedMemory() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// EndWith ends the process when there is nothing more to read: the daemon that started
// it is gone.
func EndWith(r io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, r)
		leave(exitOrphan, "the daemon is gone")
	}()
}

func leave(code int, words string) {
	fmt.Fprintln(os.Stderr, words)
	os.Exit(code)
}

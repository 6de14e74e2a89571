// Package foldertest holds engines to what a folder promises while their files are saved.
//
// The daemon never uses it.
package foldertest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/waittest"
)

// Reloads saves a file of an engine 200 times while eight callers ask it for votes. No
// call may fail, and none may be answered by a generation older than the one
// that was current when it began: file gives the one whose votes have the reason n.
func Reloads(t *testing.T, e module.Engine, name string, file func(n int) []byte) {
	t.Helper()
	dir := t.TempDir()
	id, _ := e.Match(name)
	save := func(n int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".tmp", file(n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			t.Fatal(err)
		}
	}
	save(1)
	folder, err := folder.New(folder.Config{
		Dir: dir, Engines: []module.Engine{e}, Debounce: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- folder.Run(ctx) }()
	<-folder.Ready()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%+v", folder.Status())
		}
	})
	c, _ := folder.Companion(id)

	var calls, current atomic.Int64
	current.Store(1)
	stopCalls := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for {
				select {
				case <-stopCalls:
					return
				default:
				}
				oldest := current.Load()
				var v abi.Vote
				data, err := c.Call(t.Context(), abi.Request{Op: abi.OpVote})
				if err == nil {
					err = json.Unmarshal(data, &v)
				}
				var from int64
				if _, scanErr := fmt.Sscan(v.Reason, &from); err != nil || scanErr != nil || from < oldest {
					t.Errorf("a call that began with generation %d: %q, %v", oldest, v.Reason, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	const reloads = 200
	for n := 2; n <= reloads+1; n++ {
		save(n)
		waittest.Until(t, fmt.Sprint("generation ", n), func() bool { return c.Generation() >= uint64(n) })
		current.Store(int64(n))
	}
	close(stopCalls)
	callers.Wait()
	t.Logf("%d reloads, %d calls, none failed", reloads, calls.Load())
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

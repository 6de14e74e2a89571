package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/companiond/companiond/host/module/wasm/wasmtest"
	"github.com/companiond/companiond/host/waittest"
)

// TestFilesThatAreTooMuch drops small valid files that would take gigabytes or minutes,
// all at once, beside a good one: the good one serves, the daemon's memory stays, each of
// the others says what it is refused for or waits for, and a stop waits for nobody.
func TestFilesThatAreTooMuch(t *testing.T) {
	waittest.WithoutRaces(t)
	dir := t.TempDir()
	folder := filepath.Join(dir, "characters")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	drop := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drop("first.wasm", wasmtest.File{}.Bytes())
	d := start(t, dir, "")
	states := func() map[string]companionState { return companionStates(t, d.url) }
	waittest.Until(t, "the first serves", func() bool { return states()["first"].State == "ready" })
	before := resident(t, d.cmd.Process.Pid)
	bombs := wasmtest.Bombs()
	n := 0
	for _, data := range bombs {
		drop(fmt.Sprintf("bomb%02d.wasm", n), data)
		n++
	}
	dropped := time.Now()
	drop("good.wasm", wasmtest.File{Globals: 3}.Bytes())
	waittest.Until(t, "the good one serves", func() bool { return states()["good"].State == "ready" })
	t.Logf("the good file serves after %v", time.Since(dropped))
	waittest.Until(t, "each bomb is refused or waits", func() bool {
		told := 0
		for id, s := range states() {
			if strings.HasPrefix(id, "bomb") && (s.Error != "" || s.Progress != "" || s.State == "ready") {
				told++
			}
		}
		return told == n
	})
	for id, s := range states() {
		t.Logf("%s: %+v", id, s)
	}
	if runtime.GOOS == "linux" {
		t.Logf("resident memory grew by %d MiB", (resident(t, d.cmd.Process.Pid)-before)>>20)
		waittest.Until(t, "the memory is given back", func() bool { return resident(t, d.cmd.Process.Pid)-before < 64<<20 })
	}
	stopped := time.Now()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = d.cmd.Wait()
	if took := time.Since(stopped); waittest.Late(took, 2*time.Second) {
		t.Errorf("the stop took %v", took)
	}
}

type companionState struct{ ID, State, Error, Progress string }

func companionStates(t *testing.T, url string) map[string]companionState {
	t.Helper()
	res, err := http.Get(url + "/v1/companions")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []companionState
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	all := map[string]companionState{}
	for _, c := range list {
		all[c.ID] = c
	}
	return all
}

// resident gives a process's memory, 0 where the system does not say.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

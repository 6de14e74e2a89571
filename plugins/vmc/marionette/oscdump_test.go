package marionette_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/vmc/marionette"
	companion "github.com/companiond/companiond/sdk/go"
)

// TestOscdump: a program that others wrote hears, over UDP at the usual port, what the handler sends. It listens at
// all interfaces, so that both run in a network of their own.
func TestOscdump(t *testing.T) {
	const inside = "COMPANIOND_OSCDUMP"
	if os.Getenv(inside) != "" {
		heard(t)
		return
	}
	for _, program := range []string{"oscdump", "stdbuf", "unshare", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	own := []string{"-n"}
	if os.Getuid() != 0 {
		own = []string{"-rn"}
	}
	if out, err := exec.Command("unshare", append(own, "ip", "link", "set", "lo", "up")...).CombinedOutput(); err != nil {
		t.Skipf("there is no network of its own to be had: unshare: %v %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append(own, "sh", "-c", `ip link set lo up && exec "$@"`, "sh", os.Args[0], "-test.run=^TestOscdump$", "-test.v", "-test.timeout=2m")...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestOscdump") {
		t.Errorf("%v\n%s", err, out)
	}
}

// heard plays to oscdump, and looks at what it prints.
func heard(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dump := exec.CommandContext(ctx, "stdbuf", "-oL", "oscdump", "-L", "39539")
	out, err := dump.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dump.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = dump.Wait() // it is killed
	}()
	settings := json.RawMessage(`{"fade":0}`)
	x := companion.NewLocalHandler(marionette.New(nil))
	done := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { done <- x.Run(running, abi.Running{Companions: []string{"aya"}, Settings: settings}) }()
	lines := bufio.NewScanner(out)
	until := func(want ...string) {
		t.Helper()
		for _, w := range want {
			// Its lines have a time before the address: an openness is as it is when the frame comes.
			re, last := regexp.MustCompile(w), ""
			for !re.MatchString(last) {
				if !lines.Scan() {
					t.Fatalf("oscdump has ended, and did not print %s: %v", w, lines.Err())
				}
				last = lines.Text()
			}
		}
	}
	show := func(all ...abi.Shown) {
		t.Helper()
		if err := x.Show(abi.Showing{Companion: "aya", Shown: all, Settings: settings}); err != nil {
			t.Fatal(err)
		}
	}
	const value = `/VMC/Ext/Blend/Val sf "`
	until(value+`Neutral" 1\.0+$`, value+`Joy" 0\.0+$`, value+`O" 0\.0+$`, `/VMC/Ext/Blend/Apply ?$`) // once a second, when it listens
	mouth, _ := json.Marshal([]abi.Viseme{{MS: 50_000, Open: 0.75, Shape: "o"}})
	x.Look(func() { x.Handled.Blobs = map[string]abi.Blob{"m": {Bytes: mouth}} })
	show(piece("l1", "happy", "oh"), abi.Shown{Kind: abi.ShowSound, Line: "l1", Part: 1, Sound: &abi.Sound{Mouth: abi.BlobRef{Hash: "m"}}},
		abi.Shown{Kind: abi.ShowStarts, Line: "l1", Part: 1})
	until(value+`Neutral" 0\.0+$`, value+`Joy" 1\.0+$`, value+`O" 0\.750*$`, `/VMC/Ext/Blend/Apply ?$`)
	show(abi.Shown{Kind: abi.ShowEnd, Line: "l1", End: "said"})
	until(value+`O" 0\.0+$`, `/VMC/Ext/Blend/Apply ?$`)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

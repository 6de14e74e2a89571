package marionette_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/vmc/marionette"
	"github.com/companiond/companiond/plugins/vmc/osctest"
	companion "github.com/companiond/companiond/sdk/go"
)

// frame is what was sent at once: the expressions that have a weight.
type frame struct {
	at      time.Duration
	weights map[string]float64
	names   []string
}

func (f frame) String() string {
	var all []string
	for _, name := range f.names {
		if w := f.weights[name]; w > 0 {
			all = append(all, fmt.Sprintf("%s %.2f", name, w))
		}
	}
	return strings.Join(all, ", ")
}

// bubble is the handler beside a socket that keeps what is sent, in fake time.
type bubble struct {
	net.Conn // none
	t        *testing.T
	local    *companion.Local
	settings json.RawMessage
	begun    time.Time

	mu     sync.Mutex
	frames []frame
	fails  error
	closed bool
}

func (x *bubble) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fails != nil {
		return 0, x.fails
	}
	all, err := osctest.Read(b)
	if err != nil {
		x.t.Error(err)
	}
	f := frame{at: time.Since(x.begun), weights: map[string]float64{}}
	for i, m := range all {
		if i == len(all)-1 {
			if m.Address != "/VMC/Ext/Blend/Apply" || len(m.Args) != 0 {
				x.t.Errorf("a bundle ends with %v", m)
			}
			continue
		}
		name, _ := m.Args[0].(string)
		weight, ok := m.Args[1].(float32)
		if m.Address != "/VMC/Ext/Blend/Val" || len(m.Args) != 2 || !ok {
			x.t.Errorf("%v", m)
		}
		f.names = append(f.names, name)
		f.weights[name] = float64(weight)
	}
	x.frames = append(x.frames, f)
	return len(b), nil
}

func (x *bubble) Close() error {
	x.closed = true
	return nil
}

// within runs do beside the handler's Run, and gives what was sent.
func within(t *testing.T, settings string, do func(t *testing.T, x *bubble)) (all []frame) {
	synctest.Test(t, func(t *testing.T) {
		x := &bubble{t: t, settings: json.RawMessage(settings), begun: time.Now()}
		x.local = companion.NewLocalHandler(marionette.New(func(_ context.Context, network, address string) (net.Conn, error) {
			if network != "udp" || address != "127.0.0.1:39539" {
				t.Errorf("%s %s", network, address)
			}
			return x, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- x.local.Run(ctx, abi.Running{Companions: []string{"aya"}, Settings: x.settings})
		}()
		synctest.Wait()
		do(t, x)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !x.closed {
			t.Error("the socket is open")
		}
		all = x.frames
	})
	return all
}

func (x *bubble) show(all ...abi.Shown) {
	x.t.Helper()
	if err := x.local.Show(abi.Showing{Companion: "aya", Shown: all, Settings: x.settings}); err != nil {
		x.t.Fatal(err)
	}
	synctest.Wait()
}

// now gives what was sent last.
func (x *bubble) now() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.frames[len(x.frames)-1].String()
}

// says has a line said whose mouth is this.
func (x *bubble) says(line string, mouth ...abi.Viseme) {
	x.t.Helper()
	b, err := json.Marshal(mouth)
	if err != nil {
		x.t.Fatal(err)
	}
	x.local.Look(func() { x.local.Handled.Blobs = map[string]abi.Blob{line: {Bytes: b}} })
	x.show(abi.Shown{Kind: abi.ShowSound, Line: line, Part: 1, Sound: &abi.Sound{Mouth: abi.BlobRef{Hash: line}}},
		abi.Shown{Kind: abi.ShowStarts, Line: line, Part: 1})
}

func piece(line, emotion, text string) abi.Shown {
	return abi.Shown{Kind: abi.ShowPiece, Line: line, Part: 1, Emotion: emotion, Text: text, Seconds: 1}
}

func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestNames(t *testing.T) {
	for settings, want := range map[string]string{
		`{}`:               "Neutral Joy Angry Sorrow Fun Surprised A I U E O",
		`{"vrm":"1"}`:      "neutral happy angry sad relaxed surprised aa ih ou ee oh",
		`{"mouth":"open"}`: "Neutral Joy Angry Sorrow Fun Surprised A",
		`{"vrm":"1","mouth":"open","emotions":{"relaxed":"happy","surprised":"","sad":"Cry"}}`: "neutral happy angry Cry aa",
	} {
		all := within(t, settings, func(*testing.T, *bubble) {})
		if got := strings.Join(all[0].names, " "); got != want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	visemes := []abi.Viseme{{MS: 100, Open: 0.9, Shape: "a"}, {MS: 100, Open: 0.4, Shape: "i"}, {MS: 100, Open: 0.3, Shape: "u"}, {MS: 100, Open: 0.6, Shape: "e"}, {MS: 100, Open: 0.7, Shape: "o"}, {MS: 100, Open: 0.1, Shape: "n"}, {MS: 100, Open: 0.5}}
	for settings, want := range map[string]string{
		`{}`:               "A 0.90; I 0.40; U 0.30; E 0.60; O 0.70; ; A 0.50; ",
		`{"mouth":"open"}`: "A 0.90; A 0.40; A 0.30; A 0.60; A 0.70; ; A 0.50; ",
		`{"vrm":"1"}`:      "aa 0.90; ih 0.40; ou 0.30; ee 0.60; oh 0.70; ; aa 0.50; ",
	} {
		within(t, settings, func(t *testing.T, x *bubble) {
			x.says("l1", visemes...)
			sleep(90 * time.Millisecond)
			var got []string
			for range 8 {
				now := strings.TrimPrefix(strings.TrimPrefix(x.now(), "Neutral 1.00"), "neutral 1.00")
				got = append(got, strings.TrimPrefix(now, ", "))
				sleep(100 * time.Millisecond)
			}
			if s := strings.Join(got, "; "); s != want {
				t.Errorf("%s: %s, want %s", settings, s, want)
			}
		})
	}
}

// Thirty bundles a second while something moves, and one a second else.
func TestHowOften(t *testing.T) {
	all := within(t, `{}`, func(t *testing.T, x *bubble) {
		sleep(5500 * time.Millisecond)
		x.says("l1", abi.Viseme{MS: 2000, Open: 1, Shape: "a"})
		sleep(2 * time.Second)
		sleep(5 * time.Second)
	})
	count := func(from, to time.Duration) (n int) {
		for _, f := range all {
			if f.at >= from && f.at < to {
				n++
			}
		}
		return n
	}
	if n := count(0, 5500*time.Millisecond); n != 6 {
		t.Errorf("%d at first", n)
	}
	if n := count(5500*time.Millisecond, 7500*time.Millisecond); n < 60 || n > 61 {
		t.Errorf("%d in two seconds of speech", n)
	}
	if n := count(7600*time.Millisecond, 12500*time.Millisecond); n != 4 && n != 5 {
		t.Errorf("%d in five seconds behind it", n)
	}
}

// An emotion fades in and the one before out, and comes to rest.
func TestFade(t *testing.T) {
	all := within(t, `{"rest":2}`, func(t *testing.T, x *bubble) {
		sleep(900 * time.Millisecond)
		x.show(piece("l1", "happy", "a"))
		sleep(100 * time.Millisecond)
		x.show(abi.Shown{Kind: abi.ShowEnd, Line: "l1"})
		sleep(time.Second)
		if now := x.now(); now != "Joy 1.00" {
			t.Errorf("it is %s", now)
		}
		sleep(5 * time.Second)
		if now := x.now(); now != "Neutral 1.00" {
			t.Errorf("it is %s", now)
		}
	})
	last, between := 0.0, 0
	for _, f := range all {
		joy := f.weights["Joy"]
		if sum := joy + f.weights["Neutral"]; math.Abs(sum-1) > 1e-6 {
			t.Errorf("at %v they are %v together", f.at, sum)
		}
		if step := math.Abs(joy - last); step > 2.0/30/0.25+1e-6 {
			t.Errorf("at %v it jumps by %v", f.at, step)
		}
		if joy > 0 && joy < 1 {
			between++
		}
		last = joy
	}
	if between < 12 {
		t.Errorf("%d steps in between", between)
	}
}

func TestNoFade(t *testing.T) {
	within(t, `{"fade":0,"emotions":{"sad":"Cry"}}`, func(t *testing.T, x *bubble) {
		sleep(500 * time.Millisecond)
		x.show(piece("l1", "sad", "a"))
		if now := x.now(); now != "Cry 1.00" {
			t.Errorf("it is %s", now)
		}
	})
}

// Two emotions that one expression shows are one.
func TestOneExpressionForTwo(t *testing.T) {
	within(t, `{"fade":0,"emotions":{"relaxed":"Joy"}}`, func(t *testing.T, x *bubble) {
		for _, e := range []string{"happy", "relaxed"} {
			x.show(piece("l"+e, e, "a"))
			if now := x.now(); now != "Joy 1.00" {
				t.Errorf("%s is %s", e, now)
			}
		}
	})
}

func TestStopShutsTheMouth(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		x.says("l1", abi.Viseme{MS: 60_000, Open: 1, Shape: "o"})
		sleep(time.Second)
		if now := x.now(); now != "Neutral 1.00, O 1.00" {
			t.Errorf("it is %s", now)
		}
		x.show(abi.Shown{Kind: abi.ShowStop})
		if now := x.now(); now != "Neutral 1.00" {
			t.Errorf("it is %s", now)
		}
	})
}

// A handler that ends while somebody speaks leaves no mouth open.
func TestTheEndShutsTheMouth(t *testing.T) {
	all := within(t, `{}`, func(t *testing.T, x *bubble) {
		x.says("l1", abi.Viseme{MS: 60_000, Open: 1, Shape: "o"})
		sleep(time.Second)
	})
	if last := all[len(all)-1].String(); last != "Neutral 1.00" {
		t.Errorf("it is %s", last)
	}
}

func TestGuess(t *testing.T) {
	for settings, moves := range map[string]bool{`{}`: false, `{"guess":true}`: true} {
		all := within(t, settings, func(t *testing.T, x *bubble) {
			x.show(piece("l1", "", "あいうえお"), abi.Shown{Kind: abi.ShowStarts, Line: "l1", Part: 1})
			sleep(2 * time.Second)
		})
		moved := slices.ContainsFunc(all, func(f frame) bool { return f.weights["E"] > 0.5 })
		if moved != moves {
			t.Errorf("%s: moved %v", settings, moved)
		}
	}
}

// Nobody needs to listen; what else goes wrong is told once.
func TestItIsNotSent(t *testing.T) {
	within(t, `{}`, func(t *testing.T, x *bubble) {
		fail := func(err error) {
			x.mu.Lock()
			x.fails = err
			x.mu.Unlock()
			sleep(time.Minute)
		}
		fail(&net.OpError{Op: "write", Net: "udp", Err: syscall.ECONNREFUSED})
		x.local.Look(func() {
			if len(x.local.Logs) > 0 {
				t.Errorf("%q", x.local.Logs)
			}
		})
		fail(errors.New("network is unreachable"))
		x.local.Look(func() {
			if len(x.local.Logs) != 1 || !strings.Contains(x.local.Logs[0], "VMC is not sent: network is unreachable") {
				t.Errorf("%q", x.local.Logs)
			}
		})
		fail(nil)
		if now := x.now(); now != "Neutral 1.00" {
			t.Errorf("it is %s", now)
		}
	})
}

// A name that is not known yet is looked up again.
func TestTheAddressComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &bubble{t: t, begun: time.Now()}
		tries := 0
		x.local = companion.NewLocalHandler(marionette.New(func(context.Context, string, string) (net.Conn, error) {
			if tries++; tries < 4 {
				return nil, errors.New("no such host")
			}
			return x, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := x.local.Run(ctx, abi.Running{Companions: []string{"aya"}}); err != nil {
			t.Error(err)
		}
		if tries != 4 || x.frames[0].at != 3500*time.Millisecond || len(x.local.Logs) != 1 || !strings.Contains(x.local.Logs[0], "VMC cannot be sent to 127.0.0.1:39539: no such host") {
			t.Errorf("%d tries, %v, %q", tries, x.frames[0].at, x.local.Logs)
		}
	})
}

func TestSettingsThatAreWrong(t *testing.T) {
	for settings, want := range map[string]string{
		`{"address":"39539"}`: `settings.address: "39539" is no HOST:PORT`,
		`{"vrm":"2"}`:         `settings.vrm: "2" is neither`,
		`{"mouth":"wide"}`:    `settings.mouth: "wide" is neither`,
		`{"guess":1}`:         "settings: ",
	} {
		x := companion.NewLocalHandler(marionette.New(nil))
		err := x.Run(t.Context(), abi.Running{Settings: json.RawMessage(settings)})
		if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	d, err := companion.NewLocalHandler(marionette.New(nil)).Describe()
	if err != nil || d.Kind != abi.Handler || strings.Join(d.Ops, " ") != "describe run show" || !json.Valid(d.Settings) {
		t.Errorf("%+v, %v", d, err)
	}
}

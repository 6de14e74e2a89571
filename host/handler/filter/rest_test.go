package filter_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/handler/filter"
	"github.com/companiond/companiond/host/module"
)

const alone = "it is left alone for a while: it was too slow 2 times in a row"

// TestOneThatIsLateIsLeftAlone: a line of many pieces loses the patience twice, and goes on.
func TestOneThatIsLateIsLeftAlone(t *testing.T) {
	for fail, refuses := range map[string]bool{"": false, "stop": true} {
		synctest.Test(t, func(t *testing.T) {
			slow := hangs()
			f, log := house{"slow": slow}.filter(t, filter.Handler{Name: "slow", Fail: fail})
			piece := func() (took time.Duration, did_ string, refused bool) {
				begun := time.Now()
				_, steps, why := f.Line(t.Context(), "aya", "main", "x")
				return time.Since(begun), did(steps)[0], why != ""
			}
			begun := time.Now()
			for i := range 8 {
				took, step, refused := piece()
				want := "slow failed: " + alone
				if i < 2 {
					want = "slow failed: it did not answer within 2s"
				}
				if step != want || refused != refuses || took != map[bool]time.Duration{true: filter.Patience}[i < 2] {
					t.Errorf("piece %d: %v, %s, refused %v", i, took, step, refused)
				}
			}
			if took := time.Since(begun); took != 2*filter.Patience {
				t.Errorf("eight pieces took %v", took)
			}
			if n := strings.Count(log.String(), "left alone"); n != 1 {
				t.Errorf("the log has it %d times: %s", n, log)
			}
			for _, rest := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
				time.Sleep(rest - time.Millisecond)
				if took, step, _ := piece(); took != 0 || step != "slow failed: "+alone {
					t.Errorf("before %v: %v, %s", rest, took, step)
				}
				time.Sleep(time.Millisecond)
				if took, _, _ := piece(); took != filter.Patience {
					t.Errorf("after %v it is asked once: %v", rest, took)
				}
			}
			slow.answers = func(context.Context, abi.Request) (string, error) { return "{}", nil }
			time.Sleep(5 * time.Minute)
			for range 3 {
				if _, step, refused := piece(); step != "slow passed" || refused {
					t.Error(step)
				}
			}
		})
	}
}

// TestWhoIsNotLeftAlone: one that answers between, one that breaks down at once, one whose asker gives up, one that was late
// in calls that ran at once, and the next generation of one that was late.
func TestWhoIsNotLeftAlone(t *testing.T) {
	late := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", &module.Fault{Kind: module.FaultTimeout, Cause: ctx.Err()}
	}
	for name, answers := range map[string]func(n int, ctx context.Context) (string, error){
		"answers between": func(n int, ctx context.Context) (string, error) {
			if n%2 == 0 {
				return late(ctx)
			}
			return "{}", nil
		},
		"breaks down": func(int, context.Context) (string, error) {
			return "", &module.Fault{Kind: module.FaultTrap, Cause: errors.New("unreachable")}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, n := says(""), -1
			m.answers = func(ctx context.Context, _ abi.Request) (string, error) { n++; return answers(n, ctx) }
			f, _ := house{"m": m}.filter(t, filter.Handler{Name: "m"})
			for range 8 {
				f.Line(t.Context(), "aya", "main", "x")
			}
			if len(m.asked) != 8 {
				t.Errorf("%s: asked %d times", name, len(m.asked))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m := hangs()
		h := house{"m": m}
		f, _ := h.filter(t, filter.Handler{Name: "m"})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			f.Line(ctx, "aya", "main", "x")
			cancel()
		}
		if len(m.asked) != 3 {
			t.Errorf("whoever asks gives up: asked %d times", len(m.asked))
		}
		for range 2 {
			go f.Line(t.Context(), "aya", "main", "x")
			time.Sleep(time.Second)
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f.Line(t.Context(), "aya", "main", "x"); len(m.asked) != 6 {
			t.Errorf("two at once: asked %d times", len(m.asked))
		}
		if f.Line(t.Context(), "aya", "main", "x"); len(m.asked) != 6 {
			t.Errorf("then: asked %d times", len(m.asked))
		}
		next := says("{}")
		next.generation = 2
		h["m"] = next
		if _, steps, _ := f.Line(t.Context(), "aya", "main", "x"); !reflect.DeepEqual(did(steps), []string{"m passed"}) {
			t.Errorf("its next generation: %q", did(steps))
		}
	})
}

// TestOneThatComputesTooLong is late, too, and says so.
func TestOneThatComputesTooLong(t *testing.T) {
	m := says("")
	m.answers = func(context.Context, abi.Request) (string, error) {
		time.Sleep(time.Second)
		return "", &module.Fault{Kind: module.FaultFuel, Cause: errors.New("used more than 3 units")}
	}
	synctest.Test(t, func(t *testing.T) {
		f, _ := house{"m": m}.filter(t, filter.Handler{Name: "m"})
		for i, want := range []string{"it computed for longer than a filter may", "it computed for longer than a filter may", alone} {
			if _, steps, _ := f.Line(t.Context(), "aya", "main", "x"); !reflect.DeepEqual(did(steps), []string{"m failed: " + want}) {
				t.Errorf("%d: %q", i, did(steps))
			}
		}
	})
}

// TestAFilterThatFailsIsLoggedOnce: not for each piece of a line, but again once it has answered, and when it fails otherwise.
func TestAFilterThatFailsIsLoggedOnce(t *testing.T) {
	m := says(`[]`)
	f, log := house{"m": m}.filter(t, filter.Handler{Name: "m"})
	logged := func() int {
		f.Line(t.Context(), "aya", "main", "x")
		return strings.Count(log.String(), "a handler failed as a filter")
	}
	for range 5 {
		if n := logged(); n != 1 {
			t.Errorf("logged %d times", n)
		}
	}
	nonsense := m.answers
	m.answers = func(context.Context, abi.Request) (string, error) { return "", abi.Errorf(abi.CodeUnavailable, "no") }
	if n := logged(); n != 2 {
		t.Errorf("for another reason: logged %d times", n)
	}
	m.answers = func(context.Context, abi.Request) (string, error) { return "{}", nil }
	if n := logged(); n != 2 {
		t.Errorf("after an answer: logged %d times", n)
	}
	m.answers = nonsense
	if n := logged(); n != 3 {
		t.Errorf("again after an answer: logged %d times", n)
	}
}

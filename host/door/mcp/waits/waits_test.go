package waits_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/door/mcp/waits"
)

// TestWaits: an agent waits with so many calls, a caller with so many, and a place that was
// left is another's. Who is refused is told when the first of those calls is over.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := waits.New[int]()
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		refused := func(agent int, sharer string, code abi.Code, after string) {
			t.Helper()
			if _, err := w.Enter(agent, sharer, in(time.Minute)); abi.CodeOf(err) != code || guard.RetryAfter(err) != after {
				t.Errorf("agent %d of %s: %v, again after %q s", agent, sharer, err, guard.RetryAfter(err))
			}
		}
		enter := func(agent int, sharer string, d time.Duration) (leave func()) {
			t.Helper()
			leave, err := w.Enter(agent, sharer, in(d))
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		for range waits.Each - 1 {
			enter(-1, "a", 40*time.Second)
		}
		leave := enter(-1, "a", 30*time.Second)
		refused(-1, "b", abi.CodeExhausted, "")
		for i := range waits.Share - waits.Each {
			enter(i, "a", 20*time.Second)
		}
		refused(-2, "a", abi.CodeExhausted, "20")
		time.Sleep(5 * time.Second)
		for i := range waits.Most - waits.Share {
			enter(1000+i, "b", 50*time.Second)
		}
		refused(-2, "c", abi.CodeUnavailable, "15")
		leave()
		leave()
		if n := w.Waiting(); n != waits.Most-1 {
			t.Errorf("%d wait", n)
		}
		enter(-1, "c", time.Second)
		refused(-1, "c", abi.CodeExhausted, "")
	})
}

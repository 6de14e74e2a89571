package lane_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/module/folder/lane"
)

// Whatever comes and goes: small files enter whatever large ones have taken, a lane that is empty takes any file, and what has left
// counts no more.
func TestAnyComeAndGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := lane.New()
		type load struct {
			in   *lane.Lane
			cost int64
		}
		var inside []load
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(inside) > 0 && rapid.Bool().Draw(t, "one leaves") {
				i := rapid.IntRange(0, len(inside)-1).Draw(t, "which")
				inside[i].in.Leave(inside[i].cost)
				inside = append(inside[:i], inside[i+1:]...)
				continue
			}
			size := rapid.SampledFrom([]int64{0, 1, 64 << 10, 1 << 20, 1<<20 + 1, 8 << 20, 8<<20 + 1, 500 << 20}).Draw(t, "size")
			in, cost := lanes.Of(size)
			var taken int64
			for _, l := range inside {
				if l.in == in {
					taken += l.cost
				}
			}
			entered := in.Enter(cost)
			if most := map[*lane.Lane]int64{&lanes[0]: 16 << 20, &lanes[1]: 48 << 20, &lanes[2]: 32 << 20}[in]; entered != (taken == 0 || taken+cost <= most) {
				t.Fatalf("%d bytes beside %d of %d: %v", cost, taken, most, entered)
			}
			if entered {
				inside = append(inside, load{in, cost})
			}
		}
	})
}

package folder_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/moduletest"
)

// Large files that wait in their engine take all the place there is for them; the next in
// turn is the one that was saved first, whatever it is called. Small ones pass them.
func TestLanes(t *testing.T) {
	var let chan struct{}
	large := saying("large") + strings.Repeat(" ", 4<<20)
	bubble(t, func(r *rig, _ *folder.Config) {
		let = make(chan struct{})
		r.engine.OnLoad = func(ctx context.Context, f module.Source) (module.Module, error) {
			if len(f.Data) > 1<<20 {
				f.Progress("waiting for others")
				<-let
			}
			return moduletest.LoadScript(ctx, f)
		}
	}, func(t *testing.T, r *rig) {
		r.begin()
		const place = 11 // for 48 MiB of files that are a little larger than 4
		for n := range place + 1 {
			r.save(fmt.Sprintf("z%02d.fake", n), large)
			r.settle()
		}
		r.save("a.fake", large)
		r.save("small.fake", saying("small"))
		r.settle()
		mustVote(t, r.companion("small"), "small")
		waits := func(want map[string]string) {
			t.Helper()
			for _, s := range r.folder.Status() {
				if w, ok := want[s.ID]; ok && s.Progress != w {
					t.Errorf("%s waits %q, want %q", s.ID, s.Progress, w)
				}
			}
		}
		const queued = "waiting for other files to be loaded"
		waits(map[string]string{"z10": "waiting for others", "z11": queued, "a": queued, "small": ""})
		let <- struct{}{}
		r.settle()
		waits(map[string]string{"z11": "waiting for others", "a": queued})
		close(let)
		r.settle()
		waits(map[string]string{"a": "", "z11": ""})
		if got := len(r.folder.Companions()); got != place+3 {
			t.Errorf("%d companions", got)
		}
	})
}

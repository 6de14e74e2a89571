package folder_test

import (
	"testing"
	"time"
)

// TestRenew loads the same bytes anew, once for each time that it is asked for, and then
// goes on as before.
func TestRenew(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		write(t, r.path("aya.fake"), saying("one"))
		r.begin()
		r.pass(time.Second)
		c := r.companion("aya")
		before := c.Generation()
		r.folder.Renew()
		r.settle()
		if got := c.Generation(); got != before+1 || len(r.engine.Loads()) != 2 {
			t.Errorf("generation %d after %d, loaded %d times", got, before, len(r.engine.Loads()))
		}
		r.event("aya.fake") // no byte changed
		r.pass(time.Minute)
		if got := c.Generation(); got != before+1 || len(r.engine.Loads()) != 2 {
			t.Errorf("generation %d, loaded %d times", got, len(r.engine.Loads()))
		}
		r.save("aya.fake", saying("two"))
		r.settle()
		if got := c.Generation(); got != before+2 {
			t.Errorf("a save afterwards: generation %d", got)
		}
	})
}

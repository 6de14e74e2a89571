package companion_test

import (
	"slices"
	"testing"

	companion "github.com/companiond/companiond/sdk/go"
)

// TestForget: a character hears what was erased, says that it does, and takes it out of its keys.
func TestForget(t *testing.T) {
	l := companion.NewLocal(companion.Character{
		Name: "Aya",
		Forget: func(h *companion.Host, f companion.Forget) {
			if _, err := h.Del("cat of " + f.Who); err != nil {
				t.Error(err)
			}
		},
	})
	l.KV["cat of taro"], l.KV["weather"] = "ミケ", "fine"
	if err := l.Forget(companion.Forget{Who: "taro", Words: []string{"ミケ"}}); err != nil || len(l.KV) != 1 || l.KV["weather"] != "fine" {
		t.Errorf("%v, %v", l.KV, err)
	}
	d, err := l.Describe()
	if err != nil || !slices.Contains(d.Ops, "event") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := companion.NewLocal(companion.Character{Name: "Bob"}).Describe(); err != nil || slices.Contains(d.Ops, "event") {
		t.Errorf("%+v, %v", d, err)
	}
}

package identity_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

// A secret may stand in any column of a line that somebody got wrong; it is not
// printed back from there.
func TestMistakesShowNoSecretInAnyColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9+/=_-]{20,43}Q9`).Draw(t, "secret")
		hash := "sha256:" + identity.Hash("x")
		words := []string{"mika", "human", "talk", hash}
		words = words[:rapid.IntRange(1, 4).Draw(t, "words")]
		column := rapid.IntRange(0, len(words)-1).Draw(t, "column")
		if column == 0 && len(words) == 4 {
			secret += "/" // else it is a name, and names are no secret
		}
		words[column] = secret
		bad := strings.Join(words, " ")
		// Behind a good line, so that names and hashes are compared as well.
		src := line("taro", abi.KindHuman, "t", identity.Talk) + bad + "\n" + bad
		_, err := identity.Parse("tokens", []byte(src))
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("%q is shown: %v", secret, err)
		}
	})
}

// An unset variable in somebody's script hashes to this; it is nobody's token.
func TestNothingIsNoToken(t *testing.T) {
	_, err := identity.Parse("tokens", []byte(line("mika", abi.KindHuman, "", identity.Admin)))
	if err == nil || err.Error() != "tokens:1: hash: is that of an empty token" {
		t.Errorf("the hash of nothing: %v", err)
	}
	r := parse(t, line("mika", abi.KindHuman, "t", identity.Talk))
	if c, ok := r.Find(""); ok {
		t.Errorf("nothing is the token of %s", c.Name)
	}
}

// A holder whose line would mean something else cannot be written down.
func TestHolderThatIsNoLine(t *testing.T) {
	good := identity.Holder{Name: "mika", Kind: abi.KindHuman, Scopes: []identity.Scope{identity.Talk}, Hash: identity.Hash("t")}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*identity.Holder){
		"a comment":    func(h *identity.Holder) { h.Name = "#mika" },
		"two words":    func(h *identity.Holder) { h.Name = "mika human" },
		"two lines":    func(h *identity.Holder) { h.Name = "mika\ntaro" },
		"no name":      func(h *identity.Holder) { h.Name = "" },
		"two kinds":    func(h *identity.Holder) { h.Kind = "human agent" },
		"no kind":      func(h *identity.Holder) { h.Kind = "" },
		"a companion":  func(h *identity.Holder) { h.Kind = abi.KindCompanion },
		"no scope":     func(h *identity.Holder) { h.Scopes = nil },
		"a wide scope": func(h *identity.Holder) { h.Scopes = []identity.Scope{"talk,admin"} },
		"no hash":      func(h *identity.Holder) { h.Hash = "" },
		"a short hash": func(h *identity.Holder) { h.Hash = "abcd" },
	} {
		h := good
		change(&h)
		if err := h.Check(); err == nil {
			t.Errorf("%s: %q passes for a line", name, h.Line())
		}
	}
}

// A name may begin as tokens do; only what looks like a whole token is one.
func TestNameThatBeginsLikeAToken(t *testing.T) {
	if r := parse(t, line("cmp_bot", abi.KindAgent, "t", identity.Talk)); r.Len() != 1 {
		t.Error("cmp_bot has no token")
	}
}

// A claimed name is as long as a client likes; the words of its refusal are not.
func TestRefusalsAreShort(t *testing.T) {
	r := parse(t, line("mika", abi.KindHuman, "t", identity.Talk))
	mika, _ := r.Find("t")
	_, _, err := mika.From(strings.Repeat("x", 1<<20), abi.KindHuman)
	if err == nil || len(err.Error()) > 200 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

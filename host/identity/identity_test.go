package identity_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/identity"
)

// count fills bytes with a sequence, another one at each call.
func counter() func([]byte) {
	n := byte(0)
	return func(b []byte) {
		for i := range b {
			n++
			b[i] = n * 7
		}
	}
}

func line(name string, kind abi.ParticipantKind, token string, scopes ...identity.Scope) string {
	return identity.Holder{Name: name, Kind: kind, Scopes: scopes, Hash: identity.Hash(token)}.Line() + "\n"
}

func parse(t *testing.T, src string) *identity.Register {
	t.Helper()
	r, err := identity.Parse("tokens", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRegister(t *testing.T) {
	random := counter()
	bot, mika := identity.New(random), identity.New(random)
	if bot == mika || !strings.HasPrefix(bot, "cmp_") || len(bot) != len("cmp_")+43 {
		t.Fatalf("tokens: %q %q", bot, mika)
	}
	src := "\ufeff# who is who\n\n" + line("kyoko-bot", abi.KindAgent, bot, identity.Read, identity.Talk) + "  " + line("mika", abi.KindHuman, mika, identity.Admin)
	if strings.Contains(src, bot) || strings.Contains(src, mika) {
		t.Error("the file has a token in it")
	}
	r := parse(t, src)
	if got := r.Names(); !slices.Equal(got, []string{"kyoko-bot", "mika"}) || r.Len() != 2 {
		t.Errorf("names: %v", got)
	}
	c, ok := r.Find(bot)
	if !ok || c.Guest || c.Name != "kyoko-bot" || c.Kind != abi.KindAgent || c.May(identity.Talk) != nil || c.May(identity.Admin) == nil {
		t.Errorf("%+v %v", c, ok)
	}
	if err := c.May(identity.Admin); abi.CodeOf(err) != abi.CodeDenied || !strings.Contains(err.Error(), `the token of kyoko-bot has not the scope "admin"`) {
		t.Error(err)
	}
	for _, wrong := range []string{"", "cmp_", bot + "x", bot[:len(bot)-1], strings.ToUpper(bot), identity.Hash(bot)} {
		if c, ok := r.Find(wrong); ok || c.May(identity.Read) == nil {
			t.Errorf("%q is a token", wrong)
		}
	}
	var none *identity.Register
	if _, ok := none.Find(bot); ok || none.Len() != 0 || none.Names() != nil {
		t.Error("a register that is not there has a token")
	}
}

// The name is the token's; the caller's claim is checked, not believed.
func TestFromIsDerived(t *testing.T) {
	r := parse(t, line("mika", abi.KindHuman, "t", identity.Talk)+line("あやボット", abi.KindAgent, "u", identity.Talk))
	mika, _ := r.Find("t")
	for _, c := range []struct {
		caller  identity.Caller
		claimed string
		door    abi.ParticipantKind
		name    string
		kind    abi.ParticipantKind
		why     string
	}{
		{mika, "mika", abi.KindAgent, "mika", abi.KindHuman, ""},
		{mika, "", abi.KindAgent, "mika", abi.KindHuman, ""},
		{mika, "taro", abi.KindHuman, "", "", `from: this token is mika's, not "taro"'s`},
		{mika, "MIKA", abi.KindHuman, "", "", `from: this token is mika's, not "MIKA"'s`},
		{identity.Guest(r), "taro", abi.KindHuman, "taro", abi.KindHuman, ""},
		{identity.Guest(r), "taro", abi.KindAgent, "taro", abi.KindAgent, ""},
		{identity.Guest(r), "Ｍika", abi.KindHuman, "", "", "from: mika has a token; connect with it, or take another name"},
		{identity.Guest(r), "アヤボット", abi.KindAgent, "", "", "from: あやボット has a token; connect with it, or take another name"},
		{identity.Guest(nil), "mika", abi.KindHuman, "mika", abi.KindHuman, ""},
	} {
		name, kind, err := c.caller.From(c.claimed, c.door)
		why := ""
		if err != nil {
			why = abi.AsError(err).Message
		}
		if name != c.name || kind != c.kind || why != c.why || (err != nil && abi.CodeOf(err) != abi.CodeDenied) {
			t.Errorf("%q as %s: %q %s %v", c.claimed, c.caller.Name, name, kind, err)
		}
	}
}

func TestGuests(t *testing.T) {
	g := identity.Of(context.Background())
	if !g.Guest || g.May(identity.Read) != nil || g.May(identity.Talk) != nil || g.May(identity.Act) != nil {
		t.Errorf("%+v", g)
	}
	if err := g.May(identity.Admin); err == nil || !strings.Contains(err.Error(), `"admin"`) {
		t.Error(err)
	}
	if err := (identity.Caller{}).May(identity.Read); err == nil {
		t.Error("the zero caller may read")
	}
	ctx := identity.With(context.Background(), identity.Caller{Name: "x"})
	if identity.Of(ctx).Name != "x" {
		t.Error("the caller is lost")
	}
}

// Every mistake is told with its line, and no word of what may be a secret.
func TestMistakesInTheFile(t *testing.T) {
	good := strings.TrimSpace(line("mika", abi.KindHuman, "t", identity.Talk))
	secret := identity.New(counter())
	for src, want := range map[string]string{
		"mika human talk":                                                                "tokens:1: 3 words, want 4: NAME KIND SCOPES sha256:HEX",
		"mika human talk " + secret:                                                      "tokens:1: a token itself stands here: replace it by what companiond token prints into the file, and make a new one",
		"mika human talk sha256:" + secret:                                               "tokens:1: a token itself stands here: replace it by what companiond token prints into the file, and make a new one",
		"mika human talk hunter2hunter2":                                                 "tokens:1: hash: the fourth word is not sha256: and 64 hexadecimal digits",
		"mika human talk sha256:abcd":                                                    "tokens:1: hash: the fourth word is not sha256: and 64 hexadecimal digits",
		"mika robot talk sha256:" + identity.Hash("x"):                                   `tokens:1: kind: the second word is neither "human" nor "agent"`,
		"mika companion talk sha256:" + identity.Hash("x"):                               `tokens:1: kind: the second word is neither "human" nor "agent"`,
		"mi/ka human talk sha256:" + identity.Hash("x"):                                  `tokens:1: name: the first word is no name: letters, digits and _ - . only, at most 64 bytes`,
		"mika human talk,sing sha256:" + identity.Hash("x"):                              `tokens:1: scopes: a word is none of read, talk, act, admin`,
		"mika human talk,talk sha256:" + identity.Hash("x"):                              `tokens:1: scopes: "talk" is there twice`,
		good + "\n" + strings.TrimSpace(line("ＭＩＫＡ", abi.KindAgent, "u", identity.Talk)): "tokens:2: name: ＭＩＫＡ reads like mika, who has a token already",
		good + "\n" + strings.TrimSpace(line("taro", abi.KindAgent, "t", identity.Talk)): "tokens:2: hash: another holder has this token already",
		"a\nb":                     "tokens:1: 1 words, want 4: NAME KIND SCOPES sha256:HEX\ntokens:2: 1 words, want 4: NAME KIND SCOPES sha256:HEX",
		strings.Repeat("x", 1<<17): "tokens: a line is too long",
	} {
		_, err := identity.Parse("tokens", []byte(src))
		if err == nil || err.Error() != want {
			t.Errorf("%.60q:\n got %v\nwant %s", src, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "hunter2")) {
			t.Error("the error shows a secret")
		}
	}
}

// A file that is written is read again, and each token finds its holder and no other.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := func(b []byte) { copy(b, rapid.SliceOfN(rapid.Byte(), len(b), len(b)).Draw(t, "random")) }
		tokens, made := map[string]string{}, map[string]bool{}
		src := ""
		for i := range rapid.IntRange(0, 6).Draw(t, "holders") {
			h := identity.Holder{
				Name: fmt.Sprintf("p%d", i), Kind: rapid.SampledFrom([]abi.ParticipantKind{abi.KindHuman, abi.KindAgent}).Draw(t, "kind"),
				Scopes: rapid.SliceOfNDistinct(rapid.SampledFrom(identity.Scopes()), 1, 4, rapid.ID).Draw(t, "scopes"),
			}
			token := identity.New(random)
			if made[token] {
				continue
			}
			made[token] = true
			h.Hash, tokens[h.Name] = identity.Hash(token), token
			src += h.Line() + "\n"
		}
		r, err := identity.Parse("f", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for name, token := range tokens {
			if c, ok := r.Find(token); !ok || c.Name != name {
				t.Fatalf("the token of %s finds %+v", name, c)
			}
		}
		if r.Len() != len(tokens) {
			t.Fatalf("%d holders of %d", r.Len(), len(tokens))
		}
	})
}

// TestMaker: whoever has the scope admin, and, where nobody has a token, a guest on the same machine.
func TestMaker(t *testing.T) {
	some, err := identity.Parse("f", []byte(line("mika", abi.KindHuman, "t", identity.Admin)+"\n"+line("bot", abi.KindAgent, "u", identity.Read, identity.Talk, identity.Act)))
	if err != nil {
		t.Fatal(err)
	}
	at := func(c identity.Caller, address string) identity.Caller {
		c.Address = address
		return c
	}
	mika, _ := some.Find("t")
	bot, _ := some.Find("u")
	for what, c := range map[string]struct {
		caller identity.Caller
		may    bool
	}{
		"mika": {at(mika, "198.51.100.7"), true}, "bot": {at(bot, identity.Local), false}, "nobody": {identity.Caller{}, false},
		"a guest here": {at(identity.Guest(nil), identity.Local), true}, "a guest here, of a house whose tokens went": {at(identity.Guest(&identity.Register{}), identity.Local), true},
		"a guest on another site": {identity.Caller{Guest: true, Address: identity.Local, Foreign: true}, false},
		"a guest of no guard":     {identity.Guest(nil), false}, "a guest elsewhere": {at(identity.Guest(nil), "198.51.100.7"), false}, "a guest among tokens": {at(identity.Guest(some), identity.Local), false},
	} {
		if err := c.caller.Maker(); (err == nil) != c.may || err != nil && abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(line("mika", abi.KindHuman, "t", identity.Talk)))
	f.Add([]byte("# x\n\na b c d\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := identity.Parse("f", src)
		if (r == nil) == (err == nil) {
			t.Fatalf("%v %v", r, err)
		}
		if err != nil {
			return
		}
		for _, name := range r.Names() {
			if abi.CheckName("name", name) != nil {
				t.Fatalf("%q is a name", name)
			}
		}
	})
}

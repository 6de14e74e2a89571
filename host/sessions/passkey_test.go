package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/identity"
)

// register is a register with tokens of some, each with the scopes behind its name.
func register(t *testing.T, who ...string) (r *identity.Register, tokens map[string]string) {
	t.Helper()
	tokens = map[string]string{}
	var file strings.Builder
	for i, line := range who {
		name, scopes, _ := strings.Cut(line, " ")
		tokens[name] = identity.New(func(b []byte) { b[0] = byte(i + 1) })
		fmt.Fprintf(&file, "%s agent %s sha256:%s\n", name, scopes, identity.Hash(tokens[name]))
	}
	r, err := identity.Parse("tokens", []byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return r, tokens
}

func caller(r *identity.Register, token, address string) identity.Caller {
	c, found := r.Find(token)
	if !found {
		c = identity.Guest(r)
	}
	c.Address, c.Sharer = address, address
	return c
}

func TestPasskeys(t *testing.T) {
	r, tokens := register(t, "aya read,talk", "Ben read,talk", "deaf read")
	for name, c := range map[string]struct {
		agent, passkey, token, address, refused string
	}{
		"its passkey":                    {"aya", "aya", "", "far", ""},
		"its passkey, from here":         {"aya", "aya", "", identity.Local, ""},
		"its passkey, by another":        {"aya", "aya", "Ben", "far", ""},
		"its own token":                  {"aya", "", "aya", "far", ""},
		"its own token, a wrong one too": {"aya", "x", "aya", "far", ""},
		"none, from here":                {"new", "", "", identity.Local, ""},
		"any, from here":                 {"new", "x", "", identity.Local, ""},

		"none, by a holder from here":   {"new", "", "aya", identity.Local, conversation.BadPasskey},
		"a wrong one":                   {"aya", "x", "", "far", conversation.BadPasskey},
		"a wrong one, from here":        {"aya", "x", "", identity.Local, conversation.BadPasskey},
		"nothing":                       {"aya", "", "", identity.Local, conversation.BadPasskey},
		"another's":                     {"aya", "Ben", "", "far", conversation.BadPasskey},
		"another's token":               {"aya", "", "Ben", "far", conversation.BadPasskey},
		"one that has none, from afar":  {"new", "", "", "far", conversation.BadPasskey},
		"one that has none, another's":  {"new", "aya", "", "far", conversation.BadPasskey},
		"one that looks like a holder":  {"ben", "", "", identity.Local, conversation.BadPasskey},
		"whoever may not talk":          {"deaf", "deaf", "", "far", conversation.BadPasskey},
		"whoever may not talk, by that": {"deaf", "", "deaf", "far", conversation.BadPasskey},
		"nobody":                        {"", "", "", identity.Local, conversation.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, r, func(s *stage) {
				passkey := c.passkey
				if tokens[passkey] != "" {
					passkey = tokens[passkey]
				}
				x, err := s.Open(Login{Project: "p", Agent: c.agent, Passkey: passkey, Caller: caller(r, tokens[c.token], c.address)})
				if c.refused == "" {
					if err != nil || x.Agent != c.agent {
						t.Errorf("%+v %v", x, err)
					}
					return
				}
				fault(t, err, c.refused)
				for _, token := range tokens {
					if strings.Contains(err.Error(), token) {
						t.Errorf("a token is told: %v", err)
					}
				}
				s.is(c.agent, false)
			})
		})
	}
	// Whoever is nobody at all may do nothing.
	play(t, r, func(s *stage) {
		_, err := s.Open(Login{Project: "p", Agent: "new", Caller: identity.Caller{Address: identity.Local}})
		fault(t, err, conversation.BadPasskey)
	})
}

// TestSameWords: an agent that has no passkey is refused in the words of one that has another.
func TestSameWords(t *testing.T) {
	r, _ := register(t, "aya read,talk")
	play(t, r, func(s *stage) {
		for _, passkey := range []string{"", "x"} {
			_, has := s.Open(Login{Project: "p", Agent: "aya", Passkey: passkey, Caller: caller(r, "", "far")})
			_, hasNot := s.Open(Login{Project: "p", Agent: "new", Passkey: passkey, Caller: caller(r, "", "far")})
			if has == nil || hasNot == nil || has.Error() != hasNot.Error() {
				t.Errorf("%v, and %v", has, hasNot)
			}
		}
	})
}

// TestTries: nobody tries many passkeys, and by that nobody keeps others out.
func TestTries(t *testing.T) {
	r, tokens := register(t, "aya read,talk", "ben read,talk")
	play(t, r, func(s *stage) {
		try := func(agent, passkey, from string) error {
			_, err := s.Open(Login{Project: "p", Agent: agent, Passkey: passkey, Caller: caller(r, "", from)})
			return err
		}
		for range maxTries {
			fault(t, try("aya", "x", "far"), conversation.BadPasskey)
		}
		for _, passkey := range []string{"x", tokens["aya"]} {
			if err := try("aya", passkey, "far"); abi.CodeOf(err) != abi.CodeExhausted || !strings.Contains(err.Error(), "10 s") {
				t.Errorf("got %v", err)
			}
		}
		for _, err := range []error{try("aya", tokens["aya"], "near"), try("ben", tokens["ben"], "far")} {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Open(Login{Project: "p", Agent: "aya", Caller: caller(r, tokens["aya"], "far")}); err != nil {
			t.Errorf("with its own token: %v", err)
		}
		time.Sleep(tryEvery)
		fault(t, try("aya", "x", "far"), conversation.BadPasskey)
		if err := try("aya", "x", "far"); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("got %v", err)
		}
		time.Sleep(tryEvery)
		if err := try("aya", tokens["aya"], "far"); err != nil {
			t.Error(err)
		}
		for n := range 2 * maxTried {
			fault(t, try("aya", "x", fmt.Sprint("from ", n)), conversation.BadPasskey)
		}
		if len(s.tries) > maxTried {
			t.Errorf("%d are remembered", len(s.tries))
		}
	})
}

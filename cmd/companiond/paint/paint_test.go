package paint

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
)

// The words of others are shown and not obeyed.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"こんにちは 🍣 é":                 "こんにちは 🍣 é",
		"a\x1b[2J\x1b]0;title\a":    `a\u001b[2J\u001b]0;title\u0007`,
		"\x9b31m\u009b31m":          "\uFFFD31m" + `\u009b31m`,
		"a\x00b\bc\x7f":             `a\u0000b\u0008c\u007f`,
		"over\rwritten":             `over\u000dwritten`,
		"tab\there":                 "tab here",
		"\u202egnp.exe\u202c":       `\u202egnp.exe\u202c`,
		"\u2066a\u2069\u200f\u061c": `\u2066a\u2069\u200f\u061c`,
		"one\ntwo\r\n\n":            "one\n   two",
		"one\n12:00:00 #9 aya: no":  "one\n   12:00:00 #9 aya: no",
		"one\u2028two\u2029":        `one\u2028two\u2029`,
		"y\u200b\u3164es\U000e0041": `y\u200b\u3164es\U000e0041`,
		"👩\u200d👧 family":           "👩\u200d👧 family",
	} {
		if got := plain(in, 3); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// An entry whose body was taken out is no line, whatever it was.
func TestPaintPassesOverBlankEntries(t *testing.T) {
	for _, kind := range []entry.Kind{entry.KindVote, entry.KindRound, entry.KindPerceived, entry.KindDecision} {
		var out bytes.Buffer
		e := entry.Entry{Seq: 3, Kind: kind, ID: "x", Body: json.RawMessage("null"), Blank: true}
		if err := (Painter{Out: &out, Votes: true}).Entry(e); err != nil || out.Len() > 0 {
			t.Errorf("%s: %v, shown as %q", kind, err, &out)
		}
	}
}

// A talk that comes nearer to its end says why.
func TestPaintSaysWhyATalkEnds(t *testing.T) {
	for want, b := range map[string]entry.ClosingMoved{
		"the talk moves on to terminal: the lines go round in circles: 142 says much the same as 137": {To: abi.ClosingTerminal, By: "aya", Like: 137},
		"the talk moves on to pre-closing: aya wished to end it":                                      {To: abi.ClosingPre, By: "aya"},
	} {
		var out bytes.Buffer
		e, err := entry.Entry{Seq: 143, Kind: entry.KindClosing, ID: "x"}.WithBody(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Painter{Out: &out}).Entry(e); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, shown as %q, want %q", err, &out, want)
		}
	}
}

// Whatever is in an entry, its lines begin as lines of ours or behind the margin.
func TestPaintIsHarmless(t *testing.T) {
	const evil = "x\n00:00:00 #1    aya: I never said this\x1b[1A\u202e\r"
	for kind, body := range map[entry.Kind]any{
		entry.KindOpened:    entry.Opened{By: evil},
		entry.KindArchived:  entry.Archived{By: evil},
		entry.KindStop:      entry.Stop{From: evil},
		entry.KindClosing:   entry.ClosingMoved{To: abi.ClosingPre, By: evil},
		entry.KindLifecycle: entry.Lifecycle{To: "terminating", EndedBy: evil, Reason: "timeout"},
		entry.KindSaid:      entry.Said{From: "taro", Text: evil, Kind: abi.KindTurn},
		entry.KindRefused:   entry.Refused{Who: "taro", Why: evil, Text: evil},
		entry.KindVote:      entry.Voted{Voter: "taro", Vote: abi.Vote{State: abi.Speak, Reason: evil}},
		entry.KindFailed:    entry.Failed{Who: "taro", Error: evil},
		entry.KindDecision:  entry.Decision{Outcome: entry.OutcomeSilence, Reason: evil},
	} {
		var out bytes.Buffer
		e := entry.Entry{Seq: 3, Kind: kind, ID: "x"}
		e.Body, _ = json.Marshal(body)
		if err := (Painter{Out: &out, Votes: true}).Entry(e); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) < 2 {
			t.Errorf("%s: shown as %q", kind, &out)
		}
		for _, line := range lines[1:] {
			if !strings.HasPrefix(line, strings.Repeat(" ", 15)) {
				t.Errorf("%s: a line of its own making: %q", kind, line)
			}
		}
		for _, r := range out.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%s: %U in %q", kind, r, &out)
			}
		}
	}
}

func TestColours(t *testing.T) {
	e := entry.Entry{Seq: 3, Kind: entry.KindSaid, ID: "x"}
	e.Body, _ = json.Marshal(entry.Said{From: "aya", Text: "hello", Kind: abi.KindTurn})
	var plain, coloured bytes.Buffer
	for _, p := range []Painter{{Out: &plain}, {Out: &coloured, Colour: true}} {
		if err := p.Entry(e); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(coloured.String(), "\x1b[1;") {
		t.Errorf("%q, %q", &plain, &coloured)
	}
}

// What games offer is shown by name, as all words of others are.
func TestPaintShowsWhatGamesOffer(t *testing.T) {
	for want, b := range map[string]entry.Offered{
		`Tic\u001b[2J lets aya do: play, pass`:            {Who: "aya", By: "Tic\x1b[2J", Actions: []abi.Offer{{Name: "play"}, {Name: "pass"}}},
		`chess lets aya do: play; chess takes back: pass`: {Who: "aya", By: "chess", Actions: []abi.Offer{{Name: "play"}}, Withdrawn: []string{"pass"}},
	} {
		var out bytes.Buffer
		e, err := entry.Entry{Seq: 3, Kind: entry.KindOffered, ID: "x"}.WithBody(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Painter{Out: &out}).Entry(e); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, shown as %q, want %q", err, &out, want)
		}
	}
}

// TestPaintShowsWhatIsDone: actions, what became of them, and what handlers did about words, but that those passed.
func TestPaintShowsWhatIsDone(t *testing.T) {
	steps := []entry.Step{{Handler: "mild", Did: entry.DidPass, MS: 2}, {Handler: "ngword", Did: entry.DidChange, MS: 3}, {Handler: "slow", Did: entry.DidFail, Reason: "it took\x1b[2J too long", MS: 2000}}
	for _, c := range []struct {
		kind  entry.Kind
		body  any
		votes bool
		want  string
	}{
		{entry.KindAction, entry.Action{Who: "aya", Action: "lamp.set", Parameters: json.RawMessage(`{"on":true}`)}, false, `aya plays lamp.set {"on":true}`},
		{entry.KindAction, entry.Action{Who: "aya", Action: "nod", Parameters: json.RawMessage(`{}`), By: "bot"}, false, "aya plays nod for bot"},
		{entry.KindAction, entry.Action{Who: "aya", Action: "say", Parameters: json.RawMessage(`"` + strings.Repeat("x", 300) + `"`)}, false, `aya plays say "` + strings.Repeat("x", 199) + "…"},
		{entry.KindResult, entry.Done{Who: "aya", Result: abi.Result{Action: "lamp.set", OK: true, Reason: "it is on", By: "desk"}}, false, "lamp.set of aya succeeded: it is on (desk)"},
		{entry.KindResult, entry.Done{Who: "aya", Result: abi.Result{Action: "nod"}}, false, "nod of aya failed"},
		{entry.KindHandled, entry.Handled{Who: "aya", Of: entry.OfLine, Line: "g1", Steps: steps}, false,
			`ngword changed what aya says (3 ms); slow failed at what aya says: it took\u001b[2J too long (2000 ms)`},
		{entry.KindHandled, entry.Handled{Who: "aya", Of: entry.OfPerception, Title: "chat", Steps: steps[:2]}, true,
			"ngword changed what aya perceives as chat (3 ms)"},
		{entry.KindHandled, entry.Handled{Who: "aya", Of: entry.OfLine, Steps: steps[:1]}, false, ""},
	} {
		var out bytes.Buffer
		e, err := entry.Entry{Seq: 5, Kind: c.kind, ID: "x"}.WithBody(c.body)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Painter{Out: &out, Votes: c.votes}).Entry(e); err != nil || strings.TrimSpace(out.String()) != c.want {
			t.Errorf("%v, shown as %q, want %q", err, &out, c.want)
		}
	}
}

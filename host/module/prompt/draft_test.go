package prompt

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/model"
)

const votes8 = "speak 8 none\n"

const referees8 = `{"state":"speak","importance":8,"closing":"none","reason":"knows it"}`

// asksAround is a turn that nobody is named in, so that a vote needs a model.
func asksAround() abi.Scene {
	s := scene("aya", "誰か星にくわしい?")
	s.Grant, s.Recent = nil, nil
	return s
}

func (r *rig) vote(s abi.Scene) (abi.Vote, error) {
	return call_[abi.Vote](r, r.t.Context(), abi.OpVote, s)
}

// draftRig has a model that answers vote and line in one.
func draftRig(t *testing.T, replies ...reply) *rig {
	r := load(t, nikoni(t), replies...)
	r.models.inOne = 3
	r.host.history = []abi.Message{asksAround().Message}
	return r
}

// The vote is told while the line is still written; the line needs no other answer.
func TestVoteAndLineInOneAnswer(t *testing.T) {
	for name, head := range map[string]string{
		"bare": votes8, "fenced": "```\n" + votes8 + "```\n", "in bold": " **Speak, 8/10, none**\n\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			voted, pieces := make(chan struct{}), 0
			r := draftRig(t, reply{deltas: []string{head[:5], head[5:], "わたし！", "プレアデスが好き。"}, after: func() {
				if pieces++; pieces == 3 {
					<-voted
				}
			}})
			v, err := r.vote(asksAround())
			if err != nil || v.State != abi.Speak || v.Importance != 8 || v.Closing != abi.ClosingNone {
				t.Fatalf("%s: %+v, %v", name, v, err)
			}
			close(voted)
			l, err := r.speak(scene("aya", "誰か星にくわしい?"))
			if err != nil || l.Text != "わたし！プレアデスが好き。" || !slices.Equal(r.host.said, []string{"わたし！", "プレアデスが好き。"}) {
				t.Errorf("%s: %+v, %v; said %q", name, l, err, r.host.said)
			}
			if n := len(r.models.requests()); n != 1 {
				t.Errorf("%s: the model was asked %d times", name, n)
			}
			if sys := r.models.requests()[0].System + asked(r.models.requests()[0]); !strings.Contains(sys, "speak 5 none") || !strings.Contains(sys, "死にたい") {
				t.Errorf("%s: it was told\n%s", name, sys)
			}
		})
	}
}

// Of those who do not get the floor the rest is not written: by a word of the room, by
// the next vote, and at the module's end.
func TestALineThatNobodyWantsEnds(t *testing.T) {
	for name, end := range map[string]func(*rig){
		"withdrawn": func(r *rig) {
			if m := r.m.(*Module); m.Withdraw("elsewhere") || !m.Withdraw("main") || m.Withdraw("main") {
				t.Error("what there was to withdraw is not known")
			}
		},
		"next vote": func(r *rig) {
			if _, err := r.vote(asksAround()); err != nil {
				t.Error(err)
			}
		},
		"closed": func(r *rig) { _ = r.m.Close(r.t.Context()) },
	} {
		synctest.Test(t, func(t *testing.T) {
			ended, hold, pieces := make(chan error, 1), make(chan struct{}), 0
			r := draftRig(t, reply{ended: ended, deltas: []string{votes8, "まだ。", "続く。", "ずっと。"}, after: func() {
				if pieces++; pieces == 3 {
					<-hold
				}
			}}, reply{deltas: []string{"listen"}})
			if _, err := r.vote(asksAround()); err != nil {
				t.Fatal(err)
			}
			go func() { synctest.Wait(); close(hold) }()
			end(r)
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended with %v", name, err)
			}
		})
	}
}

// Behind a vote to listen nothing is written.
func TestAListenerWritesNoLine(t *testing.T) {
	ended := make(chan error, 1)
	r := draftRig(t, reply{ended: ended, deltas: []string{"listen 1 none\n", "\nでも"}})
	if v, err := r.vote(asksAround()); err != nil || v.State != abi.Listen {
		t.Errorf("%+v, %v", v, err)
	}
	if err := <-ended; !errors.Is(err, errUnwanted) {
		t.Errorf("a listener's answer ended with %v", err)
	}
	if r.m.(*Module).Withdraw("main") {
		t.Error("a listener has a line to withdraw")
	}
}

// A vote that is given up ends its answer.
func TestAVoteThatIsGivenUp(t *testing.T) {
	r := draftRig(t)
	r.models.hang = true
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(r.models.requests()) == 0 {
			runtime.Gosched()
		}
		cancel()
	}()
	if v, err := call_[abi.Vote](r, ctx, abi.OpVote, asksAround()); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", v, err)
	}
}

// A line that was begun for something else is not said: the character is asked anew.
func TestALineForSomethingElse(t *testing.T) {
	now := scene("aya", "誰か星にくわしい?")
	for name, change := range map[string]func(*abi.Scene){
		"something newer": func(s *abi.Scene) {
			s.Recent = append(s.Recent, abi.Message{Seq: 9, From: "taro", Text: "月?", Kind: abi.KindTurn})
		},
		"cut off": func(s *abi.Scene) {
			s.Recent = []abi.Message{{Seq: 7, From: "aya", Text: "誰か", Cut: "x", Kind: abi.KindTurn}}
		},
		"it ends":   func(s *abi.Scene) { s.Closing = abi.ClosingPre },
		"once more": func(s *abi.Scene) { s.Retry = true },
		"no money":  func(s *abi.Scene) { s.Budget = &abi.Budget{Chars: 30} },
	} {
		r := draftRig(t, reply{deltas: []string{votes8, "\nふるい。"}}, reply{deltas: []string{"あたらしい。"}})
		if _, err := r.vote(asksAround()); err != nil {
			t.Fatal(err)
		}
		s := now
		s.Recent = slices.Clone(now.Recent)
		change(&s)
		if l, err := r.speak(s); err != nil || l.Text != "あたらしい。" {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if len(r.m.(*Module).drafts) != 0 {
			t.Errorf("%s: a draft is left", name)
		}
	}
	// A backchannel is nothing newer.
	r := draftRig(t, reply{deltas: []string{votes8, "\nそのまま。"}})
	if _, err := r.vote(asksAround()); err != nil {
		t.Fatal(err)
	}
	s := now
	s.Recent = append(slices.Clone(now.Recent), abi.Message{Seq: 8, From: "taro", Text: "うん", Kind: abi.KindBackchannel})
	if l, err := r.speak(s); err != nil || l.Text != "そのまま。" {
		t.Errorf("%+v, %v", l, err)
	}
}

// A draft that breaks before a word of it was heard, or has none, costs a second answer;
// one that breaks later ends the line as any other does.
func TestADraftThatBreaks(t *testing.T) {
	for name, first := range map[string]reply{
		"at once": {deltas: []string{votes8}, err: errBroken}, "empty": {deltas: []string{votes8 + "\n```\n"}},
	} {
		r := draftRig(t, first, reply{deltas: []string{"やあ。"}})
		if _, err := r.vote(asksAround()); err != nil {
			t.Fatal(name, err)
		}
		if l, err := r.speak(scene("aya", "誰か星にくわしい?")); err != nil || l.Text != "やあ。" {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	r := draftRig(t, reply{deltas: []string{votes8, "\nやあ。まだ"}, err: errBroken})
	if _, err := r.vote(asksAround()); err != nil {
		t.Fatal(err)
	}
	if l, err := r.speak(scene("aya", "誰か星にくわしい?")); !errors.Is(err, errBroken) || strings.Join(r.host.said, "|") != "やあ。" || len(r.models.requests()) != 1 {
		t.Errorf("%+v, %v, shown %q", l, err, r.host.said)
	}
}

// Its actions are played when it has the floor, and not for the vote.
func TestADraftWithActions(t *testing.T) {
	ask := scene("taro", "右を見て")
	r := draftRig(t, reply{deltas: []string{votes8, "\nうん！"}, calls: []model.ToolCall{tool("move", `{"x":1,"y":0,"z":2}`)}}, reply{deltas: []string{"見たよ。"}})
	r.host.history = []abi.Message{ask.Message}
	s := ask
	s.Grant, s.Recent = nil, nil
	if _, err := r.vote(s); err != nil || len(r.host.played) != 0 {
		t.Fatalf("%v, played %v", err, r.host.played)
	}
	l, err := r.speak(ask)
	if err != nil || len(r.host.played) != 1 || l.Text != "うん！見たよ。" {
		t.Errorf("%+v, %v, played %v", l, err, r.host.played)
	}
	told := r.models.requests()[1].Messages
	if m := told[len(told)-2]; m.Role != model.RoleAssistant || m.Text != "うん！" || len(m.Calls) != 1 {
		t.Errorf("it is told that it answered %+v", m)
	}
}

// A model that does not begin with its vote is asked for it alone, and after a few times
// for nothing else.
func TestAModelThatDoesNotBeginWithItsVote(t *testing.T) {
	var replies []reply
	for _, head := range []string{"うん、話したいな。", "speak 11 none\nうん", strings.Repeat("a", maxVote+1)} {
		replies = append(replies, reply{deltas: []string{head}}, reply{json: referees8})
	}
	r := draftRig(t, append(replies, reply{json: referees8})...)
	for range 4 {
		if v, err := r.vote(asksAround()); err != nil || v.Importance != 8 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	if n := len(r.models.requests()); n != 7 {
		t.Errorf("it was asked %d times", n)
	}
	if d := r.m.(*Module).drafts; len(d) != 0 {
		t.Errorf("%d drafts wait", len(d))
	}
	// A model that is away is no reason to ask it otherwise.
	r = draftRig(t, reply{err: errBroken}, reply{err: errBroken}, reply{err: errBroken}, reply{deltas: []string{votes8 + "\nあ"}})
	for range 3 {
		if v, err := r.vote(asksAround()); err == nil {
			t.Errorf("%+v", v)
		}
	}
	if v, err := r.vote(asksAround()); err != nil || v.Importance != 8 {
		t.Errorf("%+v, %v", v, err)
	}
}

// However an answer is cut into pieces, vote and line are the same.
func TestDraftPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := rapid.SampledFrom([]string{"speak 3 none\n", "```\nspeak 3 none\n```\n", "SPEAK: 3, pre-closing\n", "speak 3.0/10\n", "\n**speak 3 none**\n", "speak 3 none "}).Draw(t, "head")
		line := rapid.StringOf(rapid.RuneFrom([]rune("あい。{}\"` \na3"))).Draw(t, "line")
		text := head + line
		d := &draft{voted: make(chan struct{}), more: make(chan struct{}), end: func(error) {}}
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if err := d.take(string(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		d.close(model.Answer{}, nil)
		a, _, err := d.follow(context.Background(), func(string) error { return nil })
		if err != nil || d.novote != nil || d.vote.Importance != 3 || a.Text != strings.TrimLeft(line, "` \t\r\n") {
			t.Fatalf("%q, %v, %+v, %v", a.Text, err, d.vote, d.novote)
		}
	})
}

// A vote before a line that was asked for alone is not said, however it is cut into pieces;
// what only looks like one is.
func TestAVoteIsNoLine(t *testing.T) {
	for text, want := range map[string]string{
		"speak 8 none\nやあ。":                 "やあ。",
		"\ufeff```\nspeak 8 none\n```\nやあ。": "やあ。",
		"**Speak, 8/10, none**\r\n\r\nやあ。":  "やあ。",
		"listen\nspeak 8 none\nやあ。":         "やあ。",
		"Speak up, please. やあ。":             "Speak up, please. やあ。",
		"Speaking of 8 cats\nやあ。":           "Speaking of 8 cats\nやあ。",
		"Spe":                               "Spe",
		"speak 8 none":                      "",
		"listen":                            "",
		"Listen to me!":                     "Listen to me!",
	} {
		for _, size := range []int{1, 3, 100} {
			r := draftRig(t, reply{deltas: chunks(text, size)})
			if l, err := r.speak(scene("taro", "やあ")); err != nil || l.Text != want {
				t.Errorf("%q in pieces of %d: %+v, %v", text, size, l, err)
			}
		}
	}
	r := load(t, nikoni(t), reply{deltas: []string{"speak 8 none\nやあ。"}}) // nobody asked that model for votes
	if l, err := r.speak(scene("taro", "やあ")); err != nil || l.Text != "speak 8 none\nやあ。" {
		t.Errorf("%+v, %v", l, err)
	}
}

// Of a model's places one is not for lines behind votes: whoever finds no other is asked for
// the vote alone.
func TestAPlaceIsLeftFree(t *testing.T) {
	hold := make(chan struct{})
	r := draftRig(t, reply{deltas: []string{votes8, "まだ。"}}, reply{json: referees8}, reply{deltas: []string{votes8}})
	r.models.inOne = 1
	pieces := 0
	r.models.replies[0].after = func() {
		if pieces++; pieces == 2 {
			<-hold
		}
	}
	for range 2 {
		if v, err := r.vote(asksAround()); err != nil || v.Importance != 8 {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	if asked := r.models.requests(); asked[0].Schema != nil || asked[1].Schema == nil {
		t.Error("the second is not asked for the vote alone")
	}
	close(hold)
	if l, err := r.speak(scene("aya", "誰か星にくわしい?")); err != nil || l.Text != "まだ。" {
		t.Errorf("%+v, %v", l, err)
	}
	writing := func() int {
		e := r.m.(*Module).engine
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.drafts["main"]
	}
	for writing() > 0 { // the answer has ended, and says so
		runtime.Gosched()
	}
	if _, err := r.vote(asksAround()); err != nil {
		t.Fatal(err)
	}
	if asked := r.models.requests(); asked[2].Schema != nil {
		t.Error("the place is not free again")
	}
}

package compress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/memory"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/room"
	"github.com/companiond/companiond/host/room/registry"
	"github.com/companiond/companiond/host/rooms"
)

// scribe is a mind whose drafts are given, and that finds whatever stands in one.
type scribe struct {
	mu     sync.Mutex
	drafts []string
	asked  []abi.Compressing
	judged []abi.Verifying
	broken error
	mute   error // of whoever verifies
	slow   time.Duration
	during func() // called while it verifies
	// refuses says that no draft is good enough.
	refuses bool
	answers func(abi.Verifying, *abi.Verified) // changes what it answers

	verifying time.Duration // how long that takes
	gone      bool          // nobody verifies any more
	left      int           // how often it was not asked to the end
}

func (s *scribe) Compress(ctx context.Context, _ string, c abi.Compressing) (abi.Compressed, error) {
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		s.leave()
		return abi.Compressed{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, c)
	if s.broken != nil {
		return abi.Compressed{}, s.broken
	}
	n := min(len(s.asked), len(s.drafts)) - 1
	return abi.Compressed{Text: s.drafts[n]}, nil
}

func (s *scribe) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left++
}

// leaves has nobody verify any more.
func (s *scribe) leaves() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
}

func (s *scribe) Verify(ctx context.Context, _ string, v abi.Verifying) (abi.Verified, error) {
	select {
	case <-time.After(s.verifying):
	case <-ctx.Done():
		s.leave()
		return abi.Verified{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return abi.Verified{}, abi.Errorf(abi.CodeUnavailable, "there is no model")
	}
	s.judged = append(s.judged, v)
	if s.mute != nil {
		return abi.Verified{}, s.mute
	}
	if s.during != nil {
		s.during()
	}
	out := abi.Verified{Verdict: string(history.Yes)}
	if s.refuses {
		out.Verdict, out.Feedback = string(history.No), "it says too little"
	}
	for _, k := range v.Keep {
		item := abi.VerifiedItem{ID: k.ID, Status: string(history.Kept), Quote: k.Text}
		if !strings.Contains(v.Draft, k.Text) {
			item.Status, item.Quote = string(history.Missing), ""
			if k.Policy {
				out.Verdict, out.Feedback = string(history.No), k.ID+" is missing: "+k.Text
			}
		}
		out.Items = append(out.Items, item)
	}
	if s.answers != nil {
		s.answers(v, &out)
	}
	return out, nil
}

// house is rooms in which people talk, and a service.
type house struct {
	*testing.T
	*registry.Registry
	service *compress.Service
	scribe  *scribe
	journal *memory.Journal
	log     logtest.Log
	end     func()
	ids     int
	byItself
}

func newHouse(t *testing.T, s *scribe, drafts ...string) *house {
	s.drafts = drafts
	h := &house{T: t, scribe: s, journal: memory.New()}
	h.begin()
	return h
}

func (h *house) begin() {
	h.gone.Store(false)
	var mu sync.Mutex
	id := func() string {
		mu.Lock()
		defer mu.Unlock()
		h.ids++
		return fmt.Sprint("id", h.ids)
	}
	log := h.log.Logger()
	rules := entry.Rules{Policy: "vote", Seed: "s", Patience: 1000, Floor: 5000, MaxTurns: 1, Stale: entry.StaleAccept}
	var err error
	h.Registry, err = registry.New(registry.Config{
		Usual: "main", Rooms: []room.Settings{{Name: "main", Rules: rules, Standing: h.standsFor(context.Background(), "main")}}, Read: func(name string, _ []byte) (room.Settings, error) {
			return room.Settings{Name: name, Rules: rules}, nil
		},
		Room: room.Config{Journal: h.journal, NewID: id, Log: log, Find: func(string) (room.Companion, bool) { return nil, false },
			Told: h.told},
	})
	if err != nil {
		h.Fatal(err)
	}
	h.service = compress.New(compress.Config{
		Rooms: leaving{h.Registry, h}, Standing: h.standsFor, NewID: id, Log: log, Usual: func(string) (string, string) { return "scribe", "scribe" },
		Mind: func(id string) (compress.Mind, error) {
			if id != "scribe" {
				return nil, abi.Errorf(abi.CodeNotFound, "there is no companion %q", id)
			}
			return h.scribe, nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Registry.Run(ctx) })
	running.Go(func() { _ = h.service.Run(ctx) })
	h.end = func() { cancel(); running.Wait() }
	h.SetCast(ctx, []entry.Joined{})
}

func (h *house) say(texts ...string) {
	h.Helper()
	talk, err := h.Room(h.Context(), "main")
	if err != nil {
		h.Fatal(err)
	}
	for _, text := range texts {
		if _, err := talk.Say(h.Context(), rooms.Utterance{From: "taro", Text: text}); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *house) propose(q compress.Request) (history.Proposal, error) {
	q.Room, q.By = "main", "taro"
	p, err := h.service.Propose(h.Context(), q)
	synctest.Wait()
	return p, err
}

// stands gives how a proposal stands, and its newest draft.
func (h *house) stands(id string) (p history.Proposal, d history.Draft) {
	h.Helper()
	talk, err := h.Room(h.Context(), "main")
	if err != nil {
		h.Fatal(err)
	}
	book, err := talk.Book(h.Context())
	if err != nil || book.Get(id) == nil {
		h.Fatalf("no proposal %s: %v", id, err)
	}
	p = *book.Get(id)
	if n := len(p.Drafts); n > 0 {
		if d, err = talk.Draft(h.Context(), p.Drafts[n-1].Seq); err != nil {
			h.Fatal(err)
		}
	}
	return p, d
}

// talk is what is compressed in these tests: a budget that the policy names, and noise.
var talk = []string{"おはよう", "予算は84,000円にしよう", "今日は暑いね", "締切は3月28日です", "そうだね", "アイスが食べたい"}

const policy = "予算と締切は残す。雑談はいらない。"

const whole, half = "予算は84,000円にしよう。締切は3月28日です。", "締切は3月28日です。"

// TestFlow goes the way of the article: a first draft is refused for what it lacks, the second one, which was
// told so, is offered; a person approves it, and what is told from then on is shorter. Reverted, it
// is as it was.
func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), half, whole)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		p, d := h.stands(p.ID)
		if p.State != history.Offered || len(p.Drafts) != 2 || d.Text != whole || d.VerifiedBy != "scribe" {
			t.Fatalf("%+v %+v", p, d)
		}
		second := h.scribe.asked[1]
		if second.Draft != half || !strings.Contains(second.Feedback, "84,000") || second.Language != "ja" || len(second.Turns) != 6 {
			t.Errorf("the second draft was asked for like this: %+v", second)
		}
		v := h.scribe.judged[1]
		if len(v.Turns) != 6 || len(v.History) != 1 || v.History[0].Text != whole || v.Policy != policy {
			t.Errorf("the verifier was shown %+v", v)
		}
		room, _ := h.Room(t.Context(), "main")
		before, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); err != nil {
			t.Fatal(err)
		}
		h.say("実装に進もう")
		after, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if len(before.Messages) != 6 || len(after.Messages) != 2 || after.Messages[0].Text != whole {
			t.Errorf("%d messages became %+v", len(before.Messages), after.Messages)
		}
		if _, err := h.service.Revert(t.Context(), "main", p.ID, "taro", "better as it was"); err != nil {
			t.Fatal(err)
		}
		again, _ := room.Told(t.Context(), abi.HistoryAsk{})
		if fmt.Sprint(again.Messages[:6]) != fmt.Sprint(before.Messages) {
			t.Errorf("reverted it is told as %+v", again.Messages)
		}
	})
}

// TestThreeDrafts: after three that were refused a person is asked; what was refused cannot be approved, and
// the extract of what was said itself can.
func TestThreeDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), half)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		p, d := h.stands(p.ID)
		if p.State != history.Refused || len(p.Drafts) != 3 || d.Verdict != history.No || !strings.Contains(d.Feedback, "84,000") {
			t.Fatalf("%+v %+v", p, d)
		}
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", true, ""); abi.CodeOf(err) != abi.CodeConflict {
			t.Errorf("what was refused is approved: %v", err)
		}
		if p, err = h.service.TakeExtract(t.Context(), "main", p.ID, "taro"); err != nil || p.State != history.Offered {
			t.Fatalf("the extract: %+v %v", p, err)
		}
		if _, d := h.stands(p.ID); !strings.Contains(d.Text, "84,000円") || !strings.Contains(d.Text, "3月28日") || strings.Contains(d.Text, "暑い") {
			t.Errorf("the extract is %q", d.Text)
		}
		if _, err := h.service.Decide(t.Context(), "main", p.ID, "taro", false, "no"); err != nil {
			t.Error(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Denied || p.Why != "no" {
			t.Errorf("%+v", p)
		}
	})
}

// TestDraftsOutliveTheDaemon: a daemon that stops while a draft is made goes on with it.
func TestDraftsOutliveTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{slow: time.Minute}, whole)
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		h.end()
		h.begin()
		defer func() { h.end() }()
		time.Sleep(2 * time.Minute)
		if p, _ := h.stands(p.ID); p.State != history.Offered {
			t.Errorf("%+v", p)
		}
	})
}

// TestNobodyDrafts: a mind that is gone, or has no answer, fails the proposal, which says why; a new one may be asked for.
func TestNobodyDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{broken: abi.Errorf(abi.CodeExhausted, "9 calls a day are used up")}, whole)
		defer func() { h.end() }()
		h.say(talk...)
		q := compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy}
		p, err := h.propose(q)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Failed || !strings.Contains(p.Why, "9 calls a day are used up") {
			t.Errorf("%+v", p)
		}
		h.scribe.broken = nil
		if p, err = h.propose(q); err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Offered {
			t.Errorf("%+v", p)
		}
		for _, tc := range []struct {
			q    compress.Request
			code abi.Code
		}{
			{compress.Request{Turns: history.Range{From: 2, To: 3}}, abi.CodeConflict}, // one is open
			{compress.Request{Turns: history.Range{From: 7, To: 9}}, abi.CodeNotFound},
			{compress.Request{Turns: history.Range{From: 3, To: 2}}, abi.CodeInvalid},
			{compress.Request{Turns: history.Range{From: 1, To: 6}, Compresser: "nobody"}, abi.CodeNotFound},
			{compress.Request{Turns: history.Range{From: 1, To: 6}, Length: history.Length{N: 10, Unit: "pages"}}, abi.CodeInvalid},
		} {
			if _, err := h.propose(tc.q); abi.CodeOf(err) != tc.code {
				t.Errorf("%+v: %v", tc.q, err)
			}
		}
	})
}

// TestErasedMeanwhile: words that are erased while a draft of them is verified do not come back with it.
func TestErasedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		h.scribe.during = func() {
			said, err := h.journal.Said(context.Background(), "main", journal.Span{Limit: 2})
			if err == nil {
				seq := said[1].Seq
				err = h.journal.Blank(context.Background(), "main", seq, map[uint64][]byte{seq: []byte(`{"from":"somebody","by":"human","text":"","kind":"turn","turn":2,"erased":"o"}`)})
			}
			if err != nil {
				t.Error(err)
			}
		}
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := h.stands(p.ID); p.State != history.Failed || len(p.Drafts) != 0 || !strings.Contains(p.Why, "erased") {
			t.Errorf("%+v", p)
		}
		all, _ := h.journal.Read(t.Context(), "main", 0, 1000)
		for _, e := range all {
			if strings.Contains(string(e.Body), "84,000") {
				t.Errorf("entry %d has it: %s", e.Seq, e.Body)
			}
		}
	})
}

// TestOwnDraft: a draft from outside is verified as any other, and not drafted anew.
func TestOwnDraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Text: half, Verifier: compress.Extract})
		if err != nil || p.State != history.BeingDrafted || p.Handed != p.Seq {
			t.Fatalf("%+v %v", p, err)
		}
		p, d := h.stands(p.ID)
		if p.State == history.Offered || len(p.Drafts) != 1 || len(h.scribe.asked) != 0 {
			t.Fatalf("%+v", p)
		}
		if d.Verdict != history.No || !strings.Contains(d.Feedback, "84,000") || d.By != "taro" || d.Text != half {
			t.Errorf("%+v", d)
		}
	})
}

// TestOwnDraftsAreVerifiedInTheBackground: whoever sends one is answered as soon as it is written down, however slow the verifier is; it is
// verified though nobody waits, also by the next daemon, and so is the next one. One alone is verified at a time, of whoever asked.
func TestOwnDraftsAreVerifiedInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &scribe{verifying: time.Minute})
		h.say(talk...)
		began := time.Now()
		ctx, leave := context.WithCancel(t.Context())
		p, err := h.service.Propose(ctx, compress.Request{Room: "main", By: "taro", Turns: history.Range{From: 1, To: 6}, Policy: policy, Text: half})
		if leave(); err != nil || time.Since(began) > time.Second || p.State != history.BeingDrafted || p.Handed == 0 {
			t.Fatalf("%+v, %v after %v", p, err, time.Since(began))
		}
		if _, err := h.service.Redraft(t.Context(), "main", p.ID, whole, "taro"); abi.CodeOf(err) != abi.CodeConflict || !strings.Contains(err.Error(), "is being verified") {
			t.Errorf("another is taken meanwhile: %v", err)
		}
		time.Sleep(30 * time.Second)
		h.end()
		h.begin()
		defer func() { h.end() }()
		time.Sleep(2 * time.Minute)
		if p, d := h.stands(p.ID); p.State != history.BeingDrafted || !p.Awaits() || len(p.Drafts) != 1 || d.Text != half || d.By != "taro" || !strings.Contains(d.Feedback, "84,000") {
			t.Fatalf("%+v %+v", p, d)
		}
		if _, err := h.service.Redraft(t.Context(), "main", p.ID, whole, "mika"); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("of somebody else it is taken: %v", err)
		}
		if p, err := h.service.Redraft(t.Context(), "main", p.ID, whole, "taro"); err != nil || p.Handed == 0 {
			t.Fatalf("%+v %v", p, err)
		}
		time.Sleep(2 * time.Minute)
		if p, d := h.stands(p.ID); p.State != history.Offered || len(p.Drafts) != 2 || p.Drafts[1].N != 2 || d.Text != whole || len(h.scribe.judged) != 2 {
			t.Errorf("%+v %+v, judged %d times", p, d, len(h.scribe.judged))
		}
	})
}

// TestOwnDraftThatComesToNothing: where nobody can verify it, it lost words meanwhile, or was denied, that is how it stands.
func TestOwnDraftThatComesToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(h *house, p history.Proposal)
		state   history.State
		why     string
	}{
		"denied": {func(h *house, p history.Proposal) {
			_, _ = h.service.Decide(h.Context(), "main", p.ID, "taro", false, "dull")
		}, history.Denied, "dull"},
		"its words": {func(h *house, p history.Proposal) {
			h.blank(p.Handed, `{"kind":"propose","proposal":"`+p.ID+`","by":"taro","ask":`+asJSON(p.Ask)+`,"draft":{"n":1,"text":"","by":"taro"},"erased":"o"}`)
		}, history.Failed, "erased"},
		"the turns'": {func(h *house, _ history.Proposal) {
			h.blank(h.said()[1].Seq, `{"from":"somebody","by":"human","text":"","kind":"turn","turn":2,"erased":"o"}`)
		}, history.Failed, "do not say"},
		"nobody asks": {func(h *house, _ history.Proposal) { h.scribe.leaves() }, history.Failed, "cannot be verified"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, &scribe{verifying: time.Minute})
				defer func() { h.end() }()
				h.say(talk...)
				p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Text: whole})
				if err != nil {
					t.Fatal(err)
				}
				c.happens(h, p)
				time.Sleep(2 * time.Minute)
				if p, _ := h.stands(p.ID); p.State != c.state || !strings.Contains(p.Why, c.why) || len(p.Drafts) != 0 || p.Handed != 0 {
					t.Errorf("%+v", p)
				}
				if strings.Contains(h.log.String(), "turns cannot be compressed") {
					t.Errorf("the log has it as a fault: %s", &h.log)
				}
			})
		})
	}
}

// TestTheNextDraftIsOfTheSameWords: where the turns lost words since they were asked for, no further draft of them is taken.
func TestTheNextDraftIsOfTheSameWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe))
		defer func() { h.end() }()
		h.say(talk...)
		p, err := h.propose(compress.Request{Turns: history.Range{From: 1, To: 6}, Policy: policy, Text: half})
		if err != nil {
			t.Fatal(err)
		}
		h.blank(h.said()[1].Seq, `{"from":"somebody","by":"human","text":"","kind":"turn","turn":2,"erased":"o"}`)
		if _, err := h.service.Redraft(t.Context(), "main", p.ID, whole, "taro"); abi.CodeOf(err) != abi.CodeStale {
			t.Errorf("%v", err)
		}
	})
}

// TestWordsThatShowAsNothing are refused wherever people write something about a compression, with the field and the place, and so is what
// is too long; nothing is asked for then.
func TestWordsThatShowAsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		h.say(talk...)
		all := history.Range{From: 1, To: 6}
		refused := func(err error, code abi.Code, words string) {
			t.Helper()
			if abi.CodeOf(err) != code || !strings.HasPrefix(abi.AsError(err).Message, words) {
				t.Errorf("%v, not %s %s", err, code, words)
			}
		}
		for _, c := range []struct {
			q     compress.Request
			code  abi.Code
			words string
		}{
			{compress.Request{Turns: all, Text: "a\u202eb"}, abi.CodeInvalid, "text: character 2 is U+202E"},
			{compress.Request{Turns: all, Text: "a\u200bb"}, abi.CodeInvalid, "text: character 2 is U+200B"},
			{compress.Request{Turns: all, Text: " "}, abi.CodeInvalid, "text: must not be empty"},
			{compress.Request{Turns: all, Text: strings.Repeat("x", abi.MaxDigest+1)}, abi.CodeTooLarge, "text: 65537 bytes"},
			{compress.Request{Turns: all, Text: "x", Compresser: "scribe"}, abi.CodeInvalid, "compresser: is who drafts"},
			{compress.Request{Turns: all, Policy: "Keep\U000e0041"}, abi.CodeInvalid, "policy: character 5 is U+E0041"},
			{compress.Request{Turns: all, Policy: "\x00"}, abi.CodeInvalid, "policy: character 1 is U+0000"},
			{compress.Request{Turns: all, Policy: strings.Repeat("あ", compress.MaxPolicy+1)}, abi.CodeTooLarge, "policy: 4001 characters, at most 4000"},
		} {
			_, err := h.propose(c.q)
			refused(err, c.code, c.words)
		}
		p, err := h.propose(compress.Request{Turns: all, Policy: strings.Repeat("𠮷", compress.MaxPolicy), Text: strings.Repeat("x", 300)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.service.Redraft(t.Context(), "main", p.ID, "a\ufffd", "taro")
		refused(err, abi.CodeInvalid, "text: character 2 is U+FFFD")
		_, err = h.service.Decide(t.Context(), "main", p.ID, "taro", false, "a\u2066")
		refused(err, abi.CodeInvalid, "why: character 2 is U+2066")
		_, err = h.service.Revert(t.Context(), "main", p.ID, "taro", strings.Repeat("x", compress.MaxWhy+1))
		refused(err, abi.CodeTooLarge, "why: 501 characters")
		if p, _ := h.stands(p.ID); p.State != history.BeingDrafted || len(p.Drafts) != 1 {
			t.Errorf("%+v", p)
		}
	})
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// said gives what was said, blank what is left of an entry.
func (h *house) said() []abi.Message {
	all, err := h.journal.Said(h.Context(), "main", journal.Span{Limit: 9})
	if err != nil {
		h.Fatal(err)
	}
	var msgs []abi.Message
	for _, e := range all {
		msgs = append(msgs, abi.Message{Seq: e.Seq})
	}
	return msgs
}

func (h *house) blank(seq uint64, body string) {
	if err := h.journal.Blank(h.Context(), "main", seq, map[uint64][]byte{seq: []byte(body)}); err != nil {
		h.Error(err)
	}
}

// A draft is held to what the policy names, so there may be no more of that than a draft can be held to.
func TestMoreThanADraftIsHeldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, new(scribe), whole)
		defer func() { h.end() }()
		for i := range 210 {
			h.say(fmt.Sprintf("The budget of project %d is %d dollars.", i, 100_000+i))
		}
		q := compress.Request{Turns: history.Range{From: 1, To: 210}, Policy: "Keep the budget of every project."}
		_, err := h.propose(q)
		if abi.CodeOf(err) != abi.CodeTooLarge || !strings.Contains(err.Error(), "names 210 things") || !strings.Contains(err.Error(), "1-200") {
			t.Fatal(err)
		}
		q.Turns.To = 200
		if _, err := h.propose(q); err != nil {
			t.Error(err)
		}
	})
}

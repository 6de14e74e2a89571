package audience

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/pick"
	companion "github.com/companiond/companiond/sdk/go"
)

// stage is a handler that runs, with one source that tells what a test has it tell.
type stage struct {
	t     *testing.T
	local *companion.Local
	a     *audience
	tell  func(line.Event)
	end   func()
}

// play runs a handler in a bubble of synctest, for aya and kyoko.
func play(t *testing.T, settings string) *stage {
	t.Helper()
	s := &stage{t: t}
	s.start(map[string]string{}, settings, "aya", "kyoko")
	return s
}

// start makes a program anew, with the store of the one before.
func (s *stage) start(kv map[string]string, settings string, companions ...string) {
	h, a := withSources(s.source)
	s.a, s.local = a, companion.NewLocalHandler(h)
	s.local.KV = kv
	s.run(settings, companions...)
}

func withSources(one func(settings) []source) (companion.Handler, *audience) {
	a := &audience{sources: one, sessions: map[string]*session{}}
	return a.handler(), a
}

func (s *stage) source(settings) []source {
	return []source{{"the test's chat", func(ctx context.Context, up func(), tell func(line.Event)) error {
		s.tell = tell
		up()
		<-ctx.Done()
		return ctx.Err()
	}}}
}

// run has the handler run, and waits until it reads the chat.
func (s *stage) run(settings string, companions ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() {
		done <- s.local.Run(ctx, abi.Running{Companions: companions, Settings: json.RawMessage(settings)})
	}()
	s.end = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("run: %v", err)
		}
	}
	synctest.Wait()
}

func (s *stage) say(lines ...line.Line) {
	for _, l := range lines {
		s.tell(line.Event{Line: &l})
		synctest.Wait()
	}
}

// emitted gives what was perceived so far.
func (s *stage) emitted() (all []abi.PerceptionAsk) {
	s.local.Look(func() { all = slices.Clone(s.local.Handled.Emitted) })
	return all
}

// keys gives the keys of what was perceived so far.
func (s *stage) keys() string {
	var keys []string
	for _, e := range s.emitted() {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

func (s *stage) retracted() (all []abi.RetractAsk) {
	s.local.Look(func() { all = slices.Clone(s.local.Handled.Retracted) })
	return all
}

func (s *stage) logs() (all string) {
	s.local.Look(func() { all = strings.Join(s.local.Logs, "\n") })
	return all
}

func (s *stage) act(settings, action, parameters string) (string, error) {
	did, err := s.local.Act(abi.Acting{ID: "a1", Companion: "aya", Action: action, Parameters: json.RawMessage(parameters), Settings: json.RawMessage(settings)})
	synctest.Wait()
	return did.Message, err
}

func said(id, viewer, text string) line.Line {
	return line.Line{Platform: "twitch", Place: "vtuber", ID: id, Viewer: "id-" + viewer, Name: viewer, Text: text}
}

func given(id, viewer string) line.Line {
	l := said(id, viewer, "")
	l.Gift = &line.Gift{Kind: "bits", Amount: 100, Display: "100 bits"}
	return l
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestPerceptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"names":{"kyoko":["京子"]}}`)
		defer s.end()
		s.say(said("m1", "Ann", "hello"))
		s.say(given("m2", "Bob"), said("m3", "Cho", "京子ちゃん元気？"), said("m4", "Dan", "nice"))
		pass(25 * time.Second)
		got := s.emitted()
		want := []abi.PerceptionAsk{
			{Companion: "aya", Title: "chat", Body: json.RawMessage(`{"name":"Ann","text":"hello","platform":"twitch"}`), From: "Ann", Key: "m1"},
			{Companion: "kyoko", Title: "gift", Body: json.RawMessage(`{"name":"Bob","text":"","platform":"twitch","gift":{"kind":"bits","amount":100,"display":"100 bits"}}`), From: "Bob", Key: "m2"},
			{Companion: "kyoko", Title: "chat", Body: json.RawMessage(`{"name":"Cho","text":"京子ちゃん元気？","platform":"twitch"}`), From: "Cho", Key: "m3"},
			{Companion: "aya", Title: "chat", Body: json.RawMessage(`{"name":"Dan","text":"nice","platform":"twitch"}`), From: "Dan", Key: "m4"},
		}
		if g, w := fmt.Sprintf("%s", got), fmt.Sprintf("%s", want); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
	})
}

// TestFlood is a chat of 50 comments a second for ten minutes, with gifts among them. The number of perceptions is
// bounded by time, every gift is among them, and memory is bounded by the pool.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"every":8}`)
		defer s.end()
		rng := rand.New(rand.NewPCG(1, 2))
		gifts := map[string]bool{}
		const minutes, aSecond = 10, 50
		for i := range minutes * 60 * aSecond {
			l := said(fmt.Sprint("m", i), fmt.Sprint("viewer", rng.IntN(20000)), []string{"lol", "nice", "why?", "なにそれ"}[rng.IntN(4)])
			if rng.IntN(600) == 0 {
				l = given(l.ID, l.Name)
				gifts[l.ID] = true
			}
			s.tell(line.Event{Line: &l})
			time.Sleep(time.Second / aSecond)
		}
		synctest.Wait()
		most := minutes*60/8 + 1
		if got := len(s.emitted()); got > most || got < most-1 {
			t.Errorf("%d perceptions in %d minutes, at most %d", got, minutes, most)
		}
		size := s.a.sessions[`{"every":8}`].pool.Size()
		if size.Comments > 200 || size.Viewers > pick.MaxViewers || size.Seen > pick.MaxSeen {
			t.Errorf("it keeps %+v", size)
		}
		pass(time.Duration(size.Gifts) * 8 * time.Second) // those that still wait
		for _, e := range s.emitted() {
			delete(gifts, e.Key)
		}
		if len(gifts) > 0 {
			t.Errorf("gifts are lost: %v", gifts)
		}
		if told := len(s.a.sessions[`{"every":8}`].told); told > maxTold {
			t.Errorf("%d are remembered", told)
		}
	})
}

func TestDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		gone := func(g line.Gone) {
			s.tell(line.Event{Gone: &g})
			synctest.Wait()
		}
		s.say(said("m1", "Ann", "bad words"), said("m2", "Ann", "more of them"), said("m3", "Bob", "hi"))
		gone(line.Gone{Platform: "twitch", Place: "vtuber", ID: "m2"}) // it waits
		pass(20 * time.Second)
		if got := s.keys(); got != "m1 m3" {
			t.Errorf("perceived: %s", got)
		}
		gone(line.Gone{Platform: "twitch", Place: "vtuber", Viewer: "id-Ann"})
		gone(line.Gone{Platform: "twitch", Place: "vtuber", Viewer: "id-Ann"}) // again: there is nothing more
		nameless := said("", "Cho", "no id")
		s.say(nameless)
		pass(10 * time.Second)
		gone(line.Gone{Platform: "twitch", Place: "vtuber"})
		if got := fmt.Sprint(s.retracted()); got != "[{aya m1 } {kyoko m3 } {aya  Cho}]" {
			t.Errorf("taken back: %s", got)
		}
	})
}

// TestGoneWhileItIsTold deletes a line at the moment at which the daemon takes it.
func TestGoneWhileItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		s.local.Look(func() {
			s.local.Asked = func(op string) {
				if op == abi.HostPerceptionEmit {
					s.tell(line.Event{Gone: &line.Gone{Platform: "twitch", ID: "m1"}})
				}
			}
		})
		s.say(said("m1", "Ann", "bad words"))
		if got := fmt.Sprint(s.retracted()); got != "[{aya m1 }]" {
			t.Errorf("taken back: %s", got)
		}
		if told := s.a.sessions["{}"].told; len(told) > 0 {
			t.Errorf("it is remembered: %+v", told)
		}
	})
}

// TestNoCard: a comment that one companion cannot perceive goes to another, also where it was meant.
func TestNoCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		s.local.Look(func() {
			s.local.Handled.Refuse = func(op string, data json.RawMessage) error {
				if op == abi.HostPerceptionEmit && strings.Contains(string(data), `"companion":"aya"`) {
					return abi.Errorf(abi.CodeNotFound, "aya has no card")
				}
				return nil
			}
		})
		s.say(said("m1", "Ann", "hello aya"), said("m2", "Bob", "hi"))
		pass(30 * time.Second)
		if got := s.keys(); !strings.Contains(got, "m1") || !strings.Contains(got, "m2") {
			t.Errorf("perceived: %q", got)
		}
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		var why error
		var title string
		s.local.Look(func() {
			s.local.Handled.Refuse = func(op string, data json.RawMessage) error {
				if op == abi.HostPerceptionEmit && strings.Contains(string(data), title) {
					return why
				}
				return nil
			}
		})
		refuse := func(err error, of string) { s.local.Look(func() { why, title = err, of }) }

		refuse(abi.Errorf(abi.CodeUnavailable, "the journal is full"), "")
		s.say(given("g1", "Ann"), said("m1", "Bob", "hi"))
		pass(5 * time.Minute)
		refuse(nil, "")
		pass(10 * time.Second)
		if got := s.keys(); got != "g1" { // the comment is old by now
			t.Errorf("after a while without a journal: %q", got)
		}
		if n := strings.Count(s.logs(), "the journal is full"); n != 1 && n != 2 { // once a companion
			t.Errorf("the log has it %d times:\n%s", n, s.logs())
		}
		refuse(abi.Errorf(abi.CodeInvalid, "the card has no perception gift"), `"title":"gift"`)
		s.say(given("g2", "Ann"), given("g3", "Ann"))
		pass(20 * time.Second)
		if got := s.emitted(); len(got) != 3 || got[1].Title != "chat" || !strings.Contains(string(got[1].Body), "100 bits") {
			t.Errorf("a card without gifts: %s", s.keys())
		}
		refuse(abi.Errorf(abi.CodeInvalid, "the card has no perception"), "")
		s.say(said("m2", "Cho", "hi"), given("g4", "Ann"))
		pass(20 * time.Second)
		refuse(nil, "")
		s.say(said("m3", "Cho", "hi"))
		pass(20 * time.Second)
		if got := s.keys(); got != "g1 g2 g3 m3" {
			t.Errorf("a card without any: %s", got)
		}
	})
}

// TestRunsAnew ends the call and begins it for other companions, who are told of the lines that wait.
func TestRunsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"to":["mio","aya"]}`)
		s.say(said("m1", "Ann", "hi"), given("g1", "Bob"), said("m2", "Cho", "hi"))
		s.end()
		if got := s.emitted(); len(got) != 1 || got[0].Companion != "aya" {
			t.Errorf("told: %s", got)
		}
		s.run(`{"to":["mio","aya"]}`, "kyoko", "mio")
		pass(20 * time.Second)
		s.end()
		got := s.emitted()
		if s.keys() != "m1 g1 m2" || got[1].Companion != "mio" || got[2].Companion != "mio" {
			t.Errorf("told: %s", got)
		}
		s.run(`{"to":["mio","aya"]}`, "kyoko")
		s.say(said("m4", "Dan", "hi"))
		pass(20 * time.Second)
		s.end()
		if len(s.emitted()) != 3 || !strings.Contains(s.logs(), "nobody perceives the chat") {
			t.Errorf("told nobody: %s\n%s", s.emitted(), s.logs())
		}
	})
}

func TestManySettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		first := s.end
		for i := range 3 * maxSessions {
			s.run(fmt.Sprintf(`{"every":%d}`, i+1), "aya")
			s.end()
		}
		s.end = first
		if n := len(s.a.sessions); n > maxSessions || s.a.sessions["{}"] == nil {
			t.Errorf("%d sessions are kept", n)
		}
	})
}

func TestNoSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		local := companion.NewLocalHandler(Handler())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := local.Run(ctx, abi.Running{Companions: []string{"aya"}}); err != nil || !strings.Contains(strings.Join(local.Logs, "\n"), "no chat is read: set twitch") {
			t.Errorf("%v\n%s", err, local.Logs)
		}
		for settings, want := range map[string]string{
			`{"youtube":["abc"]}`:                         "settings.youtube_key: is not set",
			`{"youtube_address":"ftp://x"}`:               "settings.youtube_address",
			`{"youtube_address":"://","youtube_key":"k"}`: "settings.youtube_address",
			`{"every":"often"}`:                           "settings: they cannot be read",
		} {
			err := local.Run(ctx, abi.Running{Companions: []string{"aya"}, Settings: json.RawMessage(settings)})
			if abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", settings, err)
			}
		}
	})
}

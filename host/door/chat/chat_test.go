package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/chat"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/guard"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
)

// together runs a test in a bubble, in a house in which aya and kyoko answer people.
func together(t *testing.T, test func(t *testing.T, h *house), change ...func(*guard.Config, *chat.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, change...)
		h.answers(h.main, "aya")
		h.answers(h.main, "kyoko")
		settle()
		test(t, h)
	})
}

// settle waits until all that was begun is done, also what a room does a moment later.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func TestATalk(t *testing.T) {
	for _, c := range []struct{ model, options, who, room, from string }{
		{"aya", "", "guest", "main", "aya"},
		{"kyoko", "", "guest", "main", "kyoko"}, // where she is at home
		{"room/den", "", "guest", "den", "kyoko"},
		{"den", "token=mika's", "mika", "den", "kyoko"},
		{"aya", "token=mika's", "mika", "main", "aya"},
	} {
		t.Run(c.model+c.options, func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				room, first := h.home.Get(c.room), time.Now().Unix()
				one := h.ask("POST", completions, list(c.model, "s:Be a cat.|u:こんにちは"), c.options)
				want := c.from + " on こんにちは."
				if one.Status != 200 || one.text() != want || one.Object != "chat.completion" || one.Model != c.model && one.Model != "room/"+c.model || one.Created < first ||
					one.Choices[0].Message.Role != "assistant" || *one.Choices[0].FinishReason != "stop" || one.Usage == nil || *one.Usage.Total != 0 {
					t.Fatalf("%d %s", one.Status, one.Raw)
				}
				if one.X.Room != c.room || one.X.From != c.from || one.X.Said == 0 || one.X.Seq <= one.X.Said || one.X.None != "" || one.X.Again {
					t.Errorf("%+v", one.X)
				}
				two := h.ask("POST", completions, list(c.model, "s:Be a dog.|u:こんにちは|a:"+want+"|u:元気?"), c.options)
				if two.text() != c.from+" on 元気?." || two.X.Said <= one.X.Seq {
					t.Errorf("%s", two.Raw)
				}
				if got := said(room); !slices.Equal(got, []string{c.who + ": こんにちは", c.who + ": 元気?"}) {
					t.Errorf("said %q", got)
				}
				for _, e := range room.Happened() {
					s, _ := entry.Decode[entry.Said](e)
					if e.Kind == entry.KindSaid && s.By == abi.KindHuman && strings.HasPrefix(c.model, c.from) != slices.Equal(s.To, []string{c.from}) {
						t.Errorf("%s is said to %v", c.model, s.To)
					}
				}
			})
		})
	}
}

// A list that comes again is answered with what was answered, and nothing is said: at once,
// on another connection of the machine, later, behind an answer that was deleted, with other
// instructions, after a restart of the room.
func TestAListSentAgain(t *testing.T) {
	const talk = "s:x|u:hello|a:aya on hello.|u:how are you?"
	for _, c := range []struct {
		name    string
		wait    time.Duration
		body    string
		options string
		again   bool
	}{
		{"at once", 0, list("aya", talk), "", true},
		{"streaming or not", 0, list("aya", talk, `"stream":false`, `"temperature":0.2`), "", true},
		{"from ::1", 0, list("aya", talk), "from=[::1]:9", true},
		{"from 127.0.0.1 in IPv6", 0, list("aya", talk), "from=[::ffff:127.0.0.1]:9", true},
		{"later", 50 * time.Minute, list("aya", talk), "", true},
		{"other instructions", 0, list("aya", "s:It is noon.|u:hello|a:aya on hello.|u:how are you?|s:Go on."), "", true},
		{"an answer with space", 0, list("aya", "u:hello|a: aya on hello.\n|u:how are you?"), "", true},
		{"with a name", 0, list("aya", talk, `"user":"guest"`), "", true},
		{"much later", 61 * time.Minute, list("aya", talk), "", false},
		{"another model", 0, list("room/main", talk), "", false},
		{"another name", 0, list("aya", talk, `"user":"taro"`), "", false},
		{"another machine", 0, list("aya", talk), "from=192.0.2.7:9", false},
		{"a token", 0, list("aya", talk), "token=mika's", false},
		{"other words before", 0, list("aya", "u:hi|a:aya on hello.|u:how are you?"), "", false},
		{"another answer before", 0, list("aya", "u:hello|a:Hello!|u:how are you?"), "", false},
		{"other words", 0, list("aya", "u:hello|a:aya on hello.|u:How are you?"), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				time.Sleep(30 * time.Minute) // so that an hour ends within the next
				first := h.ask("POST", completions, list("aya", talk))
				if first.text() != "aya on how are you?." || first.X.Again {
					t.Fatal(first.Raw)
				}
				// Somebody else talks meanwhile.
				if _, err := h.main.Say(t.Context(), rooms.Utterance{From: "hanako", Text: "and me?"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.wait + time.Second)
				before, calls := len(said(h.main)), h.calls.Load()
				second := h.ask("POST", completions, c.body, c.options)
				if second.Status != 200 || second.X.Again != c.again {
					t.Errorf("%d %s", second.Status, second.Raw)
				}
				if c.again && (second.text() != first.text() || second.X.Said != first.X.Said || second.X.Seq != first.X.Seq || second.ID != first.ID || h.calls.Load() != calls) {
					t.Errorf("%s\n%s", first.Raw, second.Raw)
				}
				if more := len(said(h.main)) > before; more == c.again {
					t.Errorf("said %q", said(h.main))
				}
			})
		})
	}
}

// Ten that send one list at once say one thing, and get one answer.
func TestAListSentAtOnce(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.main.Play("aya", &doortest.Actor{
			Vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
			Speak: func(_ context.Context, s abi.Scene) abi.Line {
				time.Sleep(time.Second)
				return abi.Line{Text: "on " + s.Message.Text}
			},
		})
		settle()
		var all sync.WaitGroup
		for n := range 10 {
			from := "from=127.0.0.1:9"
			if n%2 == 1 {
				from = "from=[::1]:9"
			}
			all.Go(func() {
				if r := h.ask("POST", completions, list("aya", "u:hello"), from); r.text() != "on hello" {
					t.Errorf("%d %s", r.Status, r.Raw)
				}
			})
		}
		all.Wait()
		if got := said(h.main); len(got) != 1 {
			t.Errorf("said %q", got)
		}
	}, func(_ *guard.Config, c *chat.Config) { c.MaxWaiting = 20 })
}

// What a front end asks for itself, and a list without news, are answered at once and say
// nothing.
func TestNothingIsSaid(t *testing.T) {
	for _, c := range []struct{ name, talk, none, text string }{
		{"an empty prompt", "s:", "nothing", ""},
		{"a prompt alone", "s:You make titles.", "nothing", ""},
		{"an empty message", "s:x|u: ", "nothing", ""},
		{"go on", "u:hello|a:hi", "nothing", ""},
		{"a quiet prompt", "u:hello|a:hi|s:Sum it up.", "nothing", ""},
		{"a title", "u:### Task:\nMake a title.\n<chat_history>\nUSER: 今日は\n</chat_history>", "errand", `{"title":"今日は","tags":[],"follow_ups":[],"queries":[],"text":""}`},
		{"tags", "u:### Task:\nMake tags.", "errand", `{"title":"綾","tags":[],"follow_ups":[],"queries":[],"text":""}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				before, start := len(h.main.Journal()), time.Now()
				r := h.ask("POST", completions, list("aya", c.talk))
				if r.Status != 200 || r.text() != c.text || r.X.None != c.none || r.X.Notice == "" || *r.Choices[0].FinishReason != "stop" || time.Since(start) > time.Second {
					t.Errorf("%d %s", r.Status, r.Raw)
				}
				w := h.ask("POST", completions, list("aya", c.talk, `"stream":true`))
				if all := events(w.Raw); len(all) < 3 || all[len(all)-1] != "[DONE]" || !strings.Contains(all[len(all)-2], `"none":"`+c.none+`"`) {
					t.Errorf("%q", all)
				}
				if n := len(h.main.Journal()); n != before {
					t.Errorf("%d entries more", n-before)
				}
			})
		})
	}
}

// Words that nobody answered are not said again with those that follow.
func TestWordsWithoutAnAnswer(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.main.Live("aya", "kyoko") // who listen
		settle()
		for _, talk := range []string{"u:one", "u:one|u:two", "u:one|a:|u:two|u:three"} {
			r := h.ask("POST", completions, list("room/main", talk))
			if r.Status != 200 || r.text() != "" || r.X.None != "silent" || r.X.Said == 0 || r.X.From != "" {
				t.Errorf("%d %s", r.Status, r.Raw)
			}
			time.Sleep(40 * time.Minute)
		}
		if got := said(h.main); !slices.Equal(got, []string{"guest: one", "guest: two", "guest: three"}) {
			t.Errorf("said %q", got)
		}
	})
}

// Two new messages are both said, in their order.
func TestTwoNewMessages(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		r := h.ask("POST", completions, list("aya", "u:one|u:two"))
		if got := said(h.main); !slices.Equal(got, []string{"guest: one", "guest: two"}) || r.text() != "aya on two." {
			t.Errorf("said %q: %s", got, r.Raw)
		}
	})
}

// A listener's word takes nobody's turn while somebody is heard; who types it into a chat
// wants an answer all the same.
func TestAWordWhileSomebodyIsHeard(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		_, leave := h.main.Embody(entry.Body{Who: "aya", Plays: true}) // which says nothing of what it plays
		defer leave()
		if r := h.ask("POST", completions, list("aya", "u:hello")); r.text() != "aya on hello." {
			t.Fatal(r.Raw)
		}
		start := time.Now()
		if r := h.ask("POST", completions, list("aya", "u:hello|a:aya on hello.|u:はい")); r.text() != "aya on はい." || time.Since(start) > 30*time.Second {
			t.Errorf("after %v: %s", time.Since(start), r.Raw)
		}
	})
}

// A room that does not answer says so within a bound, and why.
func TestWithinABound(t *testing.T) {
	const quick = 5 * time.Second
	thinks := &doortest.Actor{
		Vote:  func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
		Speak: func(ctx context.Context, _ abi.Scene) abi.Line { <-ctx.Done(); return abi.Line{} },
	}
	for _, c := range []struct {
		name, none, model string
		before            func(t *testing.T, h *house)
		most              time.Duration
	}{
		{"silent", "silent", "room/main", func(_ *testing.T, h *house) { h.main.Live("aya", "kyoko") }, quick},
		{"stopped meanwhile", "stopped", "aya", func(t *testing.T, h *house) {
			h.main.Play("aya", thinks)
			time.AfterFunc(2*time.Second, func() { _, _ = h.main.Stop(t.Context(), "taro") })
		}, quick},
		{"nobody is there", "waits", "room/main", func(_ *testing.T, h *house) { h.main.Leave("aya"); h.main.Leave("kyoko") }, quick},
		{"she is not there, and others listen", "silent", "aya", func(_ *testing.T, h *house) { h.main.Leave("aya"); h.main.Live("kyoko") }, quick},
		{"the daemon stops", "stopping", "aya", func(_ *testing.T, h *house) {
			h.main.Play("aya", thinks)
			time.AfterFunc(3*time.Second, h.stop)
		}, quick},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, stream), func(t *testing.T) {
				together(t, func(t *testing.T, h *house) {
					c.before(t, h)
					settle()
					start := time.Now()
					var r reply
					if raw := h.ask("POST", completions, list(c.model, "u:hello", fmt.Sprintf(`"stream":%v`, stream))); stream {
						all := events(raw.Raw)
						if err := json.Unmarshal([]byte(all[len(all)-2]), &r); err != nil {
							t.Fatal(err)
						}
					} else {
						r = raw
					}
					if r.X == nil || r.X.None != c.none || r.X.Notice == "" || *r.Choices[0].FinishReason != "stop" || time.Since(start) > c.most {
						t.Errorf("after %v: %s %+v", time.Since(start), r.Raw, r.X)
					}
					if c.none == "waits" && r.X.Notice != "the room waits: nobody is here who could answer" {
						t.Errorf("notice: %s", r.X.Notice)
					}
				})
			})
		}
	}
}

// Who talks to a companion that waits for a model, or to a room of such alone, is told so at
// once; where somebody else is in the room, that one is waited for.
func TestACompanionWithoutAModel(t *testing.T) {
	const why = "waits for a model: write [model.main] into the configuration"
	for _, c := range []struct {
		model, none, notice string
		atOnce              bool
		alone               bool
	}{
		{"aya", "waits", "the room waits: aya " + why, true, false},
		{"room/main", "waits", "the room waits: aya " + why, true, true},
		{"room/main", "late", "no answer came in time; send the same list again to get one that comes later", false, false},
	} {
		t.Run(fmt.Sprint(c.model, c.alone), func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				ponder(h.main, "aya")
				ponder(h.main, "kyoko")
				if c.alone {
					h.main.Leave("kyoko")
				}
				settle()
				start := time.Now()
				r := h.ask("POST", completions, list(c.model, "u:hello"))
				if r.Status != 200 || r.X.None != c.none || r.X.Notice != c.notice || r.X.Said == 0 || time.Since(start) < 5*time.Second != c.atOnce {
					t.Errorf("after %v: %s", time.Since(start), r.Raw)
				}
			}, func(_ *guard.Config, cfg *chat.Config) {
				all := cfg.Companions()
				all[0].Waits = why
				cfg.Companions = func() []chat.Companion { return all }
			})
		})
	}
}

// A stream has OpenAI's shape, a sentence in each chunk, shows that it is there while
// somebody thinks, and has the usage where it was asked for.
func TestStream(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.main.Play("aya", &doortest.Actor{
			Vote: func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} },
			Speak: func(context.Context, abi.Scene) abi.Line {
				time.Sleep(9 * time.Second)
				return abi.Line{Text: "こんにちは。元気ですか? Fine, I hope!"}
			},
		})
		settle()
		for _, usage := range []bool{false, true} {
			more := []string{`"stream":true`, `"max_tokens":5`, `"tools":[{"type":"function","function":{"name":"x"}}]`, `"tool_choice":"auto"`}
			if usage {
				more = append(more, `"stream_options":{"include_usage":true}`)
			}
			r := h.ask("POST", completions, list("aya", fmt.Sprint("u:hello ", usage), more...))
			if ct := r.Header.Get("Content-Type"); r.Status != 200 || !strings.HasPrefix(ct, "text/event-stream") || r.Header.Get("Cache-Control") != "no-store" {
				t.Fatalf("%d %s %s", r.Status, ct, r.Raw)
			}
			all, text, ends := events(r.Raw), []string{}, 0
			if all[len(all)-1] != "[DONE]" {
				t.Errorf("%q", all)
			}
			for i, data := range all[:len(all)-1] {
				var c reply
				if err := json.Unmarshal([]byte(data), &c); err != nil || c.Object != "chat.completion.chunk" || c.Model != "aya" || c.ID == "" {
					t.Fatalf("%s %v", data, err)
				}
				if last := i == len(all)-2; last && usage {
					if len(c.Choices) != 0 || c.Usage == nil || *c.Usage.Total != 0 {
						t.Errorf("usage: %s", data)
					}
					continue
				}
				if strings.Contains(data, `"usage":null`) != usage {
					t.Errorf("usage: %s", data)
				}
				d := c.Choices[0]
				if (d.Delta.Role != nil) != (i == 0) {
					t.Errorf("role: %s", data)
				}
				if d.Delta.Content != nil && i > 0 {
					text = append(text, *d.Delta.Content)
				}
				if d.FinishReason != nil {
					if ends++; *d.FinishReason != "stop" || c.X == nil || c.X.From != "aya" || c.X.None != "" {
						t.Errorf("the end: %s", data)
					}
				}
			}
			if ends != 1 || !slices.Equal(text, []string{"こんにちは。", "元気ですか?", " Fine, I hope!"}) {
				t.Errorf("%q, %d ends", text, ends)
			}
		}
	})
}

// reciter says a line in pieces, one every three seconds.
type reciter struct {
	doortest.Actor
	h      *house
	pieces []string
}

func (r *reciter) Call(ctx context.Context, req abi.Request) (json.RawMessage, error) {
	if req.Op != abi.OpSpeak {
		return r.Actor.Call(ctx, req)
	}
	for _, p := range r.pieces {
		if err := r.h.home.Segment(ctx, "main", req.Self, req.ID, abi.SayAsk{Text: p}); err != nil {
			return nil, err
		}
		time.Sleep(3 * time.Second)
	}
	return json.Marshal(abi.Line{Text: strings.Join(r.pieces, "")})
}

// A piece is with the client while the next is made. A line goes on for longer than its
// first words may take.
func TestALineInPieces(t *testing.T) {
	for _, n := range []int{3, 20} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			together(t, func(t *testing.T, h *house) {
				var pieces []string
				for i := range n {
					pieces = append(pieces, fmt.Sprintf(" Piece %d.", i))
				}
				speaks := func(abi.Scene) abi.Vote { return abi.Vote{State: abi.Speak, Importance: 5} }
				h.main.Play("aya", &reciter{doortest.Actor{Vote: speaks, Speak: func(context.Context, abi.Scene) abi.Line { return abi.Line{} }}, h, pieces})
				settle()
				start := time.Now()
				w := &timed{start: start, h: http.Header{}}
				h.handler.ServeHTTP(w, h.request("POST", completions, list("aya", "u:hello", `"stream":true`)))
				all, at := events(w.body.String()), 0
				for _, data := range all[:len(all)-1] {
					var c reply
					if err := json.Unmarshal([]byte(data), &c); err != nil {
						t.Fatal(err)
					}
					if d := c.Choices[0].Delta.Content; d != nil && *d != "" {
						if *d != pieces[at] || w.at[pieces[at]] > time.Duration(at*3+1)*time.Second {
							t.Fatalf("piece %d is %q after %v", at, *d, w.at[*d])
						}
						at++
					}
					if c.X != nil && (c.X.Cut != "" || c.X.None != "" || c.X.From != "aya") {
						t.Errorf("%+v", c.X)
					}
				}
				if at != n {
					t.Errorf("%d pieces", at)
				}
			})
		})
	}
}

// timed notes when each piece came.
type timed struct {
	start time.Time
	h     http.Header
	body  strings.Builder
	at    map[string]time.Duration
}

func (w *timed) Header() http.Header { return w.h }
func (w *timed) WriteHeader(int)     {}
func (w *timed) FlushError() error   { return nil }
func (w *timed) Write(b []byte) (int, error) {
	if w.at == nil {
		w.at = map[string]time.Duration{}
	}
	if _, rest, ok := strings.Cut(string(b), `"content":"`); ok {
		piece, _, _ := strings.Cut(rest, `"`)
		w.at[piece] = time.Since(w.start)
	}
	return w.body.Write(b)
}

func TestStreamShowsThatItIsThere(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		ponder(h.main, "aya")
		ponder(h.main, "kyoko")
		r := h.ask("POST", completions, list("room/main", "u:hello", `"stream":true`))
		if n := strings.Count(r.Raw, ": still here\n\n"); n != 5 {
			t.Errorf("%d signs of life: %s", n, r.Raw)
		}
	})
}

// A client that is gone is not waited for, and does not count as one that waits.
func TestAClientThatIsGone(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		h.main.Leave("aya")
		h.main.Leave("kyoko")
		for range 3 {
			for _, stream := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				r := h.request("POST", completions, list("room/main", "u:hello", fmt.Sprintf(`"stream":%v`, stream)))
				h.handler.ServeHTTP(nowhere{http.Header{}}, r.WithContext(ctx))
				settle()
				if n := h.main.Followers(); n > 0 {
					t.Fatalf("%d follow the room", n)
				}
			}
		}
	})
}

// nowhere is a client that reads nothing and whose connection says so late.
type nowhere struct{ h http.Header }

func (n nowhere) Header() http.Header         { return n.h }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) FlushError() error           { return nil }

// One caller has a share of those who may wait, and is told when to come again; so is
// whoever comes when all wait.
func TestTooManyWait(t *testing.T) {
	together(t, func(t *testing.T, h *house) {
		ponder(h.main, "aya")
		ponder(h.main, "kyoko")
		var all sync.WaitGroup
		wait := func(n int, from string) {
			all.Go(func() { h.ask("POST", completions, list("room/main", fmt.Sprint("u:hello ", n)), from) })
			settle()
		}
		refused := func(status int, code, from, after string) {
			t.Helper()
			r := h.ask("POST", completions, list("room/main", "u:one more"), from)
			if r.Status != status || r.Error == nil || r.Error.Code != code || r.Header.Get("Retry-After") != after {
				t.Errorf("%d %v %s", r.Status, r.Header, r.Raw)
			}
		}
		for n := range 3 {
			wait(n, "from=192.0.2.1:9")
		}
		refused(429, "exhausted", "from=192.0.2.1:9", "52") // three seconds of 55 have passed
		wait(3, "from=192.0.2.2:9")
		refused(503, "unavailable", "from=192.0.2.3:9", "51")
		if got := said(h.main); len(got) != 4 {
			t.Errorf("said %q", got)
		}
		all.Wait()
		if r := h.ask("POST", completions, list("den", "u:hello")); r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	})
}

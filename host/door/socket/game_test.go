package socket_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/socket"
	"github.com/companiond/companiond/host/door/socket/neuro"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/force"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/rooms"
)

// strict is a server's frame as the protocol has it, and nothing else: fields that are not there
// in the specification, or have another type, are errors.
func strict(frame string) (command string, data map[string]any, err error) {
	read := func(raw []byte, into any) error {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("%s: %w", frame, err)
		}
		return nil
	}
	var e struct {
		Command string          `json:"command"`
		Data    json.RawMessage `json:"data"`
	}
	if err := read([]byte(frame), &e); err != nil {
		return "", nil, err
	}
	switch e.Command {
	case "actions/reregister_all", "companiond/diagnostic":
		if (e.Data == nil) != (e.Command == "actions/reregister_all") {
			err = fmt.Errorf("%s: has data, or none", frame)
		}
	case "startup":
		var v struct {
			Session *struct{ SessionID, CharacterID, DisplayName *string }
		}
		if err = read(e.Data, &v); err == nil && (v.Session == nil || v.Session.SessionID == nil || v.Session.CharacterID == nil || v.Session.DisplayName == nil || *v.Session.SessionID == "") {
			err = fmt.Errorf("%s: a field is missing", frame)
		}
	case "action":
		var v struct{ ID, Name, Data *string }
		if err = read(e.Data, &v); err == nil && (v.ID == nil || v.Name == nil || *v.ID == "" || *v.Name == "") {
			err = fmt.Errorf("%s: a field is missing", frame)
		}
		if err == nil && v.Data != nil {
			err = read([]byte(*v.Data), new(map[string]any))
		}
	case "speech_finished":
		var v struct {
			IsFinal, Cancelled *bool
			Reason             *string
		}
		if err = read(e.Data, &v); err == nil && (v.IsFinal == nil || v.Cancelled == nil) {
			err = fmt.Errorf("%s: a field is missing", frame)
		}
	default:
		err = fmt.Errorf("%s: there is no such command", frame)
	}
	_ = json.Unmarshal(e.Data, &data) // it was read above
	return e.Command, data, err
}

// arcade is the door with nikoni, who does in a force what a test says.
type arcade struct {
	*bodies
	told []string    // what is to be judged
	log  logtest.Log // of the games

	mu    sync.Mutex
	plays []string // of each asking, an action with its parameters; "" for none
	asked []abi.Perceiving
}

const playSchema = `{"type":"object","properties":{"cell":{"enum":["a1","b2"]}},"required":["cell"]}`

func onArcade(t *testing.T, f func(s *arcade)) {
	s := &arcade{}
	games := func(c *socket.Config) {
		n := 0
		c.Games = neuro.Config{
			Log:   s.log.Logger(),
			NewID: func() string { n++; return fmt.Sprint("session", n) },
			Plays: func(_, action string) bool { return action == "wave" },
			Tell: func(_ context.Context, companion string, p abi.Percept) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.told = append(s.told, companion+" "+p.Game+" "+string(p.Body))
				return nil
			},
		}
	}
	onBodies(t, games, func(b *bodies) {
		s.bodies = b
		b.room.Play("nikoni", &doortest.Actor{Can: []string{"wave", "move"}, Perceive: s.perceive})
		synctest.Wait()
		f(s)
	})
}

// perceive plays what is next.
func (s *arcade) perceive(p abi.Perceiving) abi.Judgement {
	s.mu.Lock()
	s.asked = append(s.asked, p)
	var play string
	if len(s.plays) > 0 {
		play, s.plays = s.plays[0], s.plays[1:]
	}
	s.mu.Unlock()
	if name, parameters, _ := strings.Cut(play, " "); name != "" {
		if _, err := s.room.Act(context.Background(), "nikoni", rooms.Player{}, abi.ActionAsk{Action: name, Parameters: json.RawMessage(parameters)}); err != nil {
			return abi.Judgement{State: abi.Listen, Reason: err.Error()}
		}
	}
	return abi.Judgement{State: abi.Listen}
}

// next says what is played when she is asked.
func (s *arcade) next(plays ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = append(s.plays, plays...)
}

func (s *arcade) askings() []abi.Perceiving {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// game is a client of the Neuro SDK.
type arcadeGame struct {
	s    *arcade
	c    *websocket.Conn
	name string
}

func (s *arcade) game(name, query string) *arcadeGame {
	s.Helper()
	return &arcadeGame{s, s.dial("/neuro/nikoni"+query, "taro act"), name}
}

// says sends a command.
func (g *arcadeGame) says(command, data string) {
	g.s.Helper()
	if data != "" {
		data = `,"data":` + data
	}
	g.s.send(g.c, fmt.Sprintf(`{"command":%q,"game":%q%s}`, command, g.name, data))
}

// gets reads a frame that the strict schema takes.
func (g *arcadeGame) gets(command string) map[string]any {
	g.s.Helper()
	got, data, err := strict(g.s.frame(g.c))
	if err != nil || got != command {
		g.s.Fatalf("%s %v, %v; want %s", got, data, err, command)
	}
	return data
}

// faults reads diagnostics.
func (g *arcadeGame) faults(rules ...force.Rule) {
	g.s.Helper()
	for _, want := range rules {
		if data := g.gets("companiond/diagnostic"); data["rule"] != string(want) || data["message"] == "" {
			g.s.Errorf("diagnosed %v, want %s", data, want)
		}
	}
}

// starts starts a game that offers actions; the one called play has parameters.
func (g *arcadeGame) starts(names ...string) {
	g.s.Helper()
	g.says("startup", "")
	g.gets("startup")
	g.offers(names...)
}

func (g *arcadeGame) offers(names ...string) {
	g.s.Helper()
	var all []string
	for _, n := range names {
		schema := ""
		if n == "play" {
			schema = `,"schema":` + playSchema
		}
		all = append(all, fmt.Sprintf(`{"name":%q,"description":"does %s"%s}`, n, n, schema))
	}
	g.says("actions/register", `{"actions":[`+strings.Join(all, ",")+`]}`)
	synctest.Wait()
}

func (g *arcadeGame) forces(names string) {
	g.s.Helper()
	g.says("actions/force", `{"state":"## Board","query":"Your turn.","ephemeral_context":true,"action_names":[`+names+`]}`)
}

func (g *arcadeGame) result(id any, ok bool, message string) {
	g.s.Helper()
	g.says("action/result", fmt.Sprintf(`{"id":%q,"success":%v,"message":%q}`, id, ok, message))
	synctest.Wait()
}

// TestGame is a whole game: startup, register, force, an action that fails, the retry, success,
// and the end.
func TestGame(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("Tic Tac Toe", "")
		g.says("startup", "")
		if got := s.frame(g.c); got != `{"command":"startup","data":{"session":{"sessionId":"session1","characterId":"nikoni","displayName":"nikoni"}}}` {
			t.Errorf("startup is answered %s", got)
		}
		g.offers("play", "pass")
		s.next(`play {"cell":"a1"}`, "pass")
		g.says("actions/force", `{"state":"## Board","query":"Your turn.","priority":"high","action_names":["play","pass"]}`)
		id := g.gets("action")
		if id["name"] != "play" || id["data"] != `{"cell":"a1"}` {
			t.Errorf("she plays %v", id)
		}
		g.result(id["id"], false, "a1 is taken")
		again := g.gets("action")
		if _, has := again["data"]; again["name"] != "pass" || has {
			t.Errorf("then she plays %v", again)
		}
		g.result(again["id"], true, "")
		asked := s.askings()
		if len(asked) != 2 {
			t.Fatalf("she is asked %d times", len(asked))
		}
		f := asked[1].Perception.Force
		if p := asked[0].Perception; p.Game != "Tic Tac Toe" || p.From != "taro" || string(p.Body) != `{"query":"Your turn.","state":"## Board"}` || p.Force.Priority != "high" || p.Force.Try != 1 || p.Force.Ephemeral {
			t.Errorf("first %+v %+v", p, p.Force)
		}
		if f.Try != 2 || f.Failed != "a1 is taken" || !slices.Equal(f.Actions, []string{"play", "pass"}) || len(asked[1].Offers) != 2 {
			t.Errorf("then %+v, offered %+v", f, asked[1].Offers)
		}
		done := results(s.room)
		if len(done) != 2 || done[0].OK || done[0].Reason != "a1 is taken" || done[0].Action != "play" || !done[1].OK || done[1].By != "taro" {
			t.Errorf("results: %+v", done)
		}
		g.says("actions/unregister", `{"action_names":["play","pass","fly"]}`)
		g.forces(`"play"`)
		s.quiet(g.c)
		if n := len(s.askings()); n != 2 {
			t.Errorf("asked for what is not registered: %d", n)
		}
	})
}

// TestGameThatComesBack: the SDKs say once a process that they start. One that does not is asked
// to offer its actions anew, once, and has the names that it had on the connection before.
func TestGameThatComesBack(t *testing.T) {
	onArcade(t, func(s *arcade) {
		old := s.game("chess", "")
		old.starts("play")
		s.quiet(old.c) // whoever starts is not asked
		g := s.game("chess", "")
		begun := time.Now()
		g.gets("actions/reregister_all")
		if d := time.Since(begun); d != time.Second {
			t.Errorf("asked after %v", d)
		}
		g.offers("play")
		s.next(`play {"cell":"b2"}`)
		g.forces(`"play"`)
		if a := g.gets("action"); a["name"] != "play" {
			t.Errorf("it gets %v", a)
		}
		s.quiet(g.c)
		never := s.game("go", "?reregister=0")
		s.quiet(never.c)
	})
}

// TestTwoGames: the first has the name, and each gets its own actions alone; no body of the card's
// gets them.
func TestTwoGames(t *testing.T) {
	onArcade(t, func(s *arcade) {
		body := s.body("nikoni", "", "taro act")
		a, b := s.game("chess", ""), s.game("maze", "?diagnostics=1")
		a.starts("play", "pass")
		b.starts()
		b.faults(force.RegisterEmpty)
		b.offers("play", "jump", "wave", "speak", "jump")
		b.faults(force.RegisterConflict, force.RegisterConflict, force.RegisterName, force.RegisterAgain)
		s.next("jump", `play {"cell":"a1"}`)
		b.forces(`"jump","play"`)
		b.faults(force.ForceSome)
		jump := b.gets("action")
		if jump["name"] != "jump" {
			t.Errorf("maze gets %v", jump)
		}
		b.result(jump["id"], true, "")
		a.forces(`"play"`)
		play := a.gets("action")
		b.result(play["id"], true, "") // is none of its
		b.faults(force.ResultUnknown)
		if n := len(results(s.room)); n != 1 {
			t.Errorf("%d results", n)
		}
		a.result(play["id"], true, "")
		if n := len(results(s.room)); n != 2 {
			t.Errorf("%d results", n)
		}
		s.moves("nikoni") // of the card
		if got := s.frame(body); !strings.Contains(got, `"action":"move"`) {
			t.Errorf("the body gets %s", got)
		}
		s.quiet(body)
		s.quiet(a.c)
		_ = a.c.Close()
		synctest.Wait()
		b = s.game("maze", "?diagnostics=1")
		b.starts("play")
		s.next(`play {"cell":"b2"}`)
		b.forces(`"play"`)
		if got := b.gets("action"); got["name"] != "play" {
			t.Errorf("the name that is free again: %v", got)
		}
	})
}

// TestContextOfGames: silent or to be judged; while a result is to come it waits behind it.
func TestContextOfGames(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "")
		g.starts("pass")
		s.next("pass")
		g.forces(`"pass"`)
		id := g.gets("action")["id"]
		g.says("context", `{"message":"judge this","silent":false}`)
		g.says("context", `{"message":"know this","silent":true}`)
		synctest.Wait()
		contexts := func() (all []string) {
			for _, e := range s.room.Journal() {
				var p entry.Perceived
				if e.Kind == entry.KindPerceived && json.Unmarshal(e.Body, &p) == nil && p.Title == "context" {
					all = append(all, string(p.Body))
				}
			}
			return all
		}
		if len(s.told)+len(contexts()) > 0 {
			t.Errorf("told before the result: %q, %q", s.told, contexts())
		}
		g.result(id, true, "")
		if want := []string{`nikoni chess "judge this"`}; !slices.Equal(s.told, want) || !slices.Equal(contexts(), []string{`"know this"`}) {
			t.Errorf("told %q, noted %q", s.told, contexts())
		}
	})
}

// TestGameThatDoesNotAnswer: after twenty seconds its action has failed, and she is told; one that
// leaves has failed at once.
func TestGameThatDoesNotAnswer(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "?diagnostics=1")
		g.starts("pass")
		s.next("pass", "pass")
		g.forces(`"pass"`)
		id, begun := g.gets("action")["id"], time.Now()
		g.faults(force.ResultMissing, force.ForceFailed)
		if d := time.Since(begun); d != force.ResultTime {
			t.Errorf("failed after %v", d)
		}
		second := g.gets("action")["id"]
		g.result(id, true, "")
		g.faults(force.ResultLate)
		if d := results(s.room); len(d) != 1 || d[0].OK || !strings.Contains(d[0].Reason, "20s") {
			t.Errorf("results: %+v", d)
		}
		_ = g.c.Close()
		synctest.Wait()
		time.Sleep(time.Second)
		if d := results(s.room); len(d) != 2 || d[1].OK || d[1].ID != second || !strings.Contains(d[1].Reason, "left") {
			t.Errorf("results: %+v", d)
		}
	})
}

// TestCompanionThatDoesNothing is asked again, and at last given up.
func TestCompanionThatDoesNothing(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "?diagnostics=1")
		g.starts("pass", "jump")
		s.next("", "jump", "wave")
		g.forces(`"pass"`)
		g.faults(force.ForceSilence)
		g.result(g.gets("action")["id"], false, "not now")
		g.faults(force.ForceSilence, force.ForceSilence, force.ForceGivenUp)
		s.quiet(g.c)
		if n := len(s.askings()); n != force.MaxTries {
			t.Errorf("she is asked %d times", n)
		}
	})
}

// TestDiagnostics: each rule that a message may break has its name, told to whoever asks for it.
func TestDiagnostics(t *testing.T) {
	onArcade(t, func(s *arcade) {
		g := s.game("chess", "?diagnostics=1")
		for _, c := range []struct {
			command, data string
			rules         []force.Rule
		}{
			{"context", `{"message":"hello","silent":true}`, []force.Rule{force.StartupMissing}},
			{"context", `{"message":"","silent":true}`, []force.Rule{force.ContextEmpty}},
			{"actions/register", `{"actions":[]}`, []force.Rule{force.RegisterEmpty}},
			{"actions/register", `{"actions":[{"name":"a b"}]}`, []force.Rule{force.RegisterName}},
			{"actions/register", `{"actions":[{"name":"far","schema":{"$ref":"http://example.com"}}]}`, []force.Rule{force.RegisterSchema}},
			{"actions/register", `{"actions":[{"name":"go","schema":{"properties":{"x":{"oneOf":[{"type":"string"}]}}}}]}`, []force.Rule{force.RegisterWord}},
			{"actions/register", `{"actions":[{"name":"go"}]}`, []force.Rule{force.RegisterAgain}},
			{"actions/unregister", `{"action_names":["fly"]}`, []force.Rule{force.UnregisterUnknown}},
			{"actions/force", `{"query":"q","action_names":[]}`, []force.Rule{force.ForceEmpty}},
			{"actions/force", `{"query":"q","action_names":["fly"]}`, []force.Rule{force.ForceUnknown}},
			{"action/result", `{"id":"none","success":true}`, []force.Rule{force.ResultUnknown}},
			{"dance", ``, []force.Rule{force.MessageCommand}},
			{"context", `{"message":7}`, []force.Rule{force.MessageField}},
		} {
			g.says(c.command, c.data)
			g.faults(c.rules...)
		}
		s.send(g.c, "rubbish")
		g.faults(force.MessageRubbish)
		s.send(g.c, `{"command":"context","data":{"message":"x","silent":true}}`)
		g.faults(force.MessageGame)
		s.send(g.c, `{"command":"context","game":"go","data":{"message":"x","silent":true}}`)
		g.faults(force.MessageGame)
		if err := g.c.WriteMessage(websocket.BinaryMessage, []byte(`{"command":"startup","game":"chess"}`)); err != nil {
			t.Fatal(err)
		}
		g.gets("startup")
		g.says("startup", "")
		g.faults(force.StartupAgain)
		g.gets("startup")
		other := s.game("chess", "")
		g.offers("pass")
		other.says("startup", "")
		g.faults(force.StartupElsewhere)
	})
}

// TestHostileGames: rubbish, floods and silence cost nobody else anything.
func TestHostileGames(t *testing.T) {
	onArcade(t, func(s *arcade) {
		for _, path := range []string{"/neuro/nobody", "/neuro/a%20b", "/neuro/nikoni?diagnostics=x", "/neuro/nikoni?room=side", "/neuro/nikoni?reregister=2"} {
			if _, answer, err := s.try(path, "taro act"); err == nil || answer == nil || answer.StatusCode < 400 || answer.StatusCode >= 500 {
				t.Errorf("%s: %v, %v", path, answer, err)
			}
		}
		s.refused("/neuro/nikoni", "taro read", 403)
		good := s.game("chess", "")
		good.starts("play")
		bad := s.game("bad", "")
		bad.starts("stuck")
		s.next("stuck", `play {"cell":"a1"}`)
		bad.forces(`"stuck"`)
		bad.gets("action") // and never answers
		for i := range 300 {
			switch i % 5 {
			case 0:
				s.send(bad.c, strings.Repeat("{", 1000))
			case 1:
				bad.says("context", `{"message":"`+strings.Repeat("x", 1000)+`"}`)
			case 2:
				bad.forces(`"stuck"`)
			case 3:
				bad.says("action/result", `{"id":"x","success":true}`)
			case 4:
				bad.says("actions/register", fmt.Sprintf(`{"actions":[{"name":"a%d"}]}`, i))
			}
		}
		good.says("actions/force", `{"query":"Your turn.","priority":"high","action_names":["play"]}`)
		play := good.gets("action")
		good.result(play["id"], true, "")
		if d := results(s.room); len(d) == 0 || d[len(d)-1].ID != play["id"] || !d[len(d)-1].OK {
			t.Errorf("the good game's: %+v", d)
		}
		s.send(bad.c, strings.Repeat("x", neuro.MaxMessage+1))
		if code := ended(bad.c); code != websocket.CloseMessageTooBig && code != 0 {
			t.Errorf("too much ends with %d", code)
		}
	})
}

package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/doortest"
	"github.com/companiond/companiond/host/door/mcp/readers"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// The actions of the AI Companion Protocol's sample, and one that is added later.
const (
	moveAction  = `{"title":"move","description":"三次元空間上で座標 (x, y, z) に移動します。","type":"object","properties":{"x":{"type":"number","description":"X 座標"},"y":{"type":"number"},"z":{"type":"number"}},"required":["x","y","z"]}`
	speakAction = `{"title":"speak","description":"ユーザーに向かって言葉を発します。","type":"object","properties":{"message":{"type":"string","description":"発話する内容"}},"required":["message"]}`
	waveAction  = `{"title":"wave","description":"手を振ります。","type":"object","properties":{"hand":{"type":"string","enum":["left","right"]}},"required":["hand"]}`
)

// spec gives a card's file, with white space and characters that an encoder
// would write otherwise.
func spec(name string, actions ...string) string {
	return fmt.Sprintf("{\n\t\"name\":  %q, \"personality\": \"<明るい> & \\u597d奇心旺盛\",\n\t\"actions\": [\n%s]\n}\n", name, strings.Join(actions, ",\n"))
}

// The whole way of the AI Companion Protocol's agent: it reads the spec, plays an action, is told
// when the file is edited, and plays what was added.
func TestAnEditedCardReachesAgents(t *testing.T) {
	for _, era := range []string{sessionEra, modernEra} {
		t.Run(era, func(t *testing.T) {
			s := openShelf(t, false)
			before := spec("ニコニ立体ちゃん", moveAction, speakAction)
			s.save("nikoni", before)
			a, told := s.connect(era)
			if got, err := a.spec("spec://main"); got != before || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if got := a.playable(); !slices.Equal(got, []string{"move", "speak"}) {
				t.Errorf("%v", got)
			}
			a.subscribe("spec://main")
			args := map[string]any{"actionName": "wave", "parameters": map[string]any{"hand": "left"}}
			if got, failed := a.call(playTool, args); !failed || got["code"] != "invalid" {
				t.Errorf("what is not there was played: %v", got)
			}

			after := spec("ニコニ立体ちゃん", moveAction, speakAction, waveAction)
			s.save("nikoni", after)
			seen := []string{told.await(t), told.await(t)}
			if slices.Sort(seen); !slices.Equal(seen, []string{"spec://main", "tools"}) {
				t.Errorf("told of %v", seen)
			}
			told.quiet(t)
			if got, err := a.spec("spec://main"); got != after || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if got := a.playable(); !slices.Equal(got, []string{"move", "speak", "wave"}) {
				t.Errorf("%v", got)
			}
			got, failed := a.call(playTool, args)
			if failed || got["id"] == "" || got["delivered"] != 0.0 || !strings.HasPrefix(got["note"].(string), "no body is connected") {
				t.Errorf("%v", got)
			}
			main, err := s.rooms.Home(t.Context(), "nikoni")
			if err != nil {
				t.Fatal(err)
			}
			_, leave := main.Embody(entry.Body{Who: "nikoni"})
			defer leave()
			args["perception"] = "input"
			got, failed = a.call(playTool, args)
			if keys := slices.Sorted(maps.Keys(got)); failed || got["delivered"] != 1.0 || !slices.Equal(keys, []string{"delivered", "id"}) {
				t.Errorf("%v", got)
			}
			all := s.played()
			if len(all) != 2 {
				t.Fatalf("%+v", all)
			}
			if act := all[1]; act.Who != "nikoni" || act.By != "agent" || act.Action != "wave" ||
				string(act.Parameters) != `{"hand":"left"}` || act.Perception != "input" || act.ID != got["id"] {
				t.Errorf("%+v", act)
			}
		})
	}
}

// Who is told what when companions come and go.
func TestCompanionsComeAndGo(t *testing.T) {
	for _, era := range []string{sessionEra, modernEra} {
		t.Run(era, func(t *testing.T) {
			s := openShelf(t, false)
			a, told := s.connect(era)
			if got, uris := a.playable(), a.uris(); got != nil || len(uris) != 0 {
				t.Errorf("nobody has a card: %v %v", got, uris)
			}
			if _, err := a.spec("spec://main"); err == nil {
				t.Error("nobody's card was read")
			}
			some := func(want ...string) {
				t.Helper()
				var got []string
				for range want {
					got = append(got, told.await(t))
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("told of %v, want %v", got, want)
				}
				told.quiet(t)
			}
			s.save("kyoko", spec("京子", moveAction))
			some("resources", "tools")
			a.subscribe("spec://main")
			a.subscribe("spec://kyoko")
			s.save("kyoko", spec("京子", moveAction)) // the same again
			told.quiet(t)
			s.save("アヤ", spec("アヤ", moveAction)) // later by id: the usual one stays
			some("resources", "tools")           // companion has one more
			s.save("aya", spec("アヤ", moveAction))
			some("resources", "spec://main", "tools")
			if got, want := a.uris(), []string{"spec://%E3%82%A2%E3%83%A4", "spec://aya", "spec://kyoko", "spec://main"}; !slices.Equal(got, want) {
				t.Errorf("%v", got)
			}
			s.remove("kyoko")
			some("resources", "spec://kyoko", "tools")
			if _, err := a.spec("spec://kyoko"); err == nil {
				t.Error("was read after it went")
			}
			s.save("kyoko", spec("京子", moveAction))
			some("resources", "spec://kyoko", "tools")
			for _, id := range []string{"kyoko", "aya", "アヤ"} {
				s.remove(id)
			}
			for told.await(t) != "tools" { // in whatever order
			}
			if got, uris := a.playable(), a.uris(); got != nil || len(uris) != 0 {
				t.Errorf("all have gone: %v %v", got, uris)
			}
		})
	}
}

func TestCardsByTheirURIs(t *testing.T) {
	s := openShelf(t, false)
	s.save("アヤ", spec("アヤ"))
	s.save("main", spec("Main"))
	s.save("aya", spec("Aya"))
	a, _ := s.connect(sessionEra)
	for uri, want := range map[string]string{"spec://main": "Main", "spec://aya": "Aya", "spec://%E3%82%A2%E3%83%A4": "アヤ", "spec://%61ya": "Aya"} {
		if got, err := a.spec(uri); err != nil || got != spec(want) {
			t.Errorf("%s: %q %v", uri, got, err)
		}
	}
	for _, uri := range []string{"spec://nobody", "spec://", "spec://aya/", "spec://%", "spec:aya", "spec://../aya"} {
		if got, err := a.spec(uri); err == nil || !strings.Contains(err.Error(), "esource not found") {
			t.Errorf("%s: %q %v", uri, got, err)
		}
	}
	// Only what is told of can be subscribed to.
	for _, uri := range []string{"spec://nobody", "spec://%61ya", "spec://"} {
		if err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s was subscribed to", uri)
		}
	}
	templates, err := a.session.ListResourceTemplates(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(templates.ResourceTemplates, func(r *sdk.ResourceTemplate) bool { return r.URITemplate == "spec://{companion}" }) {
		t.Errorf("%v %v", templates, err)
	}
	res, err := a.session.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "spec://{companion}"}, Argument: sdk.CompleteParamsArgument{Name: "companion", Value: "a"},
	})
	if err != nil || !slices.Equal(res.Completion.Values, []string{"aya"}) {
		t.Errorf("%v %v", res, err)
	}
	if got := a.playable(); got != nil {
		t.Errorf("no card has actions: %v", got)
	}
}

// A door that was not told of cards is as it was.
func TestHouseWithoutCards(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	h.door.CardsChanged()
	a := h.connect(nil)
	if got, uris := a.playable(), a.uris(); got != nil || len(uris) != 0 {
		t.Errorf("%v %v", got, uris)
	}
	if _, err := a.spec("spec://main"); err == nil {
		t.Error("it was read")
	}
}

func TestActionMistakes(t *testing.T) {
	s := openShelf(t, false)
	s.save("nikoni", spec("ニコニ", moveAction, speakAction, `{"title":"bow","type":"object"}`))
	s.save(drifter, spec("旅人", waveAction)) // the first by id, and in no room
	a, _ := s.connect(sessionEra)
	here := func(args map[string]any) map[string]any { args["companion"] = "nikoni"; return args }
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{here(map[string]any{"actionName": "move", "parameters": map[string]any{"x": "1", "y": 2, "z": 3}}), "invalid: parameters.x: is a string, must be a number"},
		{here(map[string]any{"actionName": "fly", "parameters": map[string]any{}}), `invalid: action: nikoni has no "fly"`},
		{here(map[string]any{"parameters": map[string]any{}}), "invalid: actionName: is missing"},
		{here(map[string]any{"actionName": 1}), "invalid: actionName: must be a text, not number"},
		{here(map[string]any{"actionName": "move", "params": 1}), "invalid: params: there is no such argument"},
		{map[string]any{"actionName": "move", "companion": "nobody"}, `not_found: companion: there is no "nobody" with a card`},
		{map[string]any{"actionName": "wave", "parameters": map[string]any{"hand": "left"}}, `invalid: action: nikoni has no "wave"`},
		{map[string]any{"actionName": "wave", "companion": drifter, "parameters": map[string]any{"hand": "left"}}, `not_found: companion: "drifter" lives in no room; write it into companions of one, or home under [companion.drifter]`},
	} {
		res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: playTool, Arguments: c.args})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*sdk.TextContent).Text; !res.IsError || got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	if acts := s.played(); len(acts) != 0 {
		t.Errorf("%+v", acts)
	}
	for _, none := range []string{``, `,"parameters":null`, `,"parameters":{}`} { // what takes nothing may be given nothing
		args := json.RawMessage(`{"actionName":"bow","companion":"nikoni"` + none + `}`)
		if res, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: playTool, Arguments: args}); err != nil || res.IsError {
			t.Errorf("%s: %v %v", none, res, err)
		}
	}
	s.journal.Fail(abi.Errorf(abi.CodeUnavailable, "the disk is full"))
	if got, failed := a.call(playTool, here(map[string]any{"actionName": "speak", "parameters": map[string]any{"message": "やあ"}})); !failed || got["retry"] != true {
		t.Errorf("%v", got)
	}
}

// Words that are played are a wish for the floor, and are said when it is free.
func TestPlayedWordsAreSaid(t *testing.T) {
	s := openShelf(t, false)
	s.save("nikoni", spec("ニコニ", speakAction))
	a, _ := s.connect(sessionEra)
	got, failed := a.call(playTool, map[string]any{"actionName": "speak", "parameters": map[string]any{"message": "やあ"}})
	if note, _ := got["note"].(string); failed || got["wish"] == nil || !strings.HasPrefix(note, "the line waits for the floor") {
		t.Fatalf("%v", got)
	}
	waittest.Until(t, "the line is said", func() bool {
		past := a.history(usualRoom).Messages
		return len(past) == 1 && past[0].From == "nikoni" && past[0].Text == "やあ"
	})
	if acts := s.played(); len(acts) != 0 {
		t.Errorf("%+v", acts)
	}
}

// A companion is there for the tool and gone for the call: the call says so.
func TestThereIsNobodyToPlay(t *testing.T) {
	s := openShelf(t, false)
	if _, err := s.door.play(t.Context(), call{}, playIn{Action: "move"}); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), "none has a card") {
		t.Errorf("%v", err)
	}
}

func holder(name string, scopes ...identity.Scope) identity.Caller {
	return identity.Caller{Name: name, Kind: abi.KindAgent, Scopes: scopes}
}

// Cards are for who may read, actions for who may act; who acts is known by its
// token.
func TestScopesOfCards(t *testing.T) {
	s := openShelf(t, false)
	s.save("nikoni", spec("ニコニ", waveAction))
	args := map[string]any{"actionName": "wave", "parameters": map[string]any{"hand": "left"}}
	for _, c := range []struct {
		caller      identity.Caller
		reads, acts bool
	}{
		{holder("bot", identity.Read, identity.Act), true, true},
		{holder("bot", identity.Read, identity.Talk), true, false},
		{holder("bot", identity.Act), false, true},
		{holder("bot"), false, false},
	} {
		for _, era := range []string{sessionEra, modernEra} {
			s.from(c.caller)
			a, _ := s.connect(era)
			if _, err := a.spec("spec://main"); (err == nil) != c.reads {
				t.Errorf("%v: read: %v", c.caller.Scopes, err)
			}
			got, failed := a.call(playTool, args)
			if failed == c.acts || failed && got["code"] != "denied" {
				t.Errorf("%v: played: %v", c.caller.Scopes, got)
			}
		}
	}
	acts := s.played()
	if len(acts) != 4 { // two may, and each came twice
		t.Errorf("%d actions", len(acts))
	}
	for _, act := range acts {
		if act.By != "bot" {
			t.Errorf("%+v", act)
		}
	}
}

// speak plays the action speak; ok is false where it is refused, and text says why.
func (a *agent) speak(companion string) (text string, ok bool) {
	a.t.Helper()
	args := map[string]any{"actionName": "speak", "parameters": map[string]any{"message": "やあ"}}
	if companion != "" {
		args["companion"] = companion
	}
	got, failed := a.call(playTool, args)
	text, _ = got["message"].(string)
	return text, !failed
}

// Where the house wants it, nobody plays what it has not read: a
// session, or a token's holder, of each companion.
func TestSpecIsReadFirst(t *testing.T) {
	s := openShelf(t, true)
	s.save("nikoni", spec("ニコニ", speakAction))
	s.save("zaya", spec("アヤ", speakAction))
	read := func(a *agent, uri string) {
		t.Helper()
		if _, err := a.spec(uri); err != nil {
			t.Fatal(err)
		}
	}
	one, _ := s.connect(sessionEra)
	two, _ := s.connect(sessionEra)
	if text, ok := one.speak(""); ok || text != "spec: read spec://nikoni first" {
		t.Errorf("%s", text)
	}
	read(one, "spec://main")
	for _, companion := range []string{"", "nikoni"} {
		if text, ok := one.speak(companion); !ok {
			t.Errorf("who has read it: %s", text)
		}
	}
	if text, ok := one.speak("zaya"); ok || text != "spec: read spec://zaya first" {
		t.Errorf("another's card was not read: %s", text)
	}
	if text, ok := two.speak(""); ok {
		t.Errorf("another session has not read it: %s", text)
	}
	read(two, "spec://zaya")
	if text, ok := two.speak("zaya"); !ok {
		t.Errorf("%s", text)
	}
	guest, _ := s.connect(modernEra)
	read(guest, "spec://main")
	if text, ok := guest.speak(""); ok || !strings.Contains(text, "without a session or a token") {
		t.Errorf("nobody knows what a guest has read: %s", text)
	}
	s.from(holder("bot", identity.Read, identity.Act))
	bot, _ := s.connect(modernEra)
	if _, ok := bot.speak(""); ok {
		t.Error("bot has not read it")
	}
	read(bot, "spec://main")
	again, _ := s.connect(modernEra)
	if text, ok := again.speak(""); !ok {
		t.Errorf("bot has read it: %s", text)
	}
	s.from(holder("other", identity.Read, identity.Act))
	other, _ := s.connect(modernEra)
	if _, ok := other.speak(""); ok {
		t.Error("another has not")
	}
}

// Who reads cards is remembered in a bounded place, and no reader of a room.
func TestReadersOfCardsDoNotWait(t *testing.T) {
	s := openShelf(t, true)
	s.save("nikoni", spec("ニコニ", speakAction))
	a, _ := s.connect(sessionEra)
	if _, err := a.spec("spec://main"); err != nil {
		t.Fatal(err)
	}
	a.call("status", nil) // which follows the room, and shows nothing of it
	said := func(text string) {
		t.Helper()
		talk, err := s.rooms.Room(t.Context(), usualRoom)
		if err != nil {
			t.Fatal(err)
		}
		m, err := talk.Say(t.Context(), rooms.Utterance{From: "taro", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the door hears of it", func() bool {
			return slices.ContainsFunc(s.door.follows.Said(usualRoom), func(l readers.Line) bool { return l.Seq == m.Seq })
		})
	}
	said("やあ")
	if s.door.Waiting(usualRoom, math.MaxUint64) {
		t.Error("who reads a card is woken for a room")
	}
	a.call("history", nil)
	said("元気?")
	waittest.Until(t, "an agent waits", func() bool { return s.door.Waiting(usualRoom, math.MaxUint64) })
}

// Cards that change while agents come, read and play are always whole.
func TestCardsChangeUnderAgents(t *testing.T) {
	s := openShelf(t, false)
	files := []string{spec("ニコニ", speakAction), spec("ニコニ", speakAction, moveAction)}
	s.save("nikoni", files[0])
	var wg sync.WaitGroup
	for range 4 {
		a, _ := s.connect(sessionEra)
		wg.Go(func() {
			for range 20 {
				if got, err := a.spec("spec://main"); err == nil && !slices.Contains(files, got) {
					t.Errorf("%q", got)
				}
				if got := a.playable(); len(got) < 1 || len(got) > 2 {
					t.Errorf("%v", got)
				}
			}
		})
	}
	for n := range 20 {
		s.save("nikoni", files[n%2])
	}
	wg.Wait()
}

// What people try a server with finds nothing to complain of, and no tool's
// schema is a choice at its root, which the Inspector lets pass and model
// providers do not.
func TestInspectorFindsNothing(t *testing.T) {
	s := openShelf(t, false)
	s.save("nikoni", spec("ニコニ立体ちゃん", moveAction, speakAction))
	s.save("kyoko", spec("京子", strings.Replace(moveAction, "number", "integer", 3), waveAction))
	a, _ := s.connect(sessionEra)
	list, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	objects(t, list.Tools)
	said := doortest.Inspector(t, s.url, "--strict", "--method", "tools/list")
	if !strings.Contains(said, playTool) {
		t.Errorf("%s", said)
	}
}

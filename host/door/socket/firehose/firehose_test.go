package firehose

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
)

// stage is a client at a time.
type stage struct {
	*testing.T
	*Hose
	now time.Time
}

func on(t *testing.T, plays bool) *stage {
	return &stage{t, New(func() []string { return []string{"aya", "kyoko"} }, []byte("key"), true, plays), time.Unix(100, 0)}
}

// says has the client send something, and gives what is made of it and sent.
func (s *stage) says(message string) (session.In, string) {
	s.Helper()
	in, err := s.Decode([]byte(message), s.now)
	var e *abi.Error
	if err != nil {
		e = abi.AsError(err)
	}
	return in, all(s.Answer(in, e, s.now))
}

// tell gives the frames for an event.
func (s *stage) tell(o session.Out) string { return all(s.Encode(o, s.now)) }

func all(frames [][]byte) string {
	var texts []string
	for _, f := range frames {
		texts = append(texts, string(f))
	}
	return strings.Join(texts, "\n")
}

func of(who string) session.Entry { return session.Entry{Seq: 7, Companion: who} }

// piece is a part of the line g of aya's.
func piece(n int, text string, last bool) session.Piece {
	return session.Piece{Entry: of("aya"), ID: "m1", Line: "g", Part: n, Last: last, Text: text, Emotion: emotion.Happy}
}

const spoken = `{"topic":"queries","body":{"jsonrpc":"2.0","id":"g-1","result":{"success":true,"body":{}}}}`

// TestQueries: what companions ask is answered once, and by what was asked alone.
func TestQueries(t *testing.T) {
	s := on(t, false)
	s.tell(session.Action{Entry: of("aya"), ID: "a1", Action: "camera", Due: time.Unix(130, 0)})
	s.tell(session.Action{Entry: of("aya"), ID: "a2", Action: "camera", Due: time.Unix(130, 0)})
	s.tell(session.Action{Entry: of("aya"), ID: "a3", Action: "move"})
	answer := func(id, rest string) session.In {
		in, sent := s.says(`{"topic":"queries","body":{"jsonrpc":"2.0","id":"` + id + `",` + rest + `}}`)
		if sent != "" {
			t.Errorf("answered %s", sent)
		}
		return in
	}
	if in, ok := answer("a1", `"result":{"success":true,"body":{"sees":"a cat"}}`).(session.Result); !ok || in.ID != "a1" || !in.OK || string(in.Answer) != `{"sees":"a cat"}` {
		t.Errorf("%+v", in)
	}
	if in, ok := answer("a2", `"error":"it is dark"`).(session.Result); !ok || in.ID != "a2" || in.OK || in.Reason != "it is dark" || in.Answer != nil {
		t.Errorf("%+v", in)
	}
	for id, passed := range map[string]bool{"a4": true, "g7-1": false, "": false} { // the room knows what was asked on another connection
		if in := answer(id, `"result":{"success":true,"body":{}}`); (in != nil) != passed {
			t.Errorf("%q: %+v", id, in)
		}
	}
	in := session.Result{ID: "a1", OK: true}
	if got := all(s.Answer(in, abi.Field("body.x", abi.CodeInvalid, "lies too deep"), s.now)); !strings.Contains(got, `"path":["body","result","body","x"],"message":"lies too deep"`) && !strings.Contains(got, `"message":"lies too deep","path":["body","result","body","x"]`) {
		t.Errorf("told %s", got)
	}
	if in := answer("a1", `"result":{"success":true,"body":{}}`); in == nil {
		t.Error("an answer that was refused cannot be given again")
	}
	if got := s.Answer(in, abi.Errorf(abi.CodeNotFound, "somebody was first"), s.now); len(got) > 0 {
		t.Errorf("told %s", all(got))
	}
	for range 100 {
		s.tell(session.Action{Entry: of("aya"), ID: "many", Action: "camera", Due: time.Unix(130, 0)})
	}
	if n := len(s.wants); n > maxLines {
		t.Errorf("%d queries are kept", n)
	}
}

// TestFrames: each thing that happens, as a client of aikyo's is told of it.
func TestFrames(t *testing.T) {
	for name, c := range map[string]struct {
		out  session.Out
		want string
	}{
		"a person": {session.Said{Entry: of(""), ID: "id1", From: "taro", By: abi.KindHuman, Text: "Hi."},
			`{"jsonrpc":"2.0","method":"message.send","params":{"id":"id1","from":"taro","to":["aya","kyoko"],"message":"Hi."}}`},
		"to somebody": {session.Said{Entry: of(""), ID: "id1", From: "taro", By: abi.KindHuman, To: []string{"aya"}, Text: "Hi."},
			`{"jsonrpc":"2.0","method":"message.send","params":{"id":"id1","from":"taro","to":["aya"],"message":"Hi."}}`},
		"a message of another client": {session.Said{Entry: of(""), ID: "fh.00000000.0b7e", From: "taro", By: abi.KindHuman, To: []string{"aya"}, Text: "Hi."},
			`{"jsonrpc":"2.0","method":"message.send","params":{"id":"0b7e","from":"taro","to":["aya"],"message":"Hi."}}`},
		"a listener's word": {session.Piece{Entry: of("kyoko"), ID: "m2", Text: "mhm", Emotion: emotion.Neutral},
			`{"jsonrpc":"2.0","method":"message.send","params":{"id":"m2","from":"kyoko","to":["aya"],"message":"mhm","metadata":{"emotion":"neutral"}}}`},
		"an action": {session.Action{Entry: of("aya"), ID: "a1", Action: "move", Parameters: json.RawMessage(`{"x":1}`)},
			`{"jsonrpc":"2.0","method":"action.send","params":{"from":"aya","name":"move","params":{"x":1}}}`},
		"a query": {session.Action{Entry: of("aya"), ID: "a1", Action: "camera", Parameters: json.RawMessage(`{"at":"door"}`), Due: time.Unix(130, 0)},
			`{"jsonrpc":"2.0","method":"query.send","id":"a1","params":{"from":"aya","type":"camera","body":{"at":"door"}}}`},
		"a vote": {session.Vote{Entry: of("aya"), Vote: abi.Vote{State: abi.Speak, Importance: 7, Selected: true}},
			`[{"jsonrpc":"2.0","method":"state.send","params":{"from":"aya","state":"speak","importance":7,"selected":true,"closing":"none"}}]`},
		"a line that nobody is waited for": {piece(1, "Hello.", true), `{"jsonrpc":"2.0","method":"message.send","params":{"id":"m1","from":"aya","to":["kyoko"],"message":"Hello.","metadata":{"emotion":"happy"}}}
{"jsonrpc":"2.0","method":"query.send","id":"g-1","params":{"from":"aya","type":"speak","body":{"message":"Hello.","emotion":"happy"}}}`},
	} {
		if got := on(t, false).tell(c.out); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestALineThatIsSpoken: a query a part, each when the last was answered, and the message behind them.
func TestALineThatIsSpoken(t *testing.T) {
	s := on(t, true)
	if got := s.tell(piece(1, "One.", false)); !strings.Contains(got, `"id":"g-1"`) || strings.Contains(got, "message.send") {
		t.Error(got)
	}
	if got := s.tell(piece(2, " Two.", false)); got != "" {
		t.Errorf("before the first was spoken: %s", got)
	}
	in, got := s.says(spoken)
	if in != (session.Played{Line: "g", Part: 1}) || !strings.Contains(got, `"id":"g-2"`) || !strings.Contains(got, " Two.") {
		t.Errorf("%+v %s", in, got)
	}
	if got := s.tell(session.Whole{Entry: of("aya"), ID: "m1", Text: "One. Two.", Line: "g", Parts: 2, Emotion: emotion.Sad}); got != "" {
		t.Errorf("while it is spoken: %s", got)
	}
	if in, _ := s.says(spoken); in != nil {
		t.Errorf("an answer that nobody waits for: %+v", in)
	}
	if in, _ := s.says(strings.Replace(spoken, "g-1", "g-2", 1)); in != (session.Played{Line: "g", Done: true}) {
		t.Errorf("%+v", in)
	}
	want := `{"jsonrpc":"2.0","method":"message.send","params":{"id":"m1","from":"aya","to":["kyoko"],"message":"One. Two.","metadata":{"emotion":"sad"}}}`
	if got := s.tell(session.Ended{Entry: of("aya"), Line: "g", End: entry.EndSaid}); got != want {
		t.Error(got)
	}
	if len(s.lines) != 0 || !s.Due().IsZero() {
		t.Error("something is left")
	}
}

// TestALineThatIsCut: the message has what was heard; what was not asked for is not spoken; the room is
// told when the sound that goes on has ended.
func TestALineThatIsCut(t *testing.T) {
	for _, ends := range []string{"spoken", "never"} {
		s := on(t, true)
		s.tell(piece(1, "One.", false))
		s.tell(piece(2, " Two.", true))
		want := `{"jsonrpc":"2.0","method":"message.send","params":{"id":"m1","from":"aya","to":["kyoko"],"message":"On","metadata":{"emotion":"happy"}}}`
		if got := s.tell(session.Ended{Entry: of("aya"), Line: "g", End: entry.EndCut, Heard: "On"}); got != want {
			t.Error(got)
		}
		if in := s.Own(); in != nil {
			t.Errorf("while it sounds: %+v", in)
		}
		if ends == "spoken" {
			if in, got := s.says(spoken); in != nil || got != "" {
				t.Errorf("%+v %s", in, got)
			}
			if in := s.Own(); in != (session.Played{Line: "g", Done: true}) {
				t.Errorf("%+v", in)
			}
		}
		s.now = s.now.Add(lingers)
		if s.Late(s.now); len(s.lines) != 0 || !s.Due().IsZero() {
			t.Errorf("%s: something is left", ends)
		}
	}
}

// TestAClientThatSpeaks: one that answers is waited for from then on, without saying so before; one that
// fails says why; and one that never does is asked on.
func TestAClientThatSpeaks(t *testing.T) {
	s := on(t, false)
	s.tell(piece(1, "One.", false))
	s.tell(piece(2, "Two.", false))
	if s.now = s.Due(); !strings.Contains(all(s.Late(s.now)), `"id":"g-2"`) {
		t.Error("the next part does not come")
	}
	if in, _ := s.says(strings.Replace(spoken, "g-1", "g-2", 1)); in != (session.Hello{Plays: true}) || !s.plays {
		t.Errorf("%+v", in)
	}
	s.tell(session.Piece{Entry: of("kyoko"), ID: "m3", Line: "h", Part: 1, Last: true, Text: "Yes."})
	if at := s.Due(); at != s.now.Add(speakPatience) {
		t.Errorf("waits for %v", at.Sub(s.now))
	}
	in, _ := s.says(`{"topic":"queries","body":{"jsonrpc":"2.0","id":"h-1","error":"no voice"}}`)
	if in != (session.Played{Line: "h", Failed: "no voice"}) {
		t.Errorf("%+v", in)
	}
}

// TestWhatAClientSays: what is taken of it, and what is answered.
func TestWhatAClientSays(t *testing.T) {
	issue := func(code, rest string) string {
		return `{"error":{"issues":[{"code":"` + code + `",` + rest + `}],"name":"ZodError"}}`
	}
	hello := `{"topic":"messages","body":{"jsonrpc":"2.0","method":"message.send","params":{"id":"0b7e","from":"user_yamada","to":["aya"],"message":"Hello Aya!"}}}`
	s := on(t, false)
	in, got := s.says(hello)
	input, ok := in.(session.Input)
	if !ok || input.ID != "0b7e" || input.From != "user_yamada" || len(input.To) != 1 || input.Text != "Hello Aya!" || abi.CheckName("id", input.As) != nil || got != "" {
		t.Errorf("%+v %s", in, got)
	}
	if got := s.tell(session.Said{ID: input.As, From: "user_yamada", By: abi.KindHuman, Text: "Hello Aya!"}); got != "" {
		t.Errorf("its own message comes back: %s", got)
	}
	for message, want := range map[string]string{
		`{"topic":`:                     "",
		`{"topic":"weather","body":{}}`: "",
		`[]`:                            issue("invalid_type", `"expected":"object","received":"array","path":[],"message":"Expected object, received array"`),
		`{}`:                            issue("invalid_type", `"expected":"string","received":"undefined","path":["topic"],"message":"Required"},{"code":"invalid_type","expected":"object","received":"undefined","path":["body"],"message":"Required"`),
		`{"topic":"messages","body":{"jsonrpc":"2.0","method":"message.send"}}`: issue("invalid_type", `"expected":"object","received":"undefined","path":["body","params"],"message":"Required"`),
		`{"body":{}}`:                    issue("invalid_type", `"expected":"string","received":"undefined","path":["topic"],"message":"Required"`),
		`{"topic":"messages","body":[]}`: issue("invalid_type", `"expected":"object","received":"array","path":["body"],"message":"Expected object, received array"`),
		`{"topic":"messages","body":{"method":"message.send","params":{"id":"1","from":"t","to":[],"message":"x"}}}`:                                                 issue("invalid_literal", `"expected":"2.0","received":"undefined","path":["body","jsonrpc"],"message":"Invalid literal value, expected \"2.0\""`),
		strings.Replace(hello, `"params"`, `"x":1,"params"`, 1):                                                                                                      issue("unrecognized_keys", `"keys":["x"],"path":["body"],"message":"Unrecognized key(s) in object: 'x'"`),
		strings.Replace(hello, `["aya"]`, `["aya",7]`, 1):                                                                                                            issue("invalid_type", `"expected":"string","received":"number","path":["body","params","to",1],"message":"Expected string, received number"`),
		`{"topic":"queries","body":{"jsonrpc":"2.0","id":"q","result":{"success":1,"body":{}}}}`:                                                                     issue("invalid_type", `"expected":"boolean","received":"number","path":["body","result","success"],"message":"Expected boolean, received number"`),
		`{"topic":"queries","body":{"jsonrpc":"2.0","method":"query.send","id":"q1","params":{"from":"user_yamada","type":"vision"}}}`:                               `{"jsonrpc":"2.0","id":"q1","error":"\"vision\" is asked of nobody here: companions ask, and clients answer"}`,
		`{"topic":"states","body":{"jsonrpc":"2.0","method":"state.send","params":{"from":"aya","state":"speak","importance":10,"selected":true,"closing":"none"}}}`: issue("custom", `"path":["body","params","from"],"message":"companions alone vote, and \"aya\" is not who is connected here; an agent votes over /mcp"`),
		`{"topic":"actions","body":{"jsonrpc":"2.0","method":"action.send","params":{"from":"aya","name":"move","params":{}}}}`:                                      issue("custom", `"path":["body","params","from"],"message":"companions alone play actions, and \"aya\" is not who is connected here; an agent plays them over /mcp"`),
	} {
		if _, got := on(t, false).says(message); got != want {
			t.Errorf("%s\n got %s\nwant %s", message, got, want)
		}
	}
	in, _ = s.Decode([]byte(hello), s.now)
	refused := all(s.Answer(in, abi.AsError(abi.Field("text", abi.CodeTooLarge, "is too long")), s.now))
	if refused != issue("custom", `"path":["body","params","message"],"message":"is too long"`) {
		t.Error(refused)
	}
}

// FuzzHose: whatever a client sends, in whatever state, all that it is sent is JSON; what the room is told
// names a line, and a message has an id that can be one.
func FuzzHose(f *testing.F) {
	f.Add([]byte(spoken), []byte(`{"topic":"messages","body":{"jsonrpc":"2.0","method":"message.send","params":{"id":"1","from":"t","to":[],"message":"x"}}}`))
	f.Add([]byte(`{"topic":"queries","body":{"jsonrpc":"2.0","id":"g-1","error":"あああ"}}`), []byte(`{"topic":"states","body":{}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := on(t, true)
		s.tell(piece(1, "One.", false))
		s.tell(piece(2, "Two.", true))
		for _, message := range [][]byte{one, two, one, two} {
			in, frames := s.says(string(message))
			for frame := range strings.Lines(frames) {
				if !json.Valid([]byte(frame)) {
					t.Fatalf("%s", frame)
				}
			}
			switch in := in.(type) {
			case session.Input:
				if abi.CheckName("id", in.As) != nil {
					t.Fatalf("%+v", in)
				}
			case session.Played:
				if in.Line != "g" || in.Part > 2 || len(in.Failed) > 1000 {
					t.Fatalf("%+v", in)
				}
			}
		}
		s.tell(session.Ended{Entry: of("aya"), Line: "g", End: entry.EndStopped})
		s.now = s.now.Add(time.Hour)
		if s.Late(s.now); len(s.lines) != 0 || !s.Due().IsZero() {
			t.Fatal("something is left")
		}
	})
}

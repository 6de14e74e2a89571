package aituberkit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/entry"
)

// stage is a client in the room main, at a time that the test moves.
type stage struct {
	*testing.T
	f   *Front
	now time.Time
	got []string
}

// secret is the house's key.
var secret = []byte("0123456789abcdef0123456789abcdef")

func on(t *testing.T) *stage {
	s := &stage{T: t, f: New("main", "mika", secret), now: time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)}
	s.sent(s.f.Begin(s.now))
	return s
}

func (s *stage) sent(frames [][]byte) {
	for _, f := range frames {
		s.got = append(s.got, string(f))
	}
}

// says has the client say something that the room takes, or refuses with err.
func (s *stage) says(message string, err error) session.In {
	s.Helper()
	in, wrong := s.f.Decode([]byte(message), s.now)
	if wrong == nil && in != nil {
		wrong = err
	}
	var e *abi.Error
	if wrong != nil {
		e = abi.AsError(wrong)
	}
	s.sent(s.f.Answer(in, e, s.now))
	return in
}

func (s *stage) tell(o session.Out) { s.sent(s.f.Encode(o, s.now)) }

// passes lets time pass, and sends what is due.
func (s *stage) passes(d time.Duration) {
	end := s.now.Add(d)
	for at := s.f.Due(); !at.IsZero() && !at.After(end); at = s.f.Due() {
		if at.After(s.now) {
			s.now = at
		}
		s.sent(s.f.Late(s.now))
	}
	s.now = end
}

// want compares the frames since it was asked last; TIME stands for the time of those.
func (s *stage) want(frames ...string) {
	s.Helper()
	for i, f := range frames {
		frames[i] = strings.ReplaceAll(f, "TIME", s.now.Format(stamp))
	}
	if !slices.Equal(s.got, frames) {
		s.Errorf("frames\n got %s\nwant %s", strings.Join(s.got, "\n     "), strings.Join(frames, "\n     "))
	}
	s.got = nil
}

// types gives the types and texts of the frames since it was asked last.
func (s *stage) types() string {
	var all []string
	for _, f := range s.got {
		var e envelope
		var p plain
		_ = json.Unmarshal([]byte(f), &e)
		if e.Version == "" {
			_ = json.Unmarshal([]byte(f), &p)
			all = append(all, "plain "+p.Type+p.Text)
			continue
		}
		all = append(all, strings.TrimSpace(e.Type+" "+e.RequestID+" "+e.Payload.Text))
	}
	s.got = nil
	return strings.Join(all, "|")
}

func (s *stage) hello() {
	s.says(`{"version":"2","id":"msg_h","type":"session.hello","sessionId":"x","timestamp":"t","payload":{"protocolVersion":"2","capabilities":["ack","character.response.done"]}}`, nil)
	s.got = nil
}

func at(seq uint64) session.Entry { return session.Entry{Seq: seq, Companion: "aya"} }

// once is a line that is said at once.
func once(line, text, answers string) session.Piece {
	return session.Piece{Entry: at(9), ID: "m" + line, Line: line, Part: 1, Last: true, Text: text, Emotion: emotion.Happy, Answers: answers}
}

func end(line string, how entry.End) session.Ended {
	return session.Ended{Entry: at(20), Line: line, End: how, Reason: "why"}
}

const hi = `{"version":"2","id":"msg_b","type":"chat.message","payload":{"text":"hi aya"}}`

// A whole turn in version 2, frame by frame.
func TestVersion2(t *testing.T) {
	s := on(t)
	s.want(`{"version":"2","id":"srv_1","type":"session.ready","sessionId":"main","timestamp":"TIME","payload":{"protocolVersion":"2","capabilities":["chat.message","ping","control.cancel"]}}`)
	s.hello()
	in := s.says(hi, nil)
	if !reflect.DeepEqual(in, session.Input{ID: "msg_b", As: "atk.74f795ca.msg_b", Text: "hi aya"}) {
		t.Errorf("%+v", in)
	}
	s.want(`{"version":"2","id":"srv_2","type":"ack","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{"requestId":"msg_b","type":"chat.message","status":"ok"}}`)
	s.tell(once("g1", "Hello, I am Aya. Who are you?", in.(session.Input).As))
	s.want(
		`{"version":"2","id":"srv_3","type":"chat.start","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{"role":"assistant"}}`,
		`{"version":"2","id":"srv_4","type":"chat.delta","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{"text":"Hello, I am Aya.","role":"assistant","emotion":"happy"}}`,
	)
	word := func(kind, more string) session.In {
		return s.says(`{"version":"2","id":"msg_x","type":"character.`+kind+`","requestId":"msg_b","payload":{"requestId":"msg_b"`+more+`}}`, nil)
	}
	word("message.received", "")
	word("speech.start", `,"speechSegmentId":"1"`)
	s.want()
	if in := word("speech.done", ""); in != (session.Played{Line: "g1", Bytes: len("Hello, I am Aya.")}) {
		t.Errorf("half of a part is played: %+v", in)
	}
	s.want(
		`{"version":"2","id":"srv_5","type":"chat.delta","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{"text":" Who are you?","role":"assistant","emotion":"happy"}}`,
		`{"version":"2","id":"srv_6","type":"chat.done","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{}}`,
	)
	if in := word("speech.done", ""); in != (session.Played{Line: "g1", Part: 1}) {
		t.Errorf("%+v", in)
	}
	if in := word("response.done", `,"speechSegmentCount":2`); in != (session.Played{Line: "g1", Done: true}) {
		t.Errorf("%+v", in)
	}
	s.tell(end("g1", entry.EndSaid))
	s.want()
	if in := word("response.done", ""); in != nil || !s.f.Due().IsZero() {
		t.Errorf("it is over: %+v", in)
	}
}

// A page that connects again says when the sentence is over that it was sent before: by a daemon that is
// gone, of whose lines nothing is known here.
func TestASentenceOfBefore(t *testing.T) {
	over := `{"version":"2","id":"p","type":"character.speech.done","requestId":"line_g9","payload":{}}`
	s := on(t)
	if in := s.says(over, nil); in != nil {
		t.Errorf("before hello: %+v", in)
	}
	if s.hello(); s.says(over, nil) != (session.Played{Done: true}) {
		t.Error("it is told to nobody")
	}
	s.tell(once("g1", "Hello.", ""))
	if in := s.says(over, nil); in != nil {
		t.Errorf("a line has begun since: %+v", in)
	}
}

// The older frames, to a client that says chat first, or nothing.
func TestLegacy(t *testing.T) {
	s := on(t)
	s.got = nil
	s.tell(once("g0", "Welcome!", ""))
	s.want(
		`{"text":"","role":"assistant","emotion":"neutral","type":"start"}`,
		`{"text":"Welcome!","role":"assistant","emotion":"happy","type":""}`,
		`{"text":"","role":"assistant","emotion":"neutral","type":"end"}`,
	)
	s.tell(end("g0", entry.EndSaid))
	in := s.says(`{"content":"hi","type":"chat"}`, nil).(session.Input)
	if in.Text != "hi" || abi.CheckName("id", in.As) != nil || in.As == s.says(`{"content":"hi","type":"chat"}`, nil).(session.Input).As {
		t.Errorf("%+v", in)
	}
	s.want()
	s.tell(once("g1", "Hello.", in.As))
	if got := s.types(); got != "plain start|plain Hello.|plain end" {
		t.Error(got)
	}
	s.says(`{"content":"","type":"chat"}`, abi.Field("text", abi.CodeInvalid, "must not be empty"))
	s.want(`{"text":"text: must not be empty","role":"console","emotion":"neutral","type":"end"}`)
}

// A line that nobody here asked for has a name that is the same for whoever connects anew; one that
// answers what was said before the connection has the name that its client knows.
func TestNamesOfLines(t *testing.T) {
	said := ""
	for range 2 {
		s := on(t)
		s.hello()
		s.tell(once("g7", "Well.", ""))
		if got := s.types(); got != "chat.start line_g7|chat.delta line_g7 Well.|chat.done line_g7" {
			t.Error(got)
		}
		if said != "" {
			s.tell(once("g8", "Yes?", said))
			if got := s.types(); got != "chat.start msg_b|chat.delta msg_b Yes?|chat.done msg_b" {
				t.Error(got)
			}
		}
		said = s.says(hi, nil).(session.Input).As
	}
	s := on(t)
	s.f = New("main", "taro", secret)
	s.hello()
	s.tell(once("g8", "Yes?", said))
	if got := s.types(); got != "chat.start line_g8|chat.delta line_g8 Yes?|chat.done line_g8" {
		t.Error("another's:", got)
	}
	odd := s.says(`{"version":"2","id":"あ/`+strings.Repeat("x", 60)+`","type":"chat.message","payload":{"text":"a"}}`, nil).(session.Input)
	if abi.CheckName("id", odd.As) != nil {
		t.Error(odd.As)
	}
}

// Pieces go out sentence by sentence, whatever they were cut into.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"やあ、", "元気？"}, "やあ、元気？"},
		{[]string{"Hi! I", " am", " Aya. And", " you?"}, "Hi!| I am Aya.| And you?"},
		{[]string{"彼は「やあ。」", "と言った。"}, "彼は「やあ。」と言った。"},
		{[]string{"「やあ。」", "うん。"}, "「やあ。」|うん。"},
		{[]string{"It is 3.", "14. ", "\n", "Yes"}, "It is 3.14.| \nYes"},
		{[]string{"   ", "a"}, "   a"},
		{[]string{"no end", ""}, "no end"},
	} {
		var got []string
		text := ""
		for i, p := range c.pieces {
			s, rest := cut(text+p, len(got) == 0, i == len(c.pieces)-1)
			got, text = append(got, s...), rest
		}
		for i := range got {
			got[i] = strings.TrimRight(got[i], " \n")
		}
		if strings.Join(got, "|") != c.want || text != "" {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}

// Nothing of what goes out is lost or said twice, and parts are told in order and to the end.
func TestPartsOfALine(t *testing.T) {
	s := on(t)
	s.hello()
	for n, text := range []string{"One", " and. Two. Thr", "ee. ", "Four"} {
		s.tell(session.Piece{Entry: at(9), ID: "s", Line: "g", Part: n + 1, Text: text, Emotion: emotion.Neutral})
	}
	s.tell(session.Whole{Entry: at(10), Line: "g", Parts: 4, Emotion: emotion.Sad})
	var parts []int
	for range 5 {
		if in, ok := s.says(`{"version":"2","id":"x","type":"character.speech.done","requestId":"line_g"}`, nil).(session.Played); ok {
			parts = append(parts, in.Part)
		}
	}
	if got := s.types(); got != "chat.start line_g|chat.delta line_g One and.|chat.delta line_g  Two.|chat.delta line_g  Three.|chat.delta line_g  Four|chat.done line_g" && got != "chat.start line_g|chat.delta line_g One and.|chat.delta line_g Two.|chat.delta line_g Three.|chat.delta line_g Four|chat.done line_g" {
		t.Error(got)
	}
	if !slices.Equal(parts, []int{1, 0, 3, 4}) { // the second sentence ends within a part
		t.Errorf("parts %v", parts)
	}
}

// What is cut off has not gone out: a sentence goes out when the one before was spoken, and later
// while somebody speaks who may cut the line off.
func TestNothingGoesOutTooSoon(t *testing.T) {
	const text = "これは一つ目のとても長い文です、よく聞いてください。二つ目です。三つ目です。"
	start := `{"version":"2","id":"x","type":"character.speech.start","requestId":"line_g"}`
	done := `{"version":"2","id":"x","type":"character.speech.done","requestId":"line_g"}`
	s := on(t)
	s.hello()
	s.tell(once("g", text, ""))
	s.passes(3 * time.Second) // its voice is made
	s.says(start, nil)
	s.passes(5 * time.Second)
	if got := s.types(); strings.Count(got, "delta") != 1 {
		t.Error(got)
	}
	s.says(done, nil)
	if got := s.types(); got != "chat.delta line_g 二つ目です。" {
		t.Errorf("at its end: %q", got)
	}
	s.says(start, nil)
	s.tell(session.Said{Entry: at(12), ID: "m", From: "taro", By: abi.KindHuman, Text: "wait", Over: true})
	s.passes(time.Second)
	if in, ok := s.says(done, nil).(session.Played); !ok || in.Part != 0 || in.Bytes == 0 { // all is one part
		t.Errorf("%+v", in)
	}
	s.passes(time.Second)
	s.tell(end("g", entry.EndCut))
	if got := s.types(); got != "chat.done line_g" {
		t.Errorf("cut off: %q", got)
	}
	s.passes(time.Minute)
	s.want()

	// By its length, to whoever tells nothing.
	s = on(t)
	s.got = nil
	s.tell(once("g", text, ""))
	if got := s.types(); strings.Count(got, "plain") != 2 {
		t.Error(got)
	}
	s.passes(2 * time.Second)
	s.want()
	s.passes(20 * time.Second)
	if got := s.types(); got != "plain 二つ目です。|plain 三つ目です。|plain end" {
		t.Error(got)
	}

	// What is left when the room takes it for heard goes out as one.
	s = on(t)
	s.got = nil
	s.tell(once("g", text, ""))
	s.tell(end("g", entry.EndSaid))
	if got := s.types(); !strings.HasSuffix(got, "|plain 二つ目です。三つ目です。|plain end") {
		t.Error(got)
	}
}

// A client that says that it tells what it has spoken and does not gets all of it in time.
func TestASilentFront(t *testing.T) {
	s := on(t)
	s.hello()
	s.tell(once("g", "One. Two.", ""))
	s.passes(time.Minute)
	if got := s.types(); !strings.HasSuffix(got, "Two.|chat.done line_g") {
		t.Error(got)
	}
}

// However a message comes to nothing, its client does not wait for ever.
func TestNothingHangs(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(s *stage, in session.Input)
		want    string
	}{
		"silence":     {func(s *stage, in session.Input) { s.tell(session.Passed{Entry: at(6), Upto: 5, Reason: "nobody"}) }, "chat.done msg_b"},
		"STOP":        {func(s *stage, in session.Input) { s.tell(session.Passed{Entry: at(6), Upto: 6, Stop: true}) }, "chat.done msg_b"},
		"an older":    {func(s *stage, in session.Input) { s.tell(session.Passed{Entry: at(6), Upto: 4}) }, ""},
		"two minutes": {func(s *stage, in session.Input) { s.passes(2 * time.Minute) }, "chat.error msg_b"},
		"a line that fails before a sentence": {func(s *stage, in session.Input) {
			s.tell(session.Piece{Entry: at(9), ID: "s", Line: "g", Part: 1, Text: "I thi", Answers: in.As})
			s.tell(session.Ended{Entry: at(10), Line: "g", End: entry.EndStopped})
		}, "chat.done msg_b"},
		"a line that fails": {func(s *stage, in session.Input) {
			s.tell(session.Piece{Entry: at(9), ID: "s", Line: "g", Part: 1, Text: "I think. That", Answers: in.As})
			s.tell(session.Whole{Entry: at(10), Line: "g", Parts: 1, Broken: true, End: entry.EndFailed})
		}, "chat.start msg_b|chat.delta msg_b I think.|chat.done msg_b"},
		"a newer": {func(s *stage, in session.Input) {
			newer := s.says(strings.Replace(hi, "msg_b", "msg_c", 1), nil).(session.Input)
			s.got = nil
			s.tell(once("g", "Both.", newer.As))
		}, "chat.done msg_b|chat.start msg_c|chat.delta msg_c Both.|chat.done msg_c"},
		"many": {func(s *stage, in session.Input) {
			for range maxWaits - 1 {
				s.says(strings.Replace(hi, "msg_b", "msg_"+s.f.unique(s.now), 1), nil)
			}
			s.got = nil
			s.says(strings.Replace(hi, "msg_b", "msg_z", 1), nil)
		}, "ack msg_z|chat.done msg_b"},
		"refused": {func(s *stage, in session.Input) {
			s.says(strings.Replace(hi, "msg_b", "msg_c", 1), abi.Errorf(abi.CodeDenied, "no"))
		}, "chat.error msg_c"},
		"sent again": {func(s *stage, in session.Input) {
			s.says(hi, nil)
			s.tell(session.Passed{Entry: at(6), Upto: 5})
		}, "ack msg_b|chat.done msg_b"},
	} {
		s := on(t)
		s.hello()
		in := s.says(hi, nil).(session.Input)
		s.tell(session.Said{Entry: at(5), ID: in.As, From: "mika", By: abi.KindHuman, Text: in.Text})
		s.got = nil
		c.happens(s, in)
		if got := s.types(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	const cancelB = `{"version":"2","id":"msg_c","type":"control.cancel","requestId":"msg_b","payload":{}}`
	s := on(t)
	s.hello()
	if in := s.says(cancelB, nil); in != (session.Cancel{ID: "msg_c", Line: "msg_b", Idle: true}) {
		t.Errorf("%+v", in)
	}
	s.want(
		`{"version":"2","id":"srv_2","type":"ack","sessionId":"main","timestamp":"TIME","requestId":"msg_c","payload":{"requestId":"msg_c","type":"control.cancel","status":"ok"}}`,
		`{"version":"2","id":"srv_3","type":"chat.done","sessionId":"main","timestamp":"TIME","requestId":"msg_b","payload":{"cancelled":false}}`,
	)
	in := s.says(hi, nil).(session.Input)
	s.tell(once("g", "One. Two. Three.", in.As))
	s.got = nil
	if in := s.says(cancelB, nil).(session.Cancel); in.Idle {
		t.Error("there is a line")
	}
	if got := s.types(); got != "ack msg_c|chat.done msg_b" {
		t.Error(got)
	}
	s.tell(session.Passed{Entry: at(12), Upto: 12, Stop: true})
	s.tell(end("g", entry.EndStopped))
	s.passes(time.Hour)
	s.want()
	s.says(`{"version":"2","id":"msg_d","type":"control.cancel","payload":{}}`, nil)
	if got := s.types(); got != "ack msg_d" {
		t.Error(got)
	}
	s.says(hi, nil)
	s.got = nil
	s.says(cancelB, abi.Errorf(abi.CodeDenied, "only people say stop"))
	if got := s.types(); got != "chat.error msg_c" {
		t.Error(got)
	}
}

func TestSpeechThatFails(t *testing.T) {
	s := on(t)
	s.hello()
	s.tell(once("g", "One.", ""))
	s.says(`{"version":"2","id":"x","type":"character.speech.error","requestId":"line_g","payload":{"message":"no voice"}}`, nil)
	in := s.says(`{"version":"2","id":"x","type":"character.response.done","payload":{"requestId":"line_g"}}`, nil)
	if in != (session.Played{Line: "g", Failed: "the front could not speak it"}) {
		t.Errorf("%+v", in)
	}
}

// What is no good frame is answered with what is wrong, and what is not known with nothing.
func TestBadFrames(t *testing.T) {
	s := on(t)
	s.hello()
	for message, want := range map[string]string{
		`hello`:                                `message: is no JSON object`,
		`[]`:                                   `message: is no JSON object`,
		`{"version":"2","id":7,"type":"ping"}`: `id: is a JSON number`,
		`{"version":"2","id":"a","type":"chat.message","payload":{"text":7}}`:     `payload.text: is a JSON number`,
		`{"version":"2","id":"a","type":"chat.message","payload":"x"}`:            `payload: is a JSON string`,
		`{"version":"2","type":"chat.message","payload":{"text":"a"}}`:            `id: 0 bytes, must be 1..128`,
		`{"version":"2","id":"a"}`:                                                `type: is missing`,
		`{"version":"3","id":"a","type":"ping"}`:                                  `version: \"3\" is not spoken here`,
		`{}`:                                                                      `type: is missing`,
		`{"version":"2","id":"a","type":"file.upload","payload":{}}`:              "",
		`{"version":"2","id":"a","type":"character.dance","payload":{"text":""}}`: "",
		`{"version":"2","id":"a","type":"character.speech.done","payload":{}}`:    "",
		`{"type":"console"}`:                                                      "",
		`{"version":"2","id":"a","type":"ping","payload":{}}`:                     `"type":"pong"`,
	} {
		s.got = nil
		s.says(message, nil)
		got := strings.Join(s.got, "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

// Whatever a client sends, in whatever state, all that it is sent is JSON, no sentence is blank, and
// what the room is told names a line.
func FuzzFront(f *testing.F) {
	f.Add([]byte(hi), []byte(`{"version":"2","id":"x","type":"character.speech.done","requestId":"line_g"}`))
	f.Add([]byte(`{"content":"hi","type":"chat"}`), []byte(`{"version":"2","id":"x","type":"control.cancel"}`))
	f.Add([]byte(`{"version":"2","id":"x","type":"session.hello","payload":{"capabilities":["character.response.done"]}}`), []byte(`{"version":"2","type":"character.response.done","requestId":"line_g"}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := &stage{T: t, f: New("main", "mika", secret), now: time.Unix(0, 0)}
		s.hello()
		s.tell(once("g", "One. Two. Three.", ""))
		for _, message := range [][]byte{one, two, one, two, two} {
			in := s.says(string(message), nil)
			if in, ok := in.(session.Input); ok && abi.CheckName("id", in.As) != nil {
				t.Fatalf("%+v", in)
			}
			if in, ok := in.(session.Played); ok && (in.Line != "g" || in.Part < 0 || in.Part > 1) {
				t.Fatalf("%+v", in)
			}
			s.passes(time.Second)
		}
		s.tell(end("g", entry.EndSaid))
		s.passes(time.Hour)
		if len(s.f.lines)+len(s.f.waiting) != 0 || !s.f.Due().IsZero() {
			t.Fatal("something is left")
		}
		for _, frame := range s.got {
			if !json.Valid([]byte(frame)) || strings.Contains(frame, `"type":"chat.delta"`) && strings.Contains(frame, `"text":""`) {
				t.Fatalf("%s", frame)
			}
		}
	})
}

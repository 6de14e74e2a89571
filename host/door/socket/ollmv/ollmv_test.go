package ollmv

import (
	"encoding/json"
	"reflect"
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
	*Front
	now time.Time
	got []string
}

func on(t *testing.T) *stage {
	f := New(Config{Companion: "aya", Room: "main", Speaker: "taro", Key: []byte("key"), Choices: func() []Choice { return []Choice{{"aya", "Aya"}, {"kyoko", "Kyoko"}} }})
	return &stage{T: t, Front: f, now: time.Unix(100, 0).UTC()}
}

func (s *stage) sent(frames [][]byte) {
	for _, f := range frames {
		s.got = append(s.got, string(f))
	}
}

// says has the client send something, which the room takes as take makes it, nil for as it is.
func (s *stage) says(message string, take func(session.In) session.In) session.In {
	s.Helper()
	in, err := s.Decode([]byte(message), s.now)
	var e *abi.Error
	if err != nil {
		e = abi.AsError(err)
	} else if take != nil {
		in = take(in)
	}
	s.sent(s.Answer(in, e, s.now))
	return in
}

func (s *stage) tell(o session.Out) { s.sent(s.Encode(o, s.now)) }

// passes lets time pass.
func (s *stage) passes(d time.Duration) {
	end := s.now.Add(d)
	for at := s.Due(); !at.IsZero() && !at.After(end); at = s.Due() {
		if at.After(s.now) {
			s.now = at
		}
		s.sent(s.Late(s.now))
	}
	s.now = end
}

// types gives the types of the frames since it was asked last, with the words of some.
func (s *stage) types() string {
	var all []string
	for _, raw := range s.got {
		var f struct {
			Type, Text, Message string
			Display             struct{ Text string } `json:"display_text"`
		}
		if err := json.Unmarshal([]byte(raw), &f); err != nil {
			s.Errorf("%s: %v", raw, err)
		}
		all = append(all, strings.TrimSpace(f.Type+" "+f.Text+f.Message+f.Display.Text))
	}
	s.got = nil
	return strings.Join(all, "|")
}

func (s *stage) want(frames ...string) {
	s.Helper()
	if !reflect.DeepEqual(s.got, frames) {
		s.Errorf("got\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(frames, "\n"))
	}
	s.got = nil
}

func at(seq uint64) session.Entry { return session.Entry{Seq: seq, Companion: "aya"} }

const typed = `{"type":"text-input","text":"Hello!","images":[]}`

// taken is what a room makes of a message.
func taken(in session.In) session.In {
	i := in.(session.Input)
	i.Seq = 5
	return i
}

// TestATurn: a person's turn, frame by frame.
func TestATurn(t *testing.T) {
	s := on(t)
	s.sent(s.Begin(s.now))
	s.want(`{"type":"group-update","members":[],"is_owner":false}`, `{"type":"full-text","text":"Aya"}`, `{"type":"set-model-and-conf","conf_name":"Aya","conf_uid":"aya","client_uid":"main/taro"}`)
	in := s.says(typed, taken).(session.Input)
	if in.Text != "Hello!" || abi.CheckName("id", in.As) != nil || strings.Contains(in.As, "taro") {
		t.Errorf("%+v", in)
	}
	s.want(`{"type":"control","text":"conversation-chain-start"}`, `{"type":"full-text","text":"Thinking..."}`)
	s.tell(session.Said{Entry: at(5), ID: in.As, From: "taro", By: abi.KindHuman, Text: "Hello!"})
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "Hello, you. I am Aya.", Emotion: emotion.Happy})
	s.want(`{"type":"audio","audio":null,"volumes":[],"slice_length":20,"display_text":{"text":"Hello, you.","name":"Aya","avatar":""},"actions":{"expressions":["happy"]},"forwarded":false}`, `{"type":"full-text","text":"Hello, you."}`)
	s.passes(10 * time.Second)
	s.want(`{"type":"audio","audio":null,"volumes":[],"slice_length":20,"display_text":{"text":" I am Aya.","name":"Aya","avatar":""},"actions":{"expressions":["happy"]},"forwarded":false}`, `{"type":"full-text","text":"I am Aya."}`, `{"type":"backend-synth-complete"}`)
	var words []session.In
	for range 10 {
		if in := s.says(`{"type":"frontend-playback-complete"}`, nil); in != nil {
			words = append(words, in)
		}
	}
	if !reflect.DeepEqual(words, []session.In{session.Played{Line: "g", Done: true}}) {
		t.Errorf("%+v", words)
	}
	s.want()
	s.tell(session.Ended{Entry: at(7), Line: "g", End: entry.EndSaid})
	s.want(`{"type":"force-new-message"}`, `{"type":"control","text":"conversation-chain-end"}`)
	if len(s.lines) != 0 || !s.Due().IsZero() {
		t.Error("something is left")
	}
}

// TestALineNobodyAskedFor: it begins by itself, part by part, each as it is read; what people say elsewhere is shown.
func TestALineNobodyAskedFor(t *testing.T) {
	s := on(t)
	s.tell(session.Said{Entry: at(3), ID: "x", From: "hana", By: abi.KindHuman, Text: "Hi."})
	s.tell(session.Said{Entry: at(4), ID: "y", From: "kyoko", By: abi.KindCompanion, Text: "Hi."})
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Text: "One."})
	s.tell(session.Piece{Entry: at(7), ID: "n", Line: "g", Part: 2, Text: " Two."})
	if got := s.types(); got != "user-input-transcription hana: Hi.|control conversation-chain-start|audio One.|full-text One." {
		t.Error(got)
	}
	if in := s.Own(); in != nil {
		t.Errorf("%+v", in)
	}
	s.passes(5 * time.Second)
	if got := s.types(); got != "audio  Two.|full-text Two." {
		t.Error(got)
	}
	if in := s.Own(); in != (session.Played{Line: "g", Part: 1}) {
		t.Errorf("%+v", in)
	}
	s.tell(session.Whole{Entry: at(8), Line: "g", Parts: 2})
	if got := s.types(); got != "backend-synth-complete" {
		t.Error(got)
	}
}

// TestInterrupted: the page says what it has shown, and the rest does not come.
func TestInterrupted(t *testing.T) {
	s := on(t)
	if in := s.says(`{"type":"interrupt-signal","text":""}`, nil); in != (session.Cancel{Idle: true}) {
		t.Errorf("nothing is there: %+v", in)
	}
	s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "One. Two. And this is the third of them, a long one."})
	s.passes(time.Second)
	s.types()
	in := s.says(`{"type":"interrupt-signal","text":"Before. One. Two."}`, nil)
	if in != (session.Cancel{Was: session.Played{Line: "g", Bytes: len("One. Two.")}}) {
		t.Errorf("%+v", in)
	}
	s.tell(session.Passed{Entry: at(7), Upto: 7, Stop: true})
	s.tell(session.Ended{Entry: at(8), Line: "g", End: entry.EndStopped})
	if got := s.types(); got != "backend-synth-complete|force-new-message|control conversation-chain-end" { // it has silenced itself
		t.Error(got)
	}
	s.passes(time.Hour)
	if got := s.types(); got != "" || len(s.lines) != 0 {
		t.Error(got)
	}
}

// TestNobodyAnswers: the page thinks no more, whether that is known or not.
func TestNobodyAnswers(t *testing.T) {
	s := on(t)
	s.says(typed, taken)
	s.types()
	s.tell(session.Passed{Entry: at(6), Upto: 5, Reason: "nobody wants to speak"})
	if got := s.types(); got != "full-text …|control conversation-chain-end" {
		t.Error(got)
	}
	s.says(typed, taken)
	s.types()
	s.passes(waits)
	if got := s.types(); !strings.HasPrefix(got, "error nobody has answered") || !strings.HasSuffix(got, chainEnd) {
		t.Error(got)
	}
}

// TestWhatElseAPageAsks: each is answered, and so is what is wrong.
func TestWhatElseAPageAsks(t *testing.T) {
	s := on(t)
	past := []session.PastMessage{{Message: abi.Message{ID: "a", From: "taro", Text: "Hi.", At: s.now}, Human: true}, {Message: abi.Message{ID: "b", From: "kyoko", Text: "Yes?", At: s.now}}}
	read := func(in session.In) session.In {
		p := in.(session.Past)
		if p.Head = 24; p.Limit == 1 {
			p.Messages = past[1:]
		} else if p.Limit > 0 {
			p.Messages = past
		}
		return p
	}
	for message, c := range map[string]struct {
		take func(session.In) session.In
		want string
	}{
		`{"type":"heartbeat"}`:                                    {nil, `{"type":"heartbeat-ack"}`},
		`{"type":"fetch-backgrounds"}`:                            {nil, `{"type":"background-files","files":[]}`},
		`{"type":"fetch-configs"}`:                                {nil, `{"type":"config-files","configs":[{"filename":"aya","name":"Aya"},{"filename":"kyoko","name":"Kyoko"}]}`},
		`{"type":"fetch-history-list"}`:                           {read, `{"type":"history-list","histories":[{"uid":"main","latest_message":{"id":"b","role":"ai","timestamp":"1970-01-01T00:01:40Z","content":"Yes?","name":"Kyoko"},"timestamp":"1970-01-01T00:01:40Z"}]}`},
		`{"type":"create-new-history"}`:                           {read, `{"type":"new-history-created","history_uid":"main@24"}`},
		`{"type":"fetch-and-set-history","history_uid":"main"}`:   {read, `{"type":"history-data","messages":[{"id":"a","role":"human","timestamp":"1970-01-01T00:01:40Z","content":"Hi.","name":"taro"},{"id":"b","role":"ai","timestamp":"1970-01-01T00:01:40Z","content":"Yes?","name":"Kyoko"}]}`},
		`{"type":"fetch-and-set-history","history_uid":"side"}`:   {nil, `{"type":"error","message":"history_uid: there is no history \"side\" here"}`},
		`{"type":"fetch-and-set-history","history_uid":"main@x"}`: {nil, `{"type":"error","message":"history_uid: there is no history \"main@x\" here"}`},
		`{"type":"delete-history","history_uid":"main"}`:          {nil, `{"type":"history-deleted","success":false}|{"type":"error","message":"words that were said stay; an admin erases a person's with companiond forget"}`},
		`{"type":"switch-config","file":"kyoko"}`:                 {nil, `{"type":"set-model-and-conf","conf_name":"Kyoko","conf_uid":"kyoko","client_uid":"main/taro"}|{"type":"config-switched","message":"Switched to Kyoko"}`},
		`{"type":"mic-audio-end"}`:                                {nil, `{"type":"error","message":"speech is not understood here; type what you say"}|{"type":"control","text":"conversation-chain-end"}`},
		`{"type":"add-client-to-group","invitee_uid":"x"}`:        {nil, `{"type":"group-operation-result","message":"everybody who connects to a room is in it","success":false}`},
		`{"type":"mic-audio-data","audio":[0.5]}`:                 {nil, ""},
		`{"type":"audio-play-start"}`:                             {nil, ""},
		`{"type":"ai-speak-signal"}`:                              {nil, ""},
		`{"type":7}`:                                              {nil, `{"type":"error","message":"type: is a JSON number, which it cannot be"}`},
		`[`:                                                       {nil, `{"type":"error","message":"message: is no JSON object; send {\"type\":\"text-input\",\"text\":\"...\"}"}`},
	} {
		s := on(t)
		s.says(message, c.take)
		if got := strings.Join(s.got, "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", message, got, c.want)
		}
	}
	m := New(Config{Companion: "aya", Model: "http://127.0.0.1:1/m.model3.json", Choices: func() []Choice { return nil }})
	if got := string(encode(m.setModel())); !strings.Contains(got, `"url":"http://127.0.0.1:1/m.model3.json","kScale":0.5`) || !strings.Contains(got, `"sad":"sad"`) {
		t.Error(got)
	}
}

// FuzzPage: whatever a page sends, in whatever state, all that it is sent is JSON; what the room is told names the line, and
// nothing is left when it is over.
func FuzzPage(f *testing.F) {
	f.Add([]byte(typed), []byte(`{"type":"interrupt-signal","text":"One."}`))
	f.Add([]byte(`{"type":"frontend-playback-complete"}`), []byte(`{"type":"switch-config","file":"kyoko"}`))
	f.Add([]byte(`{"type":"fetch-and-set-history","history_uid":"main@18446744073709551616"}`), []byte(`{"images":[{"data":1}]}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := on(t)
		s.tell(session.Piece{Entry: at(6), ID: "m", Line: "g", Part: 1, Last: true, Text: "One. Two. Three."})
		for _, message := range [][]byte{one, two, one, two} {
			switch in := s.says(string(message), nil).(type) {
			case session.Input:
				if abi.CheckName("id", in.As) != nil {
					t.Fatalf("%+v", in)
				}
			case session.Played:
				if in.Line != "g" {
					t.Fatalf("%+v", in)
				}
			case session.Cancel:
				if in.Was.Bytes > len("One. Two. Three.") {
					t.Fatalf("%+v", in)
				}
			}
			s.passes(time.Second)
		}
		s.tell(session.Ended{Entry: at(7), Line: "g", End: entry.EndSaid})
		s.passes(time.Hour)
		if len(s.lines) != 0 || !s.Due().IsZero() {
			t.Fatalf("something is left: %v", s.Due())
		}
		for _, frame := range s.got {
			if !json.Valid([]byte(frame)) {
				t.Fatal(frame)
			}
		}
	})
}

package audience

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"moderate":true}`)
		s.say(said("m1", "Ann", "bad words"), said("m2", "Bob", "hi"), said("m3", "Ann", "more"))
		got, err := s.act(`{"moderate":true}`, muteAction, `{"viewer":"@ANN","minutes":30}`)
		if err != nil || got != "ANN is muted for 30 minutes" {
			t.Errorf("mute: %q, %v", got, err)
		}
		s.say(said("m4", "Ann", "can you hear me?"), given("g1", "Ann"))
		pass(30 * time.Second)
		if got := s.keys(); got != "m1 m2" {
			t.Errorf("perceived: %s", got)
		}
		if got := fmt.Sprint(s.retracted()); got != "[{aya m1 }]" {
			t.Errorf("taken back: %s", got)
		}
		s.end()

		// It is kept when the program is another.
		s.start(s.local.KV, `{"moderate":true}`, "aya")
		s.say(said("m5", "ann", "and now?"))
		if got := s.keys(); got != "" {
			t.Errorf("after a restart: %s", got)
		}
		pass(30 * time.Minute)
		s.say(said("m6", "Ann", "sorry"))
		if got := s.keys(); got != "m6" {
			t.Errorf("half an hour later: %s", got)
		}
		_, _ = s.act(`{"moderate":true}`, muteAction, `{"viewer":"id-Ann"}`)
		if got, err := s.act(`{"moderate":true}`, muteAction, `{"viewer":"id-ann","minutes":0}`); err != nil || got != "id-ann may speak again" {
			t.Errorf("taken back: %q, %v", got, err)
		}
		pass(10 * time.Second)
		s.say(said("m7", "Ann", "thanks"))
		if got := s.keys(); got != "m6 m7" {
			t.Errorf("taken back: %s", got)
		}
		s.end()
	})
}

func TestMutedBySettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settings = `{"moderate":true,"muted":["Ann"]}`
		s := play(t, settings)
		defer s.end()
		_, _ = s.act(settings, muteAction, `{"viewer":"ann","minutes":1}`)
		if _, err := s.act(settings, muteAction, `{"viewer":"ann","minutes":0}`); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		s.say(said("m1", "ANN", "hello?"))
		if got := s.keys(); got != "" {
			t.Errorf("who is muted by settings is heard: %s", got)
		}
	})
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"moderate":true,"every":1,"slow":5}`)
		defer s.end()
		talk := func() int {
			had := len(s.emitted())
			for range 60 {
				s.say(said("", "Ann", "la"))
				pass(time.Second)
			}
			return len(s.emitted()) - had
		}
		if got := talk(); got != 12 {
			t.Errorf("by settings: %d of 60", got)
		}
		if got, err := s.act(`{"moderate":true,"every":1,"slow":5}`, slowAction, `{"seconds":20}`); err != nil || got != "a viewer is heard once in 20 seconds" {
			t.Errorf("slow: %q, %v", got, err)
		}
		if got := talk(); got != 3 {
			t.Errorf("by action: %d of 60", got)
		}
		if got, err := s.act(`{"moderate":true,"every":1,"slow":5}`, slowAction, `{"seconds":0}`); err != nil || got != "the slow mode is as the settings say" {
			t.Errorf("as before: %q, %v", got, err)
		}
		if got := talk(); got != 12 {
			t.Errorf("by settings again: %d of 60", got)
		}
	})
}

func TestActionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"moderate":true}`)
		defer s.end()
		for _, c := range []struct {
			settings, action, parameters string
			want                         abi.Code
		}{
			{`{}`, muteAction, `{"viewer":"bob"}`, abi.CodeDenied},
			{`{"moderate":false}`, slowAction, `{"seconds":5}`, abi.CodeDenied},
			{`{"moderate":true}`, muteAction, `{"viewer":"bob"}`, ""},
			{`{"moderate":true}`, muteAction, `{"viewer":" \u202e "}`, abi.CodeInvalid},
			{`{"moderate":true}`, muteAction, `[]`, abi.CodeInvalid},
			{`{"moderate":true}`, slowAction, `{"seconds":-1}`, abi.CodeInvalid},
			{`{"moderate":true}`, "chat.ban", `{}`, abi.CodeNotFound},
			{`[]`, muteAction, `{"viewer":"bob"}`, abi.CodeInvalid},
		} {
			if _, err := s.act(c.settings, c.action, c.parameters); abi.CodeOf(err) != c.want {
				t.Errorf("%s %s %s: %v, want %q", c.settings, c.action, c.parameters, err, c.want)
			}
		}
		for i := range maxMuted - 1 { // bob is one
			if _, err := s.act(`{"moderate":true}`, muteAction, fmt.Sprintf(`{"viewer":"viewer number %d"}`, i)); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
		}
		if _, err := s.act(`{"moderate":true}`, muteAction, `{"viewer":"one more"}`); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("one more: %v", err)
		}
		pass(11 * time.Minute)
		if _, err := s.act(`{"moderate":true}`, muteAction, `{"viewer":"one more"}`); err != nil {
			t.Errorf("when their time is over: %v", err)
		}
	})
}

// TestAPersonModerates: a person mutes and slows whatever the settings say of companions.
func TestAPersonModerates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{}`)
		defer s.end()
		if _, err := s.act(`{}`, muteAction, `{"viewer":"Ann"}`); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("a companion: %v", err)
		}
		asks := func(action, parameters string) string {
			did, err := s.local.Act(abi.Acting{ID: "p1", By: "mika", Action: action, Parameters: json.RawMessage(parameters), Settings: json.RawMessage(`{}`)})
			if err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return did.Message
		}
		if got := asks(muteAction, `{"viewer":"Ann","minutes":30}`); got != "Ann is muted for 30 minutes" {
			t.Error(got)
		}
		s.say(said("m1", "Ann", "bad words"))
		pass(10 * time.Second)
		if got := s.keys(); got != "" {
			t.Errorf("perceived: %s", got)
		}
		if got := asks(slowAction, `{"seconds":20}`); got != "a viewer is heard once in 20 seconds" {
			t.Error(got)
		}
	})
}

// TestStoreThatIsBroken holds that a list that cannot be read costs no chat, and one that cannot be written is not obeyed.
func TestStoreThatIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t}
		s.start(map[string]string{key: "no JSON"}, `{"moderate":true}`, "aya")
		defer s.end()
		s.say(said("m1", "Ann", "hi"))
		if s.keys() != "m1" || !strings.Contains(s.logs(), "the list of muted viewers cannot be read") {
			t.Errorf("perceived %q\n%s", s.keys(), s.logs())
		}
		long := strings.Repeat("x", abi.MaxKVTotal)
		s.local.Look(func() { s.local.KV = map[string]string{"full": long} })
		if _, err := s.act(`{"moderate":true}`, muteAction, `{"viewer":"Bob"}`); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("the store is full: %v", err)
		}
		pass(10 * time.Second)
		s.say(said("m2", "Bob", "hi"))
		if got := s.keys(); got != "m1 m2" {
			t.Errorf("perceived %q", got)
		}
	})
}

// TestSchemas holds the schemas to be objects of JSON, and that of the settings to have each of them with a word about it.
func TestSchemas(t *testing.T) {
	d := Handler()
	if said, err := companion.NewLocalHandler(d).Describe(); err != nil || said.Kind != abi.Handler || !slices.Equal(said.Ops, []string{abi.OpDescribe, abi.OpAct, abi.OpRun}) {
		t.Errorf("it describes itself as %+v, %v", said, err)
	}
	for _, a := range d.Actions {
		if !json.Valid(a.Schema) {
			t.Errorf("%s: %s", a.Name, a.Schema)
		}
	}
	var s struct {
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal([]byte(d.Settings), &s); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(settings{})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if s.Properties[name].Description == "" {
			t.Errorf("%s is not in the schema, or without a word", name)
		}
	}
	if len(fields) != len(s.Properties) {
		t.Errorf("%d settings, %d in the schema", len(fields), len(s.Properties))
	}
}

// TestReadme holds the settings of the README, and some that are wrong, to the schema.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "```toml\n")
	text, _, _ = strings.Cut(text, "```")
	var config struct {
		Module  map[string]struct{ Grant []string }
		Handler map[string]struct{ Settings map[string]any }
	}
	if _, err := toml.Decode(text, &config); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("settings")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) bool {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && s.Validate(v) == nil
	}
	settings, err := json.Marshal(config.Handler["chat"].Settings)
	if err != nil || len(config.Handler["chat"].Settings) < 3 || !valid(string(settings)) {
		t.Errorf("the settings are %s: %v", settings, err)
	}
	for _, need := range Handler().Needs {
		if !slices.Contains(config.Module["chat"].Grant, need) {
			t.Errorf("%s is not granted", need)
		}
	}
	for _, text := range []string{`{"twitch":["a b"]}`, `{"twitch":["x\r\nQUIT"]}`, `{"youtube":["../x"]}`, `{"every":0}`, `{"waiting":0}`, `{"muted":[7]}`, `{"twich":[]}`, `{"names":{"aya":"Aya"}}`} {
		if valid(text) {
			t.Errorf("%s is taken", text)
		}
	}
}

package studio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/companiond/companiond/plugins/voice/studio"
)

// TestRunBeginsAnew: where it does, what was being made is made by the next, and nothing is lost or told twice.
func TestRunBeginsAnew(t *testing.T) {
	d, address := newSpeaker(t)
	arrived := make(chan string, 10)
	var broken atomic.Bool // once: requests come at the same time
	broken.Store(true)
	d.before = func(ctx context.Context, text string) bool {
		arrived <- text
		if text == "one" && broken.Swap(false) {
			<-ctx.Done()
			return false
		}
		return true
	}
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	s.show(settings, "aya", piece("g-1", 1, "one"), piece("g-1", 2, "two"), piece("g-1", 3, "three")) // before it runs
	stop := s.run(settings, "aya")
	for range 3 {
		<-arrived
	}
	stop()
	if all := s.sounds(0); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	s.show(settings, "aya", piece("g-1", 3, "three"), piece("g-1", 4, "four")) // the third comes once more
	s.run(settings, "aya", "kyoko")
	for i, it := range s.sounds(4) {
		if it.Part != i+1 || it.Failed != "" {
			t.Errorf("%+v", it)
		}
	}
	if got := d.all(); strings.Count(got, "one") != 2 || strings.Count(got, "two") != 1 || strings.Count(got, "three") > 2 || strings.Count(got, "four") != 1 {
		t.Errorf("made %s", got)
	}
	if logs := s.logs(); len(logs) != 0 {
		t.Errorf("%q", logs)
	}
}

// TestWhatIsReadyIsToldByTheNextRun also where nothing is left to make.
func TestWhatIsReadyIsToldByTheNextRun(t *testing.T) {
	d, address := newSpeaker(t)
	arrived := make(chan string, 10)
	d.before = func(ctx context.Context, text string) bool {
		arrived <- text
		if text == "one" {
			<-ctx.Done()
		}
		return text != "one"
	}
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	stop := s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "one"), piece("g-1", 2, "two"), piece("g-1", 3, "three"))
	for range 3 {
		<-arrived
	}
	stop()
	d.mu.Lock()
	d.before = nil
	d.mu.Unlock()
	s.run(settings, "aya")
	for i, it := range s.sounds(3) {
		if it.Part != i+1 || it.Failed != "" {
			t.Errorf("%+v", it)
		}
	}
}

// TestTwoHandlers of one module: each makes what its companions say, in its own way, also where their settings are
// the same.
func TestTwoHandlers(t *testing.T) {
	a, addressA := newSpeaker(t)
	b, addressB := newSpeaker(t)
	one, two := fmt.Sprintf(`{"engine":"openai","address":%q}`, addressA), fmt.Sprintf(`{"engine":"openai","address":%q}`, addressB)
	s := newStage(t)
	s.run(one, "aya")
	s.run(two, "kyoko")
	stop := s.run(one, "natsumi")
	s.show(one, "aya", piece("g-1", 1, "aya"))
	s.show(two, "kyoko", piece("g-1", 1, "kyoko")) // a line of the same name in another room
	s.show(one, "natsumi", piece("g-3", 1, "natsumi"))
	s.sounds(3)
	stop()
	s.show(one, "natsumi", piece("g-4", 1, "nobody makes it"))
	s.show(one, "aya", piece("g-5", 1, "more"))
	s.show(two, "aya", piece("g-5", 1, "not that one's"))
	s.sounds(4)
	if got := a.all(); got != "aya|natsumi|more" && got != "natsumi|aya|more" || b.all() != "kyoko" {
		t.Errorf("%s, %s", got, b.all())
	}
}

// TestForgottenLines: of lines that are never over no more are kept than the newest, and those still sound.
func TestForgottenLines(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	for i := range 70 {
		s.show(settings, "aya", piece(fmt.Sprint("g-", i), 1, fmt.Sprint("line ", i)))
	}
	s.run(settings, "aya")
	all := s.sounds(64)
	for _, it := range all {
		if it.Line == "g-5" || it.Failed != "" {
			t.Errorf("%+v", it)
		}
	}
	if got := d.all(); !strings.Contains(got, "line 69") || strings.Contains(got, "line 5|") {
		t.Errorf("%s", got)
	}
}

// ofTheReadme gives the settings in the README, as JSON.
func ofTheReadme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "```toml\n")
	block, _, _ := strings.Cut(rest, "```")
	var file struct {
		Module  map[string]struct{ Grant []string }
		Handler map[string]struct{ Settings map[string]any }
	}
	if _, err := toml.Decode(block, &file); err != nil {
		t.Fatal(err)
	}
	if got, want := file.Module["voice"].Grant, studio.Handler().Needs; !slices.Equal(got, want) {
		t.Errorf("the README grants %q, and %q are needed", got, want)
	}
	settings, err := json.Marshal(file.Handler["voice"].Settings)
	if err != nil || len(file.Handler["voice"].Settings) == 0 {
		t.Fatalf("%s, %v", settings, err)
	}
	return string(settings)
}

// TestSchema: the settings of the README are taken, and those that cannot be are not.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(studio.Handler().Settings))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	for settings, ok := range map[string]bool{
		ofTheReadme(t):           true,
		`{"engine":"espeak-ng"}`: true,
		`{"engine":"voicevox","address":"http://127.0.0.1:50021","voices":{"aya":{"speaker":3,"speed":1.1,"pitch":-0.05,"intonation":1.2,"emotions":{"happy":{"speaker":1}}},"kyoko":{"speaker":"四国めたん","style":"あまあま"}}}`: true,
		`{"engine":"openai","key":"sk","voice":{"speaker":"nova","model":"tts-1","instructions":"Softly."},"dictionary":{"AI":"エーアイ"},"parallel":8}`:                                                                       true,
		`{"engine":"openai","address":"http://127.0.0.1:8880/v1"}`:                                           true,
		`{"engine":"style-bert-vits2","language":"ja","voice":{"model":0,"style":"Happy","style_weight":3}}`: true,
		`{}`:                                                                             false,
		`{"engine":"festival"}`:                                                          false,
		`{"engine":"espeak-ng","voise":{}}`:                                              false,
		`{"engine":"espeak-ng","parallel":0}`:                                            false,
		`{"engine":"espeak-ng","parallel":9}`:                                            false,
		`{"engine":"espeak-ng","language":"Japanese"}`:                                   false,
		`{"engine":"espeak-ng","voice":{"speed":0}}`:                                     false,
		`{"engine":"espeak-ng","voice":{"spead":1}}`:                                     false,
		`{"engine":"espeak-ng","voice":{"speaker":1.5}}`:                                 false,
		`{"engine":"espeak-ng","dictionary":{"AI":1}}`:                                   false,
		`{"engine":"voicevox","address":"127.0.0.1"}`:                                    false,
		`{"engine":"voicevox","address":"http://a:b@c"}`:                                 false,
		`{"engine":"espeak-ng","voices":{"aya":{"emotions":{"joyful":{}}}}}`:             false,
		`{"engine":"espeak-ng","voices":{"aya":{"emotions":{"happy":{"emotions":{}}}}}}`: false,
	} {
		it, err := jsonschema.UnmarshalJSON(strings.NewReader(settings))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(it); (err == nil) != ok {
			t.Errorf("%s: %v", settings, err)
		}
	}
	described(t, doc)
}

// described holds that each setting is described.
func described(t *testing.T, doc any) {
	t.Helper()
	o, ok := doc.(map[string]any)
	if !ok {
		return
	}
	properties, _ := o["properties"].(map[string]any)
	for name, p := range properties {
		it := p.(map[string]any)
		if ref, _ := it["$ref"].(string); it["description"] == nil && !strings.HasPrefix(ref, "#/$defs/emotion") {
			b, _ := json.Marshal(it)
			t.Errorf("%s is not described: %s", name, b)
		}
	}
	for _, inner := range o {
		described(t, inner)
	}
}

package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/engine"
)

// querySchema is what a query has to have in it, and of what type.
const querySchema = `{"type":"object",
"required":["accent_phrases","speedScale","pitchScale","intonationScale","volumeScale","prePhonemeLength","postPhonemeLength","outputSamplingRate","outputStereo"],
"properties":{
 "accent_phrases":{"type":"array","items":{"type":"object","required":["moras","accent"],"properties":{
  "moras":{"type":"array","items":{"$ref":"#/$defs/mora"}},"accent":{"type":"integer"},"is_interrogative":{"type":"boolean"},
  "pause_mora":{"anyOf":[{"$ref":"#/$defs/mora"},{"type":"null"}]}}}},
 "speedScale":{"type":"number"},"pitchScale":{"type":"number"},"intonationScale":{"type":"number"},"volumeScale":{"type":"number"},
 "prePhonemeLength":{"type":"number"},"postPhonemeLength":{"type":"number"},"pauseLength":{"type":["number","null"]},"pauseLengthScale":{"type":"number"},
 "outputSamplingRate":{"type":"integer"},"outputStereo":{"type":"boolean"},"kana":{"type":"string"}},
"$defs":{"mora":{"type":"object","required":["text","vowel","vowel_length","pitch"],"properties":{
 "text":{"type":"string"},"consonant":{"type":["string","null"]},"consonant_length":{"type":["number","null"]},"vowel":{"type":"string"},"vowel_length":{"type":"number"},"pitch":{"type":"number"}}}}}`

// query is 「まあ、うん？」 as the engine writes it, with a field of a version to come.
const query = `{"accent_phrases":[
 {"moras":[{"text":"マ","consonant":"m","consonant_length":0.05,"vowel":"a","vowel_length":0.1,"pitch":5.5},
  {"text":"ア","consonant":null,"consonant_length":null,"vowel":"a","vowel_length":0.15,"pitch":5.6}],
  "accent":1,"pause_mora":{"text":"、","consonant":null,"consonant_length":null,"vowel":"pau","vowel_length":0.3,"pitch":0},"is_interrogative":false},
 {"moras":[{"text":"ウ","consonant":null,"consonant_length":null,"vowel":"U","vowel_length":0.1,"pitch":0},
  {"text":"キ","consonant":"k","consonant_length":0.06,"vowel":"i","vowel_length":0.1,"pitch":5.2},
  {"text":"ッ","consonant":null,"consonant_length":null,"vowel":"cl","vowel_length":0.08,"pitch":0},
  {"text":"ン","consonant":null,"consonant_length":null,"vowel":"N","vowel_length":0.12,"pitch":5.9}],
  "accent":2,"pause_mora":null,"is_interrogative":true}],
"speedScale":1,"pitchScale":0,"intonationScale":1,"volumeScale":1,"prePhonemeLength":0.1,"postPhonemeLength":0.1,
"pauseLength":null,"pauseLengthScale":1,"outputSamplingRate":24000,"outputStereo":false,"kana":"マ'ア、ウキ'ッン？","yetToCome":{"a":[1]}}`

// length is how long the sound of a query is, as the engine reckons: in frames of 256 samples.
func length(t *testing.T, body string) float64 {
	t.Helper()
	type mora struct {
		C float64 `json:"consonant_length"`
		V float64 `json:"vowel_length"`
	}
	var q struct {
		Phrases []struct {
			Moras    []mora `json:"moras"`
			Pause    *mora  `json:"pause_mora"`
			Question bool   `json:"is_interrogative"`
		} `json:"accent_phrases"`
		Speed  float64  `json:"speedScale"`
		Before float64  `json:"prePhonemeLength"`
		After  float64  `json:"postPhonemeLength"`
		Pause  *float64 `json:"pauseLength"`
		Scale  float64  `json:"pauseLengthScale"`
	}
	if err := json.Unmarshal([]byte(body), &q); err != nil {
		t.Error(err)
	}
	lengths := []float64{q.Before, q.After}
	for _, p := range q.Phrases {
		for _, m := range p.Moras {
			lengths = append(lengths, m.C, m.V)
		}
		if p.Question {
			lengths = append(lengths, 0.15)
		}
		if p.Pause != nil {
			pause := p.Pause.V
			if q.Pause != nil {
				pause = *q.Pause
			}
			lengths = append(lengths, pause*q.Scale)
		}
	}
	frames := 0.0
	for _, l := range lengths {
		frames += math.Round(l / q.Speed * 24000 / 256)
	}
	return frames * 256 / 24000
}

// takes are the parameters of each path that is asked.
var takes = map[string][]string{
	"POST /audio_query": {"text", "speaker", "enable_katakana_english", "core_version"},
	"POST /synthesis":   {"speaker", "enable_interrogative_upspeak", "core_version"},
	"GET /speakers":     {"core_version"},
	"GET /version":      {},
}

const speakers = `[{"name":"四国めたん","speaker_uuid":"7ffcb7ce","version":"0.1","styles":[{"name":"ノーマル","id":2,"type":"talk"},{"name":"あまあま","id":0,"type":"talk"}]},
{"name":"ずんだもん","speaker_uuid":"388f246b","version":"0.1","styles":[{"name":"ノーマル","id":3003,"type":"singing_teacher"},{"name":"ノーマル","id":3},{"name":"ささやき","id":22,"type":"talk"}]}]`

// voicevox is a double of the engine. It refuses what the engine would not take.
func voicevox(t *testing.T, query string, wav func(body string) []byte) (address string, all *[]asked) {
	t.Helper()
	schema := compiled(t, querySchema)
	return server(t, func(w http.ResponseWriter, a asked) {
		where := a.Method + " " + a.Path
		for name, values := range a.Query {
			if !slices.Contains(takes[where], name) || len(values) != 1 {
				t.Errorf("%s has no parameter %s: %q", where, name, values)
			}
		}
		if a.Header.Get("Authorization") != "" {
			t.Error("a key goes to whom it is not for")
		}
		switch where {
		case "GET /version":
			_, _ = io.WriteString(w, `"0.25.0"`)
		case "GET /speakers":
			_, _ = io.WriteString(w, speakers)
		case "POST /audio_query", "POST /synthesis":
			if _, err := strconv.ParseInt(a.Query.Get("speaker"), 10, 32); err != nil {
				t.Errorf("%s: %v", where, err)
			}
			if where == "POST /audio_query" {
				if a.Body != "" || a.Query.Get("text") == "" {
					t.Errorf("%+v", a)
				}
				_, _ = io.WriteString(w, query)
				return
			}
			if body, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body)); err != nil || schema.Validate(body) != nil || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%v, %v, %+v", err, schema.Validate(body), a)
			}
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(wav(a.Body))
		default:
			t.Errorf("there is no %s", where)
		}
	})
}

func compiled(t *testing.T, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("query.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("query.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVoicevoxIsAskedForAVoice(t *testing.T) {
	address, all := voicevox(t, query, func(body string) []byte { return tone(24000, length(t, body)).WAV() })
	e := made(t, engine.Config{Engine: "voicevox", Address: address})
	if err := e.Ready(t.Context()); err != nil || (*all)[0].Path != "/version" {
		t.Errorf("%v, %+v", err, *all)
	}
	for _, c := range []struct {
		voice   engine.Voice
		speaker string
		changed map[string]any
	}{
		{engine.Voice{Speaker: "3"}, "3", nil},
		{engine.Voice{Speaker: "-1405"}, "-1405", nil}, // AivisSpeech has numbers of 32 bits
		{engine.Voice{Speaker: "2", Speed: 1.5, Pitch: -0.1, Intonation: ptr(0)}, "2", map[string]any{"speedScale": 1.5, "pitchScale": -0.1, "intonationScale": 0.0}},
		{engine.Voice{}, "2", nil},
		{engine.Voice{Speaker: "ずんだもん"}, "3", nil},
		{engine.Voice{Speaker: "ずんだもん", Style: "ささやき"}, "22", nil},
		{engine.Voice{Style: "あまあま"}, "0", nil},
	} {
		*all = nil
		if _, err := e.Speak(t.Context(), "まあ、うん？ & more", c.voice); err != nil {
			t.Errorf("%+v: %v", c.voice, err)
			continue
		}
		asks := *all
		if asks[0].Path == "/speakers" {
			asks = asks[1:]
		}
		if len(asks) != 2 || asks[0].Query.Get("text") != "まあ、うん？ & more" || asks[0].Query.Get("speaker") != c.speaker || asks[1].Query.Get("speaker") != c.speaker {
			t.Errorf("%+v: asked %+v", c.voice, asks)
			continue
		}
		var want, got map[string]any
		for from, into := range map[string]*map[string]any{query: &want, asks[1].Body: &got} {
			if err := json.Unmarshal([]byte(from), into); err != nil {
				t.Fatal(err)
			}
		}
		for k, v := range c.changed {
			want[k] = v
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: synthesis of\n%v\nwant\n%v", c.voice, got, want)
		}
	}
}

// TestSpeakersAreAskedForOnce, and again when somebody is not among them.
func TestSpeakersAreAskedForOnce(t *testing.T) {
	address, all := voicevox(t, query, func(body string) []byte { return tone(24000, length(t, body)).WAV() })
	e := made(t, engine.Config{Engine: "voicevox", Address: address})
	for range 3 {
		if _, err := e.Speak(t.Context(), "うん", engine.Voice{Speaker: "ずんだもん"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(*all) != 7 {
		t.Errorf("asked %d times", len(*all))
	}
	for voice, want := range map[engine.Voice]string{
		{Speaker: "だれか"}:                `no speaker "だれか": GET /speakers lists them`,
		{Speaker: "ずんだもん", Style: "おこ"}: `no style "おこ" of "ずんだもん" that talks`,
	} {
		*all = nil
		_, err := e.Speak(t.Context(), "うん", voice)
		if abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), want) || len(*all) != 1 {
			t.Errorf("%v, asked %d times", err, len(*all))
		}
	}
}

// TestMouthOfMoras: the mouth is what each mora says, for as long as it is heard, also of one who speaks faster.
func TestMouthOfMoras(t *testing.T) {
	for _, speed := range []float64{0, 2} {
		address, _ := voicevox(t, query, func(body string) []byte { return tone(24000, length(t, body)).WAV() })
		s, err := made(t, engine.Config{Engine: "voicevox", Address: address}).Speak(t.Context(), "まあ、うん？", engine.Voice{Speaker: "3", Speed: speed})
		if err != nil {
			t.Fatal(err)
		}
		speed = max(1, speed)
		want := []struct {
			seconds float64
			v       abi.Viseme
		}{
			{0.15, abi.Viseme{}}, {0.25, abi.Viseme{Open: 1, Shape: "a"}}, {0.3, abi.Viseme{}}, {0.1, abi.Viseme{Open: 0.2, Shape: "u"}},
			{0.06, abi.Viseme{Open: 0.23, Shape: "i"}}, {0.1, abi.Viseme{Open: 0.45, Shape: "i"}}, {0.08, abi.Viseme{}}, {0.12 + 0.15, abi.Viseme{Open: 0.1, Shape: "n"}}, {0.1, abi.Viseme{}},
		}
		if len(s.Mouth) != len(want) {
			t.Fatalf("%+v", s.Mouth)
		}
		total := 0
		for i, w := range want {
			got := s.Mouth[i]
			if total += got.MS; got.Open != w.v.Open || got.Shape != w.v.Shape || i < len(want)-1 && math.Abs(float64(got.MS)-w.seconds*1000/speed) > 1 {
				t.Errorf("at speed %v shape %d is %+v, want %+v for %v s", speed, i, got, w.v, w.seconds/speed)
			}
		}
		if total != int(math.Round(s.Clip.Seconds()*1000)) {
			t.Errorf("%d ms of %v s", total, s.Clip.Seconds())
		}
	}
}

// TestPauses: a query may say how long all pauses are, and by how much they are longer.
func TestPauses(t *testing.T) {
	longer := strings.NewReplacer(`"pauseLength":null`, `"pauseLength":0.5`, `"pauseLengthScale":1`, `"pauseLengthScale":1.2`).Replace(query)
	address, _ := voicevox(t, longer, func(body string) []byte { return tone(24000, length(t, body)).WAV() })
	s, err := made(t, engine.Config{Engine: "voicevox", Address: address}).Speak(t.Context(), "まあ、うん？", engine.Voice{Speaker: "3"})
	if err != nil || len(s.Mouth) < 3 || s.Mouth[2].MS != 600 {
		t.Errorf("%+v, %v", s.Mouth, err)
	}
}

// TestMorasWithoutLengths: AivisSpeech writes 0 for them, and an engine may be wrong: then the mouth is not told.
func TestMorasWithoutLengths(t *testing.T) {
	none := query
	for _, l := range []string{"0.05", "0.15", "0.3", "0.06", "0.08", "0.12", `_length":0.1`} {
		none = strings.ReplaceAll(none, l, strings.TrimRight(l, "0123456789.")+"0")
	}
	for what, c := range map[string]struct {
		query string
		wav   []byte
	}{
		"no lengths":  {none, tone(44100, 2).WAV()},
		"others":      {query, tone(24000, 2).WAV()},
		"no moras":    {strings.Replace(query, `"accent_phrases":[`, `"accent_phrases":[],"others":[`, 1), tone(24000, 0.2).WAV()},
		"no speed":    {strings.Replace(query, `"speedScale":1`, `"speedScale":0`, 1), tone(24000, 1.3).WAV()},
		"no duration": {none, tone(24000, 0.2).WAV()},
	} {
		address, _ := voicevox(t, c.query, func(string) []byte { return c.wav })
		s, err := made(t, engine.Config{Engine: "aivisspeech", Address: address}).Speak(t.Context(), "まあ", engine.Voice{Speaker: "3"})
		if err != nil || s.Mouth != nil || s.Clip.Seconds() < 0.1 {
			t.Errorf("%s: %+v, %v", what, s.Mouth, err)
		}
	}
}

// TestVoicevoxWithARealVoice: the double answers with what espeak-ng says.
func TestVoicevoxWithARealVoice(t *testing.T) {
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Skip("espeak-ng is not installed: apt-get install espeak-ng")
	}
	address, _ := voicevox(t, query, func(string) []byte {
		b, err := exec.Command(program, "-v", "ja", "--stdout", "まあ、うん。").Output()
		if err != nil {
			t.Error(err)
		}
		return b
	})
	s, err := made(t, engine.Config{Engine: "voicevox", Address: address}).Speak(t.Context(), "まあ、うん。", engine.Voice{Speaker: "3"})
	if err != nil || s.Clip.Seconds() < 0.5 || s.Clip.Seconds() > 5 || s.Clip.Rate != 22050 {
		t.Errorf("%v s, %v", s.Clip.Seconds(), err)
	}
}

// TestVoicevoxsOwnSchema holds the double, and what the engine is asked, to the engine's own description of itself,
// GET /openapi.json of any version.
func TestVoicevoxsOwnSchema(t *testing.T) {
	file := os.Getenv("COMPANIOND_VOICEVOX_OPENAPI")
	if file == "" {
		t.Skip("COMPANIOND_VOICEVOX_OPENAPI names no file: curl -o openapi.json http://127.0.0.1:50021/openapi.json")
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	its, err := c.Compile("openapi.json#/components/schemas/AudioQuery")
	if err != nil {
		t.Fatal(err)
	}
	hasPaths(t, doc.(map[string]any)["paths"].(map[string]any))
	// The engine writes null where its description says that nothing stands.
	absent := regexp.MustCompile(`,"(?:consonant|consonant_length|pause_mora)":null`).ReplaceAllString(query, "")
	address, all := voicevox(t, absent, func(body string) []byte { return tone(24000, length(t, body)).WAV() })
	e := made(t, engine.Config{Engine: "voicevox", Address: address})
	if _, err := e.Speak(t.Context(), "まあ", engine.Voice{Speaker: "ずんだもん", Speed: 1.1, Pitch: 0.1, Intonation: ptr(1.2)}); err != nil {
		t.Fatal(err)
	}
	for _, a := range *all {
		if a.Path != "/synthesis" {
			continue
		}
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
		if err != nil {
			t.Fatal(err)
		}
		if err := its.Validate(body); err != nil {
			t.Errorf("it would refuse %s: %v", a.Body, err)
		}
	}
	list, err := c.Compile("openapi.json#/paths/~1speakers/get/responses/200/content/application~1json/schema")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := jsonschema.UnmarshalJSON(strings.NewReader(speakers))
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Validate(ours); err != nil {
		t.Errorf("it would not list the speakers so: %v", err)
	}
}

// hasPaths holds that a description has the paths that are asked, and tells of parameters that it has not.
func hasPaths(t *testing.T, paths map[string]any) {
	t.Helper()
	for where, names := range takes {
		method, path, _ := strings.Cut(where, " ")
		op, ok := paths[path].(map[string]any)[strings.ToLower(method)].(map[string]any)
		if !ok {
			t.Errorf("it has no %s", where)
			continue
		}
		var has []string
		parameters, _ := op["parameters"].([]any)
		for _, p := range parameters {
			has = append(has, p.(map[string]any)["name"].(string))
		}
		for _, name := range names {
			if !slices.Contains(has, name) {
				t.Logf("%s has no %s in this version", where, name)
			}
		}
	}
}

package stream_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/stream"
)

// assemble reads parts as JSON, as an API's events have them.
func assemble(t interface{ Fatal(...any) }, parts ...string) []stream.Call {
	var calls stream.Calls
	for _, p := range parts {
		var part stream.Part
		if err := json.Unmarshal([]byte(p), &part); err != nil {
			t.Fatal(err)
		}
		if !calls.Add(part) {
			t.Fatal("too many calls")
		}
	}
	return calls.List()
}

func TestCalls(t *testing.T) {
	wave := stream.Call{ID: "a", Name: "wave", Arguments: `{"hand":"left"}`}
	nod := stream.Call{ID: "b", Name: "nod", Arguments: `{}`}
	for name, c := range map[string]struct {
		parts []string
		want  []stream.Call
	}{
		"by the protocol": {[]string{
			`{"index":0,"id":"a","type":"function","function":{"name":"wave","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"hand\":"}}`,
			`{"index":1,"id":"b","function":{"name":"nod","arguments":"{"}}`,
			`{"index":0,"function":{"arguments":"\"left\"}"}}`,
			`{"index":1,"function":{"arguments":"}"}}`}, []stream.Call{wave, nod}},
		"whole, all at index 0": {[]string{
			`{"index":0,"id":"a","function":{"name":"wave","arguments":"{\"hand\":\"left\"}"}}`,
			`{"index":0,"id":"b","function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{wave, nod}},
		"whole, without index": {[]string{
			`{"id":"a","function":{"name":"wave","arguments":"{\"hand\":\"left\"}"}}`,
			`{"id":"b","function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{wave, nod}},
		"in parts, without index": {[]string{
			`{"id":"a","function":{"name":"wave","arguments":"{\"hand\":"}}`,
			`{"function":{"arguments":"\"left\"}"}}`}, []stream.Call{wave}},
		"the same tool twice, without index and id": {[]string{
			`{"function":{"name":"nod","arguments":"{}"}}`,
			`{"function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{{Name: "nod", Arguments: "{}"}, {Name: "nod", Arguments: "{}"}}},
		"the same tool twice at index 0, without id": {[]string{
			`{"index":0,"id":"","function":{"name":"nod","arguments":"{\"n\":1}"}}`,
			`{"index":0,"id":null,"function":{"name":"nod","arguments":"{\"n\":2}"}}`}, []stream.Call{{Name: "nod", Arguments: `{"n":1}`}, {Name: "nod", Arguments: `{"n":2}`}}},
		"id and name in every part": {[]string{
			`{"index":0,"id":"a","function":{"name":"wave","arguments":"{\"hand\":"}}`,
			`{"index":0,"id":"a","function":{"name":"wave","arguments":"\"left\"}"}}`}, []stream.Call{wave}},
		"name in every part, no id": {[]string{
			`{"index":0,"function":{"name":"wave","arguments":"{\"hand\":"}}`,
			`{"index":0,"function":{"name":"wave","arguments":"\"left\"}"}}`}, []stream.Call{{Name: "wave", Arguments: wave.Arguments}}},
		"one id for two tools": {[]string{
			`{"index":0,"id":"a","function":{"name":"wave","arguments":"{\"hand\":\"left\"}"}}`,
			`{"index":0,"id":"a","function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{wave, {ID: "a", Name: "nod", Arguments: "{}"}}},
		"the id later": {[]string{
			`{"index":0,"function":{"name":"wave"}}`,
			`{"index":0,"id":"a","function":{"arguments":"{\"hand\":\"left\"}"}}`}, []stream.Call{wave}},
		"the name later": {[]string{
			`{"index":0,"id":"a"}`,
			`{"index":0,"function":{"name":"wave","arguments":"{\"hand\":\"left\"}"}}`}, []stream.Call{wave}},
		"arguments that are an object":   {[]string{`{"id":"a","function":{"name":"wave","arguments":{"hand":"left"}}}`}, []stream.Call{wave}},
		"arguments that are null":        {[]string{`{"id":"b","function":{"name":"nod","arguments":null}}`}, []stream.Call{{ID: "b", Name: "nod"}}},
		"an id that is a number":         {[]string{`{"id":7,"function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{{Name: "nod", Arguments: "{}"}}},
		"indexes that begin elsewhere":   {[]string{`{"index":3,"id":"b","function":{"name":"nod"}}`, `{"index":3,"function":{"arguments":"{}"}}`}, []stream.Call{nod}},
		"arguments that are no JSON":     {[]string{`{"id":"a","function":{"name":"wave","arguments":"left, please"}}`}, []stream.Call{{ID: "a", Name: "wave", Arguments: "left, please"}}},
		"a part that says nothing first": {[]string{`{"index":0}`, `{"index":0,"id":"b","function":{"name":"nod","arguments":"{}"}}`}, []stream.Call{nod}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := assemble(t, c.parts...); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	var calls stream.Calls
	for i := range stream.MaxCalls {
		if !calls.Add(stream.Part{ID: stream.Phrase(fmt.Sprint(i)), Function: stream.Function{Name: "nod"}}) {
			t.Fatal(i)
		}
	}
	if calls.Add(stream.Part{ID: "more", Function: stream.Function{Name: "nod"}}) {
		t.Error("one more was taken")
	}
	if !calls.Add(stream.Part{Function: stream.Function{Arguments: "{}"}}) {
		t.Error("a part of the last one was not taken")
	}
}

func TestPhrase(t *testing.T) {
	for in, want := range map[string]stream.Phrase{
		`"a"`: "a", `null`: "", `7`: "", `{}`: "", `true`: "",
		`[{"type":"thinking","thinking":[]},{"type":"text","text":"a"},{"type":"text","text":"b"}]`: "ab",
	} {
		var got stream.Phrase
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}

// Calls that are cut into parts as the protocol says, and parts of different calls between each
// other, are put together again; so are whole ones in the ways that servers send them.
func TestCallsWhateverTheParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := make([]stream.Call, rapid.IntRange(1, 5).Draw(t, "calls"))
		left := make([]string, len(want))
		for i := range want {
			args, err := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
			if err != nil {
				t.Fatal(err)
			}
			want[i] = stream.Call{ID: fmt.Sprintf("call_%d", i), Name: rapid.SampledFrom([]string{"wave", "nod", "手を振る"}).Draw(t, "name"), Arguments: string(args)}
			left[i] = string(args)
		}
		repeats := rapid.Bool().Draw(t, "id and name in each part")
		var parts []string
		for begun := 0; begun < len(want) || strings.Join(left, "") != ""; {
			i := rapid.IntRange(0, min(begun, len(want)-1)).Draw(t, "which")
			n := rapid.IntRange(0, len(left[i])).Draw(t, "cut")
			part := map[string]any{"index": i}
			fn := map[string]string{"arguments": left[i][:n]}
			if i == begun || repeats {
				part["id"], fn["name"] = want[i].ID, want[i].Name
			}
			begun = max(begun, i+1)
			left[i] = left[i][n:]
			part["function"] = fn
			// What json.Marshal makes of half a character is not what a server would send.
			if !valid(fn["arguments"]) {
				left[i] = fn["arguments"] + left[i]
				fn["arguments"] = ""
			}
			raw, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, string(raw))
		}
		if got := assemble(t, parts...); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q\nof %s", got, want, strings.Join(parts, "\n"))
		}
	})
}

func valid(s string) bool { return strings.ToValidUTF8(s, "?") == s }

// Whole calls come with an id or without, with an index or without, all the same one or not.
func TestWholeCallsWhateverTheyLack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []stream.Call
		var parts []string
		ids, indexes := rapid.Bool().Draw(t, "ids"), rapid.SampledFrom([]string{"none", "zero", "counted"}).Draw(t, "indexes")
		for i := range rapid.IntRange(1, 6).Draw(t, "calls") {
			c := stream.Call{Name: rapid.SampledFrom([]string{"wave", "nod"}).Draw(t, "name"), Arguments: fmt.Sprintf(`{"n":%d}`, i)}
			part := map[string]any{"function": map[string]string{"name": c.Name, "arguments": c.Arguments}}
			if ids {
				c.ID = fmt.Sprint("id", i)
				part["id"] = c.ID
			}
			switch indexes {
			case "zero":
				part["index"] = 0
			case "counted":
				part["index"] = i
			}
			raw, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			parts, want = append(parts, string(raw)), append(want, c)
		}
		if got := assemble(t, parts...); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// FuzzCalls holds the assembly to losing no argument, whatever the parts are.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`[{"index":0,"id":"a","function":{"name":"wave","arguments":"{"}},{"index":0,"function":{"arguments":"}"}}]`))
	f.Add([]byte(`[{"function":{"name":"a","arguments":{}}},{"index":-1,"id":null}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var parts []stream.Part
		if json.Unmarshal(in, &parts) != nil {
			return
		}
		var calls stream.Calls
		sent, kept := 0, 0
		for _, p := range parts {
			if !calls.Add(p) {
				break
			}
			sent += len(p.Function.Arguments)
		}
		list := calls.List()
		for _, c := range list {
			kept += len(c.Arguments)
		}
		if sent != kept || len(list) > stream.MaxCalls {
			t.Errorf("%d bytes of arguments came, %d are kept, in %d calls", sent, kept, len(list))
		}
	})
}

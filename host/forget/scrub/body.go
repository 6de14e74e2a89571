package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
)

// fixed are the fields whose texts are words of the house, one of a few each, or numbers of things. They are
// never anybody's words.
var fixed = set("kind", "state", "outcome", "rule", "standing", "what", "stage", "closing", "code", "policy", "waits", "end", "ends", "how",
	"stale", "interrupt", "op", "engine", "format", "media_type", "source", "grant", "token", "line", "hash", "seed", "model", "order", "version", "waiting", "selected", "numbers", "answers", "blob", "mouth")

// isFixed says whether a field is one of fixed. What must stay of turns is in somebody's words.
func isFixed(kind entry.Kind, key string) bool {
	return fixed[key] && !(kind == entry.KindHistory && key == "policy") || kind == entry.KindHandled && (key == "of" || key == "did" || key == "handler")
}

// names are the fields that name somebody. What stands there is the person's name, which gets another, or
// somebody else's, which stays also in the person's own entries.
var names = set("from", "to", "who", "voter", "by", "speaker", "electorate", "addressed", "members", "humans", "hosted", "absent", "awaits",
	"called", "missed", "ended_by", "interrupters", "id", "title", "action", "perception", "project", "game")

// people are those of them in which people and companions stand; in the others it is things, which may be called after
// somebody.
var people = set("from", "to", "who", "voter", "by", "speaker", "electorate", "addressed", "members", "humans", "hosted", "absent", "awaits",
	"called", "missed", "ended_by", "interrupters", "id")

// free are the fields in which there is whatever somebody put there: no field of theirs is the house's.
var free = set("body", "parameters", "data")

// sentences are the fields in which the house tells what happened, by kind.
var sentences = map[entry.Kind]map[string]bool{
	entry.KindDecision: set("reason"), entry.KindRefused: set("why"), entry.KindHeard: set("why"), entry.KindFailed: set("error"),
	entry.KindCast: set("reason"), entry.KindLifecycle: set("reason"), entry.KindSaid: set("broken"),
}

// whole are the fields of the person's own entries that go with all that is in them, by kind; what is left
// of a text elsewhere is an empty one.
var whole = map[entry.Kind]map[string]bool{
	entry.KindPerceived: set("body", "sha256", "size"), entry.KindSaid: set("parameters"), entry.KindWish: set("parameters"),
	entry.KindAction: set("parameters"), entry.KindOpened: set("settings"), entry.KindUsage: set("told"),
}

// hashes are fields of a request to a model that have no words, and names of its own words in others.
var hashes = set("sha256", "system", "tools", "memories")

// tail gives what is left of what stood behind the history of a request, line by line; where words stand in more than one,
// nothing.
func (w *Words) tail(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = w.text(l, none)
	}
	return w.text(strings.Join(lines, "\n"), none)
}

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// Entry gives what is left of an entry's body, and whether that is less than it was.
func (w *Words) Entry(e entry.Entry) (left json.RawMessage, lost bool) {
	return w.entry(e, object(e.Body), false)
}

// entry is Entry, of a body that was decoded; silent: its text goes whatever it is.
func (w *Words) entry(e entry.Entry, body map[string]any, silent bool) (left json.RawMessage, lost bool) {
	if body == nil {
		return nil, false
	}
	v := visit{w: w, kind: e.Kind, own: w.owns(e.Kind, body), care: w.careOf(e.Kind, body)}
	if text, _ := body["text"].(string); silent && text != "" {
		body["text"], v.lost = "", true
		silence(body["voice"])
	}
	if left, less := w.left(e); less {
		body["text"], v.lost = left, true
		silence(body["voice"])
		delete(body, "parameters") // they may have it, too
	}
	if _, ok := body["parameters"]; silent && ok {
		delete(body, "parameters")
		v.lost = true
	}
	if silent && e.Kind == entry.KindSound { // nobody is to try out what it said
		delete(body, "mouth")
		delete(body, "blob")
		v.lost = true
	}
	body = v.object("", body)
	if !v.lost {
		return nil, false
	}
	if e.Kind == entry.KindPerceived { // nobody is to try out what it was
		body["sha256"], body["size"] = "", 0
	}
	body[entry.ErasedKey] = w.order
	left, err := json.Marshal(body)
	return left, err == nil
}

// author gives who said what an entry has, "" where no person did.
func author(kind entry.Kind, body map[string]any) (who string) {
	if body["by"] != string(abi.KindHuman) {
		return ""
	}
	switch kind {
	case entry.KindSaid:
		who, _ = body["from"].(string)
	case entry.KindRefused, entry.KindWish:
		who, _ = body["who"].(string)
	}
	return who
}

// careOf is for the texts of an entry.
func (w *Words) careOf(kind entry.Kind, body map[string]any) care {
	if who := author(kind, body); who != "" {
		return w.careFor(who)
	}
	return none
}

// OfOther says whether an entry that was erased is what another person said, and whether that has no text any more; else it
// has another name where the name was.
func (w *Words) OfOther(e entry.Entry) (other, silent bool) {
	body := object(e.Body)
	who := author(e.Kind, body)
	return who != "" && who != w.as && !w.tells[who], body["text"] == ""
}

// Own says whether an entry is the person's own.
func (w *Words) Own(e entry.Entry) bool {
	body := object(e.Body)
	return body != nil && w.owns(e.Kind, body)
}

// JSON gives what is left of a value that is no body of an entry, and whether that is less than it was.
func (w *Words) JSON(raw []byte) (left []byte, lost bool) {
	value := decode(raw)
	if value == nil {
		return raw, false
	}
	v := visit{w: w}
	value = v.value("", value)
	if !v.lost {
		return raw, false
	}
	left, err := json.Marshal(value)
	return left, err == nil
}

// visit is one walk through a value.
type visit struct {
	w    *Words
	kind entry.Kind
	own  bool // the person's own entry, or part of one
	free bool // inside a field that is free

	care care // for what another person said
	lost bool
}

func (v *visit) value(key string, x any) any {
	switch x := x.(type) {
	case map[string]any:
		return v.object(key, x)
	case []any:
		for i := range x {
			x[i] = v.value(key, x[i])
		}
	case string:
		s := v.text(key, x)
		v.lost = v.lost || s != x
		return s
	case json.Number:
		if len(x) >= 4 && !v.w.is(key) && v.w.Hits(string(x)) && v.kind == "" {
			v.lost = true
			return json.Number("0")
		}
	}
	return x
}

func (v *visit) object(key string, x map[string]any) map[string]any {
	if id, _ := x["id"].(string); v.w.is(id) { // one of those who are here: the name that is shown, too
		if _, ok := x["name"]; ok {
			x["name"] = v.w.as
			delete(x, "aliases")
			v.lost = true
		}
	}
	said, _ := x["text"].(string)
	for _, k := range slices.Sorted(maps.Keys(x)) {
		if v.own && key == "" && whole[v.kind][k] {
			delete(x, k)
			v.lost = true
			continue
		}
		was := v.free
		v.free = v.free || free[k]
		value := v.value(k, x[k])
		v.free = was
		if _, text := value.(string); text && key == "names" && v.w.is(k) { // what the person was called
			value = v.w.as
		}
		switch to := v.field(k); {
		case to == k:
			x[k] = value
		default:
			delete(x, k)
			x[to] = value
			v.lost = true
		}
	}
	if now, _ := x["text"].(string); now != said {
		silence(x["voice"])
	}
	return x
}

// field gives what a field is to be called, which may be a name or a word where it is one of a map.
func (v *visit) field(k string) string {
	switch {
	case !v.free && (fixed[k] || names[k]):
	case v.w.is(k):
		return v.w.as
	case v.w.Hits(k):
		return "erased"
	}
	return k
}

// text gives what is left of a text in a field.
func (v *visit) text(key, s string) string {
	switch {
	case !v.free && isFixed(v.kind, key) || key == entry.ErasedKey:
		return s
	case v.kind == entry.KindCast && (key == "name" || key == "aliases"): // what somebody else is called here
		return s
	case v.kind == entry.KindUsage && !v.free && hashes[key], key == "by" && !v.free && s == history.Configuration:
		return s
	case v.kind == entry.KindUsage && !v.own && key == "tail":
		return v.w.tail(s)
	case v.w.is(s) && !(key == "by" && slices.Contains(participants, s)):
		return v.w.as
	case !v.free && people[key] && isName(strings.TrimPrefix(s, "@")):
		if v.w.called(s) {
			return v.w.as
		}
		return s // whole, a name is nobody else's
	case !v.free && sentences[v.kind][key]:
		return v.w.house(s)
	case !v.free && names[key] && (v.own || !strings.ContainsAny(s, " 　")) && !v.w.named(plain(s), none):
		return s
	case v.own && !isTime(s):
		return ""
	case isTime(s):
		return s
	}
	return v.w.text(s, v.care)
}

// participants are what somebody can be, which stands in the same field as a name.
var participants = []string{"human", "companion", "agent"}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

// silence leaves of a voice how long it takes, and not of how many letters.
func silence(voice any) {
	beats, _ := voice.([]any)
	for _, b := range beats {
		if m, ok := b.(map[string]any); ok {
			m["bytes"] = 0
		}
	}
}

// texts calls f with all texts of a body in which words may stand.
func texts(kind entry.Kind, key string, x any, f func(string)) {
	switch x := x.(type) {
	case map[string]any:
		for k, x := range x {
			if free[key] { // all below is
				k = key
			}
			texts(kind, k, x, f)
		}
	case []any:
		for _, x := range x {
			texts(kind, key, x, f)
		}
	case string:
		if free[key] || !isFixed(kind, key) && !names[key] && !sentences[kind][key] && key != "sha256" && key != entry.ErasedKey && !isTime(x) {
			f(x)
		}
	}
}

func decode(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// deep is how many encodings are looked through, one in the other.
const deep = 3

// layers gives a text and what it holds in encoded form: the texts of JSON, what
// stands behind escapes, what base64 is of.
func layers(s string) []string {
	all := []string{s}
	unwrap(s, deep, &all)
	return all
}

func unwrap(s string, depth int, all *[]string) {
	if depth == 0 {
		return
	}
	add := func(inner string) {
		*all = append(*all, inner)
		unwrap(inner, depth-1, all)
	}
	if t := strings.TrimSpace(s); t != "" && strings.ContainsRune("{[\"", rune(t[0])) {
		if v := decode([]byte(t)); v != nil {
			leaves(v, add)
			return
		}
	}
	if strings.Contains(s, `\`) {
		if inner, ok := unescape(s); ok {
			add(inner)
		}
	}
	if len(s) >= 8 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(strings.TrimRight(s, "=")); err == nil && utf8.Valid(b) {
				add(string(b))
				return
			}
		}
	}
}

func leaves(v any, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			f(k)
			leaves(v, f)
		}
	case []any:
		for _, v := range v {
			leaves(v, f)
		}
	case string:
		f(v)
	case json.Number:
		f(string(v))
	}
}

// unescape undoes the escapes of JSON in a text that is none.
func unescape(s string) (string, bool) {
	var out string
	quoted := `"` + strings.NewReplacer(`\"`, `\"`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
	if json.Unmarshal([]byte(quoted), &out) != nil || out == s {
		return "", false
	}
	return out, true
}

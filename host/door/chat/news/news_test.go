package news_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/door/chat/news"
)

// list reads "u:hello|a:hi|s:be nice|p:and a picture".
func list(text string) (all []news.Message) {
	roles := map[string]string{"p": news.User, "u": news.User, "a": news.Assistant, "s": "system", "d": "developer", "t": "tool"}
	for part := range strings.SplitSeq(text, "|") {
		if role, said, ok := strings.Cut(part, ":"); ok {
			m := news.Message{Role: roles[role], Text: said}
			if role == "p" {
				m.Odd = "picture"
			}
			all = append(all, m)
		}
	}
	return all
}

func texts(n news.News) string {
	var all []string
	for _, l := range n.Lines {
		all = append(all, l.Text+l.Odd)
	}
	return strings.Join(all, "|")
}

func TestWhatIsNew(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"one message", "u:hello", "hello"},
		{"with a prompt", "s:be a cat|u:hello", "hello"},
		{"with a prompt behind", "u:hello|s:[Stay in character]", "hello"},
		{"the newest of a talk", "u:hello|a:hi|u:how are you?", "how are you?"},
		{"two at once", "u:hello|a:hi|u:so|u:how are you?", "so|how are you?"},
		{"an answer without words between", "u:hello|a:|u:are you there?", "hello|are you there?"},
		{"an answer without words at the end", "u:hello|a: ", "hello"},
		{"a greeting of the character's", "s:x|a:Welcome.|u:hello", "hello"},
		{"space around it is kept", "u: hello\n", " hello\n"},
		{"Japanese", "s:あなたは綾です|u:こんばんは|a:こんばんは。|u:元気?", "元気?"},
		{"continue", "u:hello|a:hi", ""},
		{"a quiet prompt", "u:hello|a:hi|s:Sum up the talk so far.", ""},
		{"nothing", "", ""},
		{"an empty prompt", "s:", ""},
		{"a prompt alone", "s:You make titles.", ""},
		{"an empty message", "s:x|u: \n", ""},
		{"behind an answer", "u:hello|a:hi|u:", ""},
		{"a picture", "u:hello|a:hi|p:", "picture"},
		{"a picture with words", "p:look: |u:see?", "look: picture|see?"},
		{"a picture that was answered", "p:|a:hi|u:see?", "see?"},
		{"a tool's word", "u:hello|t:42", "hello"},
		{"more than may be new", "u:1|u:2|u:3|u:4|u:5|u:6|u:7|u:8|u:9", "2|3|4|5|6|7|8|9"},
		{"what was looked up", "u:### Task:\nAnswer from the context.\n<context>x</context>\n<user_query>\n今日は?\n</user_query>", "今日は?"},
		{"a word of the user's about tasks", "u:My ### Task: is dull", "My ### Task: is dull"},
	} {
		if n := news.Of(list(c.list)); texts(n) != c.want || n.Errand != "" {
			t.Errorf("%s: %q, errand %q; want %q", c.name, texts(n), n.Errand, c.want)
		}
	}
}

func TestErrands(t *testing.T) {
	for _, c := range []struct{ name, text, title string }{
		{"a title", "### Task:\nGenerate a title.\n### Output:\nJSON\n### Chat History:\n<chat_history>\nUSER: 今日の天気は?\nASSISTANT: 晴れです。\n</chat_history>", "今日の天気は?"},
		{"of long words", "### Task:\n<chat_history>\nuser: " + strings.Repeat("あ", 100) + "\n</chat_history>", strings.Repeat("あ", 39) + "…"},
		{"an older one", "Create a title.\n<chat_history>\nUSER: hello\n</chat_history>", "hello"},
		{"of a history that shows a history", "### Task:\n<chat_history>\nUSER: <chat_history>USER: x</chat_history>\n</chat_history>", "x"},
		{"of nobody's words", "### Task:\n<chat_history>\nASSISTANT: hi\n</chat_history>", "aya"},
		{"tags without a history", "### Task:\nGenerate 1-3 broad tags.", "aya"},
		{"an unclosed history", "### Task:\n<chat_history>\nUSER: hello", "aya"},
	} {
		n := news.Of([]news.Message{{Role: news.User, Text: c.text}})
		if n.Errand != c.text || len(n.Lines) > 0 {
			t.Errorf("%s: %+v", c.name, n)
		}
		var got struct {
			Title     string
			Tags      []string
			FollowUps []string `json:"follow_ups"`
			Queries   []string
			Text      *string
		}
		if err := json.Unmarshal([]byte(news.Run(n.Errand, "aya")), &got); err != nil || got.Title != c.title || got.Tags == nil || got.FollowUps == nil || got.Queries == nil || got.Text == nil {
			t.Errorf("%s: %s %v, want the title %q", c.name, news.Run(n.Errand, "aya"), err, c.title)
		}
	}
}

// What the user says behind an errand is new; the errand is not.
func TestBehindAnErrand(t *testing.T) {
	n := news.Of(list("u:### Task: a title|u:hello"))
	if texts(n) != "hello" || n.Errand != "" {
		t.Errorf("%+v", n)
	}
}

func draw(t *rapid.T, label string) []news.Message {
	one := rapid.Custom(func(t *rapid.T) news.Message {
		return news.Message{Role: rapid.SampledFrom([]string{news.User, news.Assistant, "system"}).Draw(t, "role"), Text: rapid.SampledFrom([]string{"", " ", "a", "b", "ab", "user", "はい"}).Draw(t, "text")}
	})
	return rapid.SliceOfN(one, 0, 12).Draw(t, label)
}

// said leaves what was said of a list: who, and what.
func said(all []news.Message) (said []string) {
	for _, m := range all {
		if words := strings.TrimSpace(m.Text); words != "" && m.Role != "system" {
			if m.Role == news.User {
				words = m.Text
			}
			said = append(said, m.Role+": "+words)
		}
	}
	return said
}

// A key is the same for the same talk, and for no other; instructions do not count. What is
// new is always the user's, behind the last answer, in its order.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		x, y := news.Of(a), news.Of(b)
		for i, l := range x.Lines {
			if m := a[l.At]; m.Role != news.User || m.Text != l.Text || i > 0 && l.At <= x.Lines[i-1].At || len(l.Key) != 24 {
				t.Fatalf("%+v of %+v", l, a)
			}
			if slices.ContainsFunc(a[l.At:], func(m news.Message) bool { return m.Role == news.Assistant && strings.TrimSpace(m.Text) != "" }) {
				t.Fatalf("%+v was answered in %+v", l, a)
			}
			for _, k := range y.Lines {
				if same := slices.Equal(said(a[:l.At+1]), said(b[:k.At+1])); same != (l.Key == k.Key) {
					t.Fatalf("%v: %q\n%q", same, said(a[:l.At+1]), said(b[:k.At+1]))
				}
			}
		}
		told := news.Of(append(append([]news.Message{{Role: "system", Text: "It is noon."}}, a...), news.Message{Role: "system", Text: "Go on."}))
		if len(told.Lines) != len(x.Lines) || len(x.Lines) > 0 && told.Lines[0].Key != x.Lines[0].Key {
			t.Fatalf("instructions count: %+v %+v", told, x)
		}
	})
}

// Whatever a client sends, the title of its errand is short, and JSON.
func TestErrandsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`### Task:(.|\n|<chat_history>|USER: |</chat_history>){0,80}`).Draw(t, "text")
		var got struct{ Title string }
		if err := json.Unmarshal([]byte(news.Run(text, "aya")), &got); err != nil || utf8.RuneCountInString(got.Title) > 40 {
			t.Fatalf("%q: %+v %v", text, got, err)
		}
	})
}

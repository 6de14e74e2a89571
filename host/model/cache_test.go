package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// elsewhere sends what is meant for other hosts to a fake.
type elsewhere struct {
	to   string
	next http.RoundTripper
}

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(e.to)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
	return e.next.RoundTrip(r)
}

// at lets a client of a fake believe that it asks another host.
func at(host string, c *Config) {
	next := c.HTTP.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.HTTP = &http.Client{Transport: elsewhere{c.URL, next}}
	c.URL = host
}

func atOpenAI(c *Config) { at("https://api.openai.com/v1", c) }

// The key goes to those that know it, in letters that they take, and to nobody else.
func TestCacheKey(t *testing.T) {
	for host, knows := range map[string]bool{
		"https://api.openai.com/v1": true, "https://eu.api.openai.com/v1": true, "https://API.OpenAI.com": true, "https://api.mistral.ai/v1": true,
		"http://127.0.0.1:11434/v1": false, "https://openrouter.ai/api/v1": false, "https://api.openai.com.example/v1": false, "https://notapi.openai.com.example": false,
	} {
		f := newFake(t, says("Hello."))
		client := f.client(OpenAI, func(c *Config) { at(host, c) })
		req := ask()
		if _, _, err := generate(t, client, req); err != nil || f.last(1).get("prompt_cache_key") != nil {
			t.Errorf("%s: without a key: %v, asked %s", host, err, f.last(1).raw)
		}
		req.CacheKey = "main_aya"
		if _, _, err := generate(t, client, req); err != nil || (f.last(2).get("prompt_cache_key") == "main_aya") != knows || strings.Contains(f.last(2).raw, "main_aya") != knows {
			t.Errorf("%s: %v, asked %s", host, err, f.last(2).raw)
		}
		req.CacheKey = strings.Repeat("居間/彩", 30)
		if _, _, err := generate(t, client, req); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.last(3).get("prompt_cache_key").(string); knows && (got == "" || len(got) > 64) {
			t.Errorf("%s: the key is %q", host, got)
		}
	}
	f := newFake(t, claude("end_turn", textBlock("Hello.")))
	req := ask()
	req.CacheKey = "main_aya"
	if _, _, err := generate(t, f.client(Anthropic, nil), req); err != nil || strings.Contains(f.last(1).raw, "main_aya") {
		t.Errorf("%v, asked %s", err, f.last(1).raw)
	}
}

// block is one of Anthropic's.
type block struct {
	Type, Text string
	Result     string `json:"content"`
	Cache      *struct{ Type string }
}

func (b block) marked() bool { return b.Cache != nil && b.Cache.Type == "ephemeral" }

// sent gives what a client of Anthropic's API makes of a request.
func sent(t testing.TB, req Request) (system []block, talk []struct {
	Role    string
	Content []block
}) {
	t.Helper()
	e := New(Config{Name: "main", API: Anthropic, URL: "http://model.test", Model: "tiny"}).(*endpoint)
	var body struct {
		System   []block
		Messages []struct {
			Role    string
			Content []block
		}
	}
	raw := strings.ReplaceAll(string(e.body(req.filled(e.cfg), 0)), `"cache_control"`, `"Cache"`)
	if err := json.Unmarshal([]byte(raw), &body); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return body.System, body.Messages
}

// Marks stand where they were set, also within messages that were joined, the last three of them.
func TestMarks(t *testing.T) {
	user := func(text string, mark bool) Message { return Message{Role: RoleUser, Text: text, Mark: mark} }
	model := func(text string, mark bool) Message { return Message{Role: RoleAssistant, Text: text, Mark: mark} }
	for want, all := range map[string][]Message{
		"user[a]":                           {user("a", false)},
		"user[a*]":                          {user("a", true)},
		"user[a*|\nb]":                      {user("a", true), user("b", false)},
		"user[a\nb]":                        {user("a", false), user("b", false)}, // nobody marks: as it ever was
		"user[a|\nb*] assistant[c] user[…]": {user("a", false), user("b", true), model("c", false)},
		"user[1] assistant[2*] user[3*] assistant[4] user[5*|\n6]":        {user("1", true), model("2", true), user("3", true), model("4", false), user("5", true), user("6", false)},
		"user[a*] assistant[|tool_use*] user[tool_result r*|tool_result]": {user("a", true), {Role: RoleAssistant, Calls: []ToolCall{{ID: "1", Name: "x"}, {ID: "2", Name: "x"}}, Mark: true}, {Role: RoleTool, CallID: "1", Text: "r", Mark: true}, {Role: RoleTool, CallID: "2"}},
		"user[a] assistant[b*] user[image|\nc*|image]":                    {user("a", false), model("b", true), {Role: RoleUser, Images: []Image{{MediaType: "image/png"}}}, user("c", true), {Role: RoleUser, Images: []Image{{MediaType: "image/png"}}}},
		"user[a|\nb*|\nc|\nd]": {user("a", false), user("b", true), user("c", false), user(" ", true), user("d", false)},
	} {
		_, talk := sent(t, Request{Messages: all})
		var got []string
		for _, m := range talk {
			var blocks []string
			for _, b := range m.Content {
				s := b.Text
				if b.Type != "text" {
					s = strings.TrimSpace(b.Type + " " + b.Result)
				}
				if b.marked() {
					s += "*"
				}
				blocks = append(blocks, s)
			}
			got = append(got, m.Role+"["+strings.Join(blocks, "|")+"]")
		}
		if strings.Join(got, " ") != strings.ReplaceAll(want, "[|tool_use*", "[tool_use|tool_use*") {
			t.Errorf("got  %q\nwant %q", strings.Join(got, " "), want)
		}
	}
}

// The system prompt has a mark of its own; a blank one is not sent.
func TestSystemMark(t *testing.T) {
	req := ask()
	req.System = "You are Aya."
	if system, _ := sent(t, req); len(system) != 1 || !system[0].marked() || system[0].Text != "You are Aya." {
		t.Errorf("%+v", system)
	}
	req.System = " \n"
	if system, _ := sent(t, req); system != nil {
		t.Errorf("%+v", system)
	}
}

// Whatever is marked, at most four marks are sent, what is said is the same, and what stands before a mark
// begins the next request in the same bytes: else nothing of it is found again.
func TestMarkedPrefixStays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var history []Message
		for i := range rapid.IntRange(1, 30).Draw(rt, "messages") {
			m := Message{Role: RoleUser, Text: fmt.Sprintf("%d. said", i)}
			if rapid.Bool().Draw(rt, "own") {
				m.Role = RoleAssistant
			}
			history = append(history, m)
		}
		prefix := func(n int, volatile string) (before, text string) {
			all := append([]Message(nil), history[:n]...)
			all[n-1].Mark = true
			if n > 2 {
				all[n/2].Mark = true
			}
			all = append(all, Message{Role: RoleUser, Text: volatile})
			system, talk := sent(t, Request{System: "s", Messages: all})
			marks, blocks := len(system), []string{}
			for _, m := range talk {
				for _, b := range m.Content {
					blocks = append(blocks, m.Role+" "+b.Text)
					if text += b.Text; b.marked() {
						marks++
						before = strings.Join(blocks, "\x00")
					}
				}
				text += "\n"
			}
			if marks > 4 || marks < 2 {
				rt.Fatalf("%d marks", marks)
			}
			return before, text
		}
		n := rapid.IntRange(1, len(history)).Draw(rt, "n")
		first, _ := prefix(n, "It is ten.")
		next, text := prefix(len(history), "It is eleven.")
		if !strings.HasPrefix(next, first) {
			rt.Fatalf("%q does not begin with %q", next, first)
		}
		for _, m := range history {
			if strings.Count("\n"+text, "\n"+m.Text+"\n") != 1 {
				rt.Fatalf("%q is not in %q", m.Text, text)
			}
		}
	})
}

package host_test

import (
	"fmt"
	"strings"
	"testing"
)

// budgetTalk is a talk, a policy, a draft and a verifier's answer to it.
var budgetTalk = []string{"おはよう", "予算は84,000円にしよう", "今日は暑いね", "締切は3月28日です"}

const (
	budgetPolicy = "予算と締切は残す。雑談はいらない。"
	budgetDraft  = "予算は84,000円、締切は3月28日。"
)

// answered gives what a verifier says of budgetDraft: the answer of a model that keeps to all rules.
func answered(r request) string {
	var items []string
	for _, l := range r.lines {
		switch {
		case l.Keep == "":
		case strings.Contains(l.Text, "84,000"):
			items = append(items, fmt.Sprintf(`{"id":%q,"status":"kept","quote":"予算は84,000円"}`, l.Keep))
		case strings.Contains(l.Text, "28"):
			items = append(items, fmt.Sprintf(`{"id":%q,"status":"kept","quote":"締切は3月28日"}`, l.Keep))
		default:
			items = append(items, fmt.Sprintf(`{"id":%q,"status":"missing","quote":""}`, l.Keep))
		}
	}
	return `{"items":[` + strings.Join(items, ",") + `],"added":[],"feedback":"","verdict":"YES"}`
}

// TestAnswersOfVerifiers: a verdict counts however a model writes it, and where none comes, the person is told why: as a draft that was refused
// where what the model says is none, and as a proposal that failed where it could not be asked.
func TestAnswersOfVerifiers(t *testing.T) {
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	m := &scribeModel{}
	h := newHome(t)
	h.open("[model.main]\nurl = \"" + m.open(t) + "\"\nmodel = \"tiny\"\nretries = 0\n[room.main]\ncompanions = []\n")
	for _, text := range budgetTalk {
		h.say("main", "taro", text)
	}
	for _, c := range []struct {
		name   string
		form   func(string) string
		state  string // of a draft from outside: a NO leaves it open to another
		reason string
	}{
		{"plain", func(s string) string { return s }, "offered", ""},
		{"in a fence", func(s string) string { return "```json\n" + s + "\n```" }, "offered", ""},
		{"with words around it", func(s string) string { return "Here is my verdict:\n" + s + "\nI hope this helps." }, "offered", ""},
		{"behind a thought", func(s string) string { return "<think>Is M1 there? {\"verdict\":\"NO\"} Yes.</think>\n" + s }, "offered", ""},
		{"with commas too many", func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "],", ",],"), `"}`, `",}`) }, "offered", ""},
		{"Yes.", replace(`"YES"`, `"Yes."`), "offered", ""},
		{"はい", replace(`"YES"`, `"はい"`), "offered", ""},
		{"ids without M", func(s string) string { return strings.ReplaceAll(s, `"id":"M`, `"id":"`) }, "offered", ""},
		{"more keys", replace(`"added"`, `"confidence":0.9,"added"`), "offered", ""},
		{"quoted in other letters", replace(`予算は84,000円`, `予算は ８４，０００円。`), "offered", ""},
		{"elided", replace(`予算は84,000円`, `予算は…3月28日`), "offered", ""},
		{"NO without a reason", replace(`"YES"`, `"NO"`), "drafting", `the verifier says "NO": it gives no reason`},
		{"no verdict", replace(`,"verdict":"YES"`, ``), "drafting", "the verifier's answer cannot be read: "},
		{"prose", func(string) string { return "The draft is fine." }, "drafting", "it is not a JSON object"},
		{"a quotation of its own", replace(`予算は84,000円`, `予算は八万円台`), "drafting", "does not have \"予算は八万円台\""},
		{"said twice", func(s string) string { return s + "\n```json\n" + s + "\n```" }, "offered", ""},
		{"YES, and then NO", func(s string) string { return s + "\nWait, I was wrong:\n" + replace(`"YES"`, `"NO"`)(s) }, "drafting", "several JSON objects that differ"},
		{"YES, and NO in a fence", func(s string) string { return s + "\n```json\n" + replace(`"YES"`, `"NO"`)(s) + "\n```" }, "drafting", "several JSON objects that differ"},
		{"YES in a fence, and then NO", func(s string) string { return "```json\n" + s + "\n```\nNo: {\"verdict\":\"NO\",}" }, "drafting", "several JSON objects that differ"},
		{"added", replace(`"added":[]`, `"added":["締切は3月28日"]`), "drafting", "is not in the original: leave it out"},
		{"cut off", func(s string) string { return s[:60] + cutOff }, "failed", "the draft cannot be verified: the model's answer was cut off"},
	} {
		m.verify = func(r request) string { return c.form(answered(r)) }
		got := h.compressed(map[string]any{"turns": "1-4", "policy": budgetPolicy, "text": budgetDraft, "verifier": "model"})
		if got.State != c.state || !strings.Contains(got.Why, c.reason) || c.reason == "" && got.Why != "" {
			t.Errorf("%s: %s, %q, want %s, %q\n%+v", c.name, got.State, got.Why, c.state, c.reason, got.Drafts)
		}
		if got.State != "failed" {
			h.decides(got.ID, "deny")
		}
	}
	m.refuses = func(r request) bool { return r.name == "verified" }
	if got := h.compressed(map[string]any{"turns": "1-4", "text": budgetDraft, "verifier": "model"}); got.State != "failed" || !strings.Contains(got.Why, "the prompt exceeds the context window") || len(got.Drafts) > 0 {
		t.Errorf("an endpoint that refuses: %+v", got)
	}
}

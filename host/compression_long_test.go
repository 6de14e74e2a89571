package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/model/tokens/tokenstest"

	"github.com/companiond/companiond/host/waittest"
)

// longTalk opens a house whose model has a context of 8,000 tokens, and says turns of so many letters; each fiftieth has what the policy names.
func longTalk(t *testing.T, m *scribeModel, turns, letters int) *home {
	t.Helper()
	h := newHome(t)
	h.open("[model.main]\nurl = \"" + m.open(t) + "\"\nmodel = \"tiny\"\nretries = 0\ncontext = 8000\ncalls_minute = 10000\n[room.main]\ncompanions = []\n")
	talk := tokenstest.NewTalk(15)
	for n := range turns {
		text := talk.Text(tokenstest.Kinds()[n%4], letters)
		if n%50 == 7 {
			text = fmt.Sprintf("予算の上限は%d円です。", 1000+n)
		}
		h.say("main", "taro", text)
	}
	return h
}

// TestThousandTurns: a thousand turns are drafted and verified in parts by a model with a context of 8,000 tokens, also to a length of which hardly
// anything is left for each part; no request is longer than that, as real vocabularies count.
func TestThousandTurns(t *testing.T) {
	waittest.WithoutRaces(t)
	m := keeper("\x00")
	h := longTalk(t, m, 1000, 60)
	for _, length := range []int{0, 600} {
		c := h.compressed(map[string]any{"turns": "1-1000", "policy": "予算の上限は残す。", "target_length": length})
		if c.State != "offered" || len(c.Drafts) != 1 || strings.Count(c.Drafts[0].Content, "予算の上限は") != 20 {
			t.Fatalf("to %d: %s %q %+v", length, c.State, c.Why, c.Drafts)
		}
		t.Logf("1,000 turns to %d letters at most: %d, by %d requests to draft and %d to verify", c.Length, len([]rune(c.Drafts[0].Content)), len(m.asked("compressed")), len(m.asked("verified")))
		h.decides(c.ID, "deny")
	}
	var sent []string
	var room []int
	for _, name := range []string{"compressed", "verified"} {
		for _, r := range m.asked(name) {
			sent, room = append(sent, r.system+"\n"+r.text), append(room, r.maxTokens)
		}
	}
	for _, family := range tokenstest.Families() {
		t.Run(family, func(t *testing.T) {
			longest := 0
			for i, n := range tokenstest.Count(t, family, sent) {
				longest = max(longest, n+room[i])
			}
			if t.Logf("the longest of %d requests comes to %d tokens with its answer", len(sent), longest); longest > 8000 {
				t.Errorf("a request comes to %d tokens with its answer", longest)
			}
		})
	}
}

// TestTooLongToVerify: what has no room in the verifier's context is refused before anybody is asked, with what would fit.
func TestTooLongToVerify(t *testing.T) {
	waittest.WithoutRaces(t)
	m := keeper("\x00")
	h := longTalk(t, m, 100, 1200)
	var problem struct{ Code, Detail string }
	status := h.post("/v1/rooms/main/compressions", map[string]any{"turns": "1-100", "policy": "予算の上限は残す。"}, &problem)
	if status != http.StatusRequestEntityTooLarge || problem.Code != "too_large" || !strings.Contains(problem.Detail, "or take fewer turns at once, 1-") || !strings.HasPrefix(problem.Detail, "target_length: ") {
		t.Fatalf("%d %+v", status, problem)
	}
	t.Log(problem.Detail)
	_, fewer, _ := strings.Cut(problem.Detail, "at once, ")
	_, length, _ := strings.Cut(problem.Detail, "ask for ")
	var most int
	if _, err := fmt.Sscan(length, &most); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("予算の話です。", 2000)
	if status := h.post("/v1/rooms/main/compressions", map[string]any{"turns": "1-100", "text": text, "target_length": most}, &problem); status != http.StatusRequestEntityTooLarge || !strings.HasPrefix(problem.Detail, "text: ") {
		t.Errorf("%d %+v", status, problem)
	}
	if n := len(m.asked("compressed")) + len(m.asked("verified")); n > 0 {
		t.Errorf("%d requests were made for it", n)
	}
	if c := h.compressed(map[string]any{"turns": fewer, "policy": "予算の上限は残す。"}); c.State != "offered" {
		t.Errorf("turns %s: %s %q", fewer, c.State, c.Why)
	}
}

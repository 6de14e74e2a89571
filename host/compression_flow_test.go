package host_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/kept"
	"github.com/companiond/companiond/host/context/told"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/model/tokens"
)

// designPolicy says what of the talk about a design stays.
const designPolicy = "データベースの制約、応答時間の目標、費用の上限、公開日、担当は必ず残す。未定のことは未定として残す。挨拶、天気、食べ物の雑談はいらない。"

// constraint is what the first draft forgets.
const constraint = "データベースはSQLite以外を使わないでください。"

// designTalk is fifty turns about a design, of which most are noise.
func designTalk() (turns []string) {
	said := map[int]string{
		4: constraint, 9: "応答時間の目標は200ミリ秒以内にしましょう。", 15: "費用の上限は月12,000円です。", 22: "公開日は4月15日に決まりました。",
		30: "認証の担当は木村さんで、4月3日までに仕上げます。", 41: "退会した人のデータをいつ消すかは未定です。",
	}
	noise := []string{"おはようございます、今日も寒いですね。", "そうですね、ちょっと考えてみます。", "昨日のラーメンがおいしかったんですよ。", "なるほど、その案も面白そうです。", "少し休憩しましょうか。"}
	for n := 1; n <= 50; n++ {
		if text := said[n]; text != "" {
			turns = append(turns, text)
		} else {
			turns = append(turns, fmt.Sprintf("%s(%d)", noise[n%len(noise)], n))
		}
	}
	return turns
}

// design opens a house in whose main room fifty turns were said, and in which Ann listens.
func design(t *testing.T, m *scribeModel) *home {
	t.Helper()
	h := newHome(t)
	h.open("[model.main]\nurl = \"" + m.open(t) + "\"\nmodel = \"tiny\"\nretries = 0\ncontext = 32000\n[room.main]\nmax_turns = 1\npatience = \"20s\"\npace = \"0s\"\n")
	for i, text := range designTalk() {
		h.say("main", []string{"taro", "hanako"}[i%2], text)
	}
	h.save("ann.json", []byte(`{"name":"Ann","personality":"curious and kind"}`))
	h.until("Ann is there", func() bool { return h.companion("ann").State == "ready" })
	return h
}

// asks has Ann answer, and gives the entry of what she was asked, and what she was told then.
func (h *home) asks(m *scribeModel, text string) (uint64, request) {
	h.t.Helper()
	before := len(h.messages("main"))
	seq := h.say("main", "taro", text)
	h.until("Ann answers", func() bool { return len(h.messages("main")) == before+2 })
	all := m.asked("")
	return seq, all[len(all)-1]
}

// behind gives what a prompt says up to a text, with it.
func behind(t *testing.T, prompt, text string) string {
	t.Helper()
	at := strings.Index(prompt, text)
	if at < 0 {
		t.Fatalf("%q is not in\n%s", text, prompt)
	}
	return prompt[:at+len(text)]
}

// prompts gives what a model was told about an entry, as why -prompt shows it.
func (h *home) prompts(op string, seqs ...uint64) (all []told.Prompt) {
	h.t.Helper()
	h.stop()
	db, err := sqlite.OpenReadOnly(filepath.Join(h.dir, "state", "companiond.db"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	shelf := told.Shelf{Journal: db, Words: kept.New(db, ""), Zone: time.Local}
	for _, seq := range seqs {
		of, err := shelf.About(h.t.Context(), "main", seq)
		at := slices.IndexFunc(of, func(p told.Prompt) bool { return p.Usage.Op == op })
		if err != nil || at < 0 || !of[at].Exact {
			h.t.Fatalf("%d: %+v, %v", seq, of, err)
		}
		all = append(all, of[at])
	}
	return all
}

func historyIn(p told.Prompt) string {
	return p.Parts[slices.IndexFunc(p.Parts, func(part told.Part) bool { return part.Name == "history" })].Text
}

// forgetful drafts what the policy names, line by line; of the first drafts, as many as it says, without the constraint.
func forgetful(drafts int) *scribeModel {
	m := &scribeModel{verify: judges}
	m.compress = func(r request) string {
		var all []string
		for _, l := range r.lines {
			if l.named() && (l.Text != constraint || len(m.asked("compressed")) > drafts) {
				all = append(all, l.Text)
			}
		}
		return writes(strings.Join(all, "\n"))
	}
	return m
}

// checkShorter holds three prompts of a character to what turns 1 to 50 come to before, while and after they were told as a text: the second is
// shorter by just these, but for the overlay's message and the time that now stands at the first turn behind it.
func checkShorter(t *testing.T, before, while, after request, text string) {
	t.Helper()
	last := designTalk()[49] + "\"}\n"
	original := behind(t, before.text, last)
	overlay := "user: " + fmt.Sprintf(`{"compressed_history":%s,"original_turns_range":[1,50]}`, quoted(text)) + "\n"
	if !strings.HasPrefix(while.text, overlay) {
		t.Fatalf("the turns are told as\n%.2000s", while.text)
	}
	if got := behind(t, after.text, last); got != original {
		t.Errorf("reverted, the turns are told as\n%s\nand were\n%s", got, original)
	}
	at := strings.Index(string(before.body), strings.Trim(quoted(designTalk()[49]), `"`))
	if at < 0 || at > len(after.body) || string(before.body[:at]) != string(after.body[:at]) {
		t.Error("reverted, the bytes of the request are not the same up to turn 50")
	}
	const stamp = `,"at":"2006-01-02 15:04"`
	shorter := behind(t, while.text, "Ann, and then?") // as a whole it was told so
	at = strings.Index(shorter, `,"at":"`)
	longer := original + shorter[len(overlay):max(at, len(overlay))] + shorter[at+len(stamp):]
	if got := behind(t, after.text, "Ann, and then?"); at < 0 || got != longer {
		t.Errorf("with the turns as they were it is told as\n%s\nwant\n%s", got, longer)
	}
	letters := utf8.RuneCountInString
	meter := new(tokens.Meter)
	size := func(s string) int { return meter.Tokens(tokens.Of(s)) }
	want := letters(original) - letters(overlay) - len(stamp)
	if got := letters(behind(t, after.text, "Ann, and then?")) - letters(shorter); got != want || want < 1000 {
		t.Errorf("the prompt is shorter by %d letters, want %d", got, want)
	}
	t.Logf("turns 1-50: %d letters, %d tokens; told as %d letters, %d tokens; the prompt is shorter by %d letters, %d tokens", letters(original), size(original), letters(overlay), size(overlay), want, size(original)-size(overlay)-size(stamp))
}

// TestTheArticlesFlowInADaemon is seed D's, through the daemon: fifty turns, a policy, a first draft that is refused for a constraint that it forgets, a
// second one that is not, a person's approval, a talk that goes on with a shorter prompt, and a revert after which the same bytes are told as
// before.
func TestTheArticlesFlowInADaemon(t *testing.T) {
	m := forgetful(1)
	h := design(t, m)
	first, before := h.asks(m, "Ann, what shall we build first?")
	c := h.compressed(map[string]any{"turns": "1-50", "policy": designPolicy})
	if c.State != "offered" || len(c.Drafts) != 2 || c.Drafts[0].Verdict != abi.VerdictNo || c.Drafts[1].Verdict != abi.VerdictYes || c.Verifier != "model" {
		t.Fatalf("%+v", c)
	}
	if f := c.Drafts[0].Feedback; !strings.Contains(f, constraint) || !strings.Contains(f, "turn 4") {
		t.Errorf("the first is refused for %q", f)
	}
	if second := m.asked("compressed")[1]; !strings.Contains(second.text, constraint) || !slices.ContainsFunc(second.lines, func(l toldLine) bool { return l.Refused == c.Drafts[0].Content && l.Feedback == c.Drafts[0].Feedback }) {
		t.Errorf("the second draft was asked for with\n%s", second.text)
	}
	h.decides(c.ID, "approve")
	second, while := h.asks(m, "Ann, and then?")
	h.decides(c.ID, "revert")
	third, after := h.asks(m, "Ann, and after that?")
	checkShorter(t, before, while, after, c.Drafts[1].Content)
	for i, p := range h.prompts("speak", first, second, third) {
		if sent := []request{before, while, after}[i]; !strings.HasPrefix(sent.text, historyIn(p)) {
			t.Errorf("why -prompt shows\n%s\nand the endpoint got\n%s", historyIn(p), sent.text)
		}
	}
	h.replay("main")
}

// TestThreeDraftsToAPerson: after three drafts that forget the constraint a person sees what was found, takes the extract, and approves it.
func TestThreeDraftsToAPerson(t *testing.T) {
	m := forgetful(9)
	h := design(t, m)
	_, before := h.asks(m, "Ann, what shall we build first?")
	c := h.compressed(map[string]any{"turns": "1-50", "policy": designPolicy})
	if c.State != "refused" || len(c.Drafts) != 3 || !strings.Contains(c.Why, constraint) {
		t.Fatalf("%+v", c)
	}
	for _, d := range c.Drafts {
		if !slices.ContainsFunc(d.Findings, func(f history.Finding) bool {
			return f.Item == constraint && f.Turn == 4 && f.Policy && f.Status == "missing"
		}) {
			t.Errorf("draft %d: %+v", d.N, d.Findings)
		}
	}
	var problem struct{ Code string }
	if status := h.post("/v1/rooms/main/compressions/"+c.ID+"/approve", map[string]any{}, &problem); status != http.StatusConflict || problem.Code != "conflict" {
		t.Errorf("what was refused is approved: %d %+v", status, problem)
	}
	c = h.decides(c.ID, "extract")
	if d := c.Drafts[len(c.Drafts)-1]; c.State != "offered" || len(c.Drafts) != 4 || d.By != "extract" || !strings.Contains(d.Content, constraint) {
		t.Fatalf("%+v", c)
	}
	h.decides(c.ID, "approve")
	_, while := h.asks(m, "Ann, and then?")
	h.decides(c.ID, "revert")
	_, after := h.asks(m, "Ann, and after that?")
	checkShorter(t, before, while, after, c.Drafts[3].Content)
	h.replay("main")
}

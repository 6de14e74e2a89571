package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/waittest"
)

const giftCard = `{
  "name": "Nikoni", "language": "en",
  "actions": [{"title": "speak", "description": "speaks", "type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}],
  "perceptions": [{"title": "gift", "description": "what viewers give", "type": "object", "properties": {"format": {"enum": ["object"]}}}],
  "events": [{"perception": "gift", "action": ["speak"], "condition": "a large one"}]
}`

// slowModel is a language model that takes its time and wants nothing. It notes which gifts it was
// shown, and how often it was asked.
type slowModel struct {
	mu    sync.Mutex
	gifts []int
	asked int
}

var giftNumber = regexp.MustCompile(`\{\\"gift\\":(\d+)\}`)

func (m *slowModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	time.Sleep(50 * time.Millisecond)
	m.mu.Lock()
	m.asked++
	for _, found := range giftNumber.FindAllSubmatch(body, -1) {
		n, _ := strconv.Atoi(string(found[1]))
		m.gifts = append(m.gifts, n)
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"nothing"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
}

func (m *slowModel) seen() (gifts []int, asked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]int(nil), m.gifts...), m.asked
}

// TestGiftsAreNotLost: 2,000 gifts of as many viewers come within seconds, and the
// daemon is started anew in the middle. Each that was answered with 202 is judged, in the order of
// the journal and some in one call; those that did not fit were answered with 429, and when.
func TestGiftsAreNotLost(t *testing.T) {
	model := &slowModel{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("nikoni.json", []byte(giftCard))
	settings := "[model.main]\nurl = \"" + server.URL + "/v1\"\nmodel = \"tiny\"\nretries = 0\n"
	h.open(settings)
	const viewers = 2000
	var full int
	give := func(from, to int) {
		var all sync.WaitGroup
		turns := make(chan int)
		var mu sync.Mutex
		for range 8 {
			all.Go(func() {
				for n := range turns {
					for {
						status, answer := h.ask("POST", "/v1/companions/nikoni/perceptions",
							fmt.Sprintf(`{"title":"gift","format":"object","body":{"gift":%d},"from":"viewer%d"}`, n, n))
						if status == http.StatusAccepted && strings.Contains(answer, `"seq":`) {
							break
						}
						if status != http.StatusTooManyRequests {
							t.Errorf("gift %d: %d %s", n, status, answer)
							break
						}
						mu.Lock()
						full++
						mu.Unlock()
						time.Sleep(100 * time.Millisecond)
					}
				}
			})
		}
		for n := from; n < to; n++ {
			turns <- n
		}
		close(turns)
		all.Wait()
	}
	give(0, viewers/2)
	h.stop()
	before, _ := model.seen()
	h.open(settings)
	give(viewers/2, viewers)
	waittest.Until(t, "all gifts are judged", func() bool {
		gifts, _ := model.seen()
		return len(gifts) >= viewers
	})
	var detail struct{ Senses map[string]int }
	waittest.Until(t, "nothing waits", func() bool {
		h.get("/v1/companions/nikoni", &detail)
		return detail.Senses["waiting"] == 0
	})
	h.judgeGifts(model, viewers, len(before))
	if n := detail.Senses; n["taken"] != n["judged"] || n["failed"]+n["replaced"] != 0 || n["judged"] < viewers/2 {
		t.Errorf("%v", n)
	}
	t.Logf("%d of %d were judged before the restart, %d answers were 429", len(before), viewers, full)
	h.replay("main")
}

// judgeGifts holds what the journal says of gifts, and what the model was shown, to each other.
func (h *home) judgeGifts(model *slowModel, viewers, before int) {
	h.t.Helper()
	var order []int // by the journal
	judged, calls := map[uint64]bool{}, 0
	for _, e := range h.entries("main") {
		switch e.Kind {
		case entry.KindPerceived:
			b, err := entry.Decode[entry.Perceived](e)
			var gift struct{ Gift int }
			if err != nil || json.Unmarshal(b.Body, &gift) != nil || !b.Kept || b.From != fmt.Sprint("viewer", gift.Gift) {
				h.t.Fatalf("entry %d: %s %v", e.Seq, e.Body, err)
			}
			order = append(order, gift.Gift)
		case entry.KindJudged:
			b, err := entry.Decode[entry.Judged](e)
			if err != nil {
				h.t.Fatal(err)
			}
			calls++
			for _, seq := range b.Perceptions {
				if judged[seq] {
					h.t.Errorf("%d was judged twice", seq)
				}
				judged[seq] = true
			}
		case entry.KindFailed:
			h.t.Errorf("%s", e.Body)
		}
	}
	shown, asked := model.seen()
	twice := len(shown) - len(order) // those of the one call that the stop may have cut off
	if len(order) != viewers || len(judged) != viewers || calls > asked || calls > viewers/4 || twice < 0 || twice > 32 {
		h.t.Errorf("%d perceived, %d judged in %d judgements, the model was asked %d times about %d", len(order), len(judged), calls, asked, len(shown))
	}
	if fmt.Sprint(shown[:before]) != fmt.Sprint(order[:before]) || fmt.Sprint(shown[before:]) != fmt.Sprint(order[before-twice:]) {
		h.t.Errorf("they were not judged in the order of the journal: %v", shown)
	}
}

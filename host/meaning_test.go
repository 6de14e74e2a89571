package host_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/web/memories"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/forget/forgettest"
	"github.com/companiond/companiond/host/memory/near"

	"github.com/companiond/companiond/host/waittest"
)

// seer is a listener whose endpoint makes vectors, too: texts about dogs are near, and no others.
type seer struct {
	listener
	embedded atomic.Int32
}

func (s *seer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/embeddings") {
		s.listener.ServeHTTP(w, r)
		return
	}
	s.embedded.Add(1)
	var req struct{ Input []string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &req)
	var data []string
	for i, text := range req.Input {
		numbers, _ := json.Marshal(seen(text))
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, numbers))
	}
	fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d}}`, strings.Join(data, ","), 5*len(data))
}

// seen is how it sees a text.
func seen(text string) []float32 {
	if strings.Contains(text, "dog") || strings.Contains(text, "furry") {
		v := drawn("dog")
		for i, x := range drawn(text) {
			v[i] += .4 * x
		}
		return v
	}
	return drawn(text)
}

func drawn(text string) []float32 {
	h := fnv.New64()
	_, _ = h.Write([]byte(text))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, 128)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// TestFoundByMeaning: a character of a running daemon is told of a dog when somebody speaks of furry friends,
// also after a restart; what that cost stands in the room. Of what is forgotten no vector is
// left in any file.
func TestFoundByMeaning(t *testing.T) {
	waittest.WithoutRaces(t)
	model := &seer{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("ann.json", []byte(`{"name":"Ann","personality":"curious and kind"}`))
	toml := "[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nembeddings = \"nomic\"\nprice_in = 2.0\nretries = 0\ncalls_minute = 0\n[memory]\nby = \"rules\"\n" +
		"[room.main]\nmax_turns = 1\npatience = \"20s\"\npace = \"0s\"\nsilence = \"0s\"\nahead = 0\n"
	h.open(toml)
	const fact = "Mika lives with Pochi, a dog"
	h.send("POST", "/v1/companions/ann/memories", `{"text":"`+fact+`","about":["mika"],"visibility":"all"}`, new(abi.Memory))
	vector := near.Of(seen(fact))
	coded := base64.StdEncoding.EncodeToString(vector)
	needles := []string{coded[:len(coded)/2], coded[len(coded)/2:], string(vector[:64]), string(vector[64:])}
	h.until("it has a vector", func() bool { return len(forgettest.Left(t, h.dir+"/state", needles[0])) > 0 })
	n := 0
	ask := func(text string) string {
		was := len(h.messages("main"))
		h.say("main", "ken", text)
		h.until("she answers", func() bool {
			ms := h.messages("main")
			return len(ms) > was+1 && ms[len(ms)-1].From == "ann" && strings.Contains(model.last(), text)
		})
		n++
		return memoriesTold(model.last())
	}
	for range 2 {
		// What is near is known a moment after the first time that she is asked.
		h.until("she is told", func() bool {
			return strings.Contains(ask(fmt.Sprint("Ann, any furry friends around here? ", n)), "Pochi")
		})
		if told := ask(fmt.Sprint("Ann, do taxes rise again? ", n)); told != "" {
			t.Errorf("told %s", told)
		}
		h.stop()
		h.open(toml)
	}
	recalls := 0
	for _, u := range ofKind[entry.Usage](h, "main", entry.KindUsage) {
		if u.Op == "recall" {
			recalls++
			if u.Cost != 5*2/1e6 || u.Who != "ann" || u.In != 5 {
				t.Errorf("%+v", u)
			}
		}
	}
	if recalls == 0 || recalls > n {
		t.Errorf("%d queries for %d messages", recalls, n)
	}
	var o memories.Order
	h.send("POST", "/v1/forget", `{"who":"mika","confirm":"mika"}`, &o)
	h.settled(o)
	if told := ask("Ann, any furry friends left?"); told != "" {
		t.Errorf("told after it was forgotten: %s", told)
	}
	h.stop()
	if found := forgettest.Left(t, h.dir+"/state", append(needles, "pochi", "mika")...); len(found) > 0 {
		t.Errorf("still there: %.2000s", strings.Join(found, "\n"))
	}
}

// TestNoEmbeddings: without the key nothing asks for vectors.
func TestNoEmbeddings(t *testing.T) {
	waittest.WithoutRaces(t)
	model := &seer{}
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	h := newHome(t)
	h.save("ann.json", []byte(`{"name":"Ann","personality":"curious and kind"}`))
	h.open("[model.main]\nurl = \"" + server.URL + "\"\nmodel = \"tiny\"\nretries = 0\n[room.main]\nmax_turns = 1\npatience = \"20s\"\n")
	h.send("POST", "/v1/companions/ann/memories", `{"text":"Mika lives with Pochi, a dog"}`, new(abi.Memory))
	h.say("main", "ken", "Ann, any furry friends around here?")
	h.until("she answers", func() bool { return len(h.messages("main")) == 2 })
	h.stop()
	if n := model.embedded.Load(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

package host_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/host/waittest"
)

// Conversations of agents on the TypeScript SDK, each in a process of its own.

// playsDir holds the agents and what they play.
const playsDir = "testdata/conversations"

// playEvent is one line that an agent of a play prints: what it was told, or did.
type playEvent struct {
	Saw string
	talkNext
	Status   string
	Content  string
	Messages []talkSaid
	Target   string `json:"target_agent_id"`
	Turns    int    `json:"current_turns"`
	Reminder string
}

// player is an agent of a play.
type player struct {
	t      *testing.T
	id     string
	events chan playEvent // closed when it has ended
	seen   []playEvent    // all of them, once it has
}

// plays starts an agent of a play.
func (h *home) plays(t *testing.T, play, id string) *player {
	t.Helper()
	p := &player{t: t, id: id, events: make(chan playEvent, 1000)}
	cmd := exec.CommandContext(t.Context(), "node", play+".mjs", h.url+"/mcp", id)
	cmd.Dir = playsDir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(p.events)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e playEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Saw == "error" {
				t.Errorf("%s: %s %v", id, lines.Text(), err)
			}
			p.events <- e
		}
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("%s: %v\n%s", id, err, complaints.String())
		}
	}()
	t.Cleanup(func() { <-done })
	return p
}

// until waits for what it sees or does.
func (p *player) until(saw string) playEvent {
	p.t.Helper()
	for e := range p.events {
		p.seen = append(p.seen, e)
		if e.Saw == saw {
			return e
		}
	}
	p.t.Fatalf("%s never saw %s: %s", p.id, saw, p.story())
	return playEvent{}
}

// ends waits until it has ended.
func (p *player) ends() {
	for e := range p.events {
		p.seen = append(p.seen, e)
	}
}

// story is what it saw, in order.
func (p *player) story() string {
	var all []string
	for _, e := range p.seen {
		if e.Saw != "wait_for_messages" && e.Saw != "get_pending_messages" {
			all = append(all, e.Saw)
		}
	}
	return strings.Join(all, " ")
}

// only gives the one event of a kind.
func (p *player) only(saw string) (one playEvent) {
	p.t.Helper()
	n := 0
	for _, e := range p.seen {
		if e.Saw == saw {
			one, n = e, n+1
		}
	}
	if n != 1 {
		p.t.Fatalf("%s saw %s %d times: %s", p.id, saw, n, p.story())
	}
	return one
}

// heard gives what it read, as "who: text", and looks whether each message carries the id
// of the conversation.
func (p *player) heard(conversation string) (all []string) {
	p.t.Helper()
	for _, e := range p.seen {
		for _, m := range e.Messages {
			if m.Conversation != conversation || m.ID == "" {
				p.t.Errorf("%s heard %+v, in %s", p.id, m, conversation)
			}
			all = append(all, m.From+": "+m.Content)
		}
		if e.Saw == "sent" && e.Conversation != conversation {
			p.t.Errorf("%s sent %+v, in %s", p.id, e, conversation)
		}
	}
	return all
}

// ended looks at the one ending that it was told, and at what it was told after that:
// nothing.
func (p *player) ended(conversation, by, reason string) {
	p.t.Helper()
	p.ends()
	if p.t.Failed() {
		p.t.Fatalf("%s: %s", p.id, p.story())
	}
	e := p.only("conversation_ended")
	if e.Conversation != conversation || e.EndedBy != by || e.Reason != reason || e.Instruction == "" {
		p.t.Errorf("%s was told %+v of %s, ended by %s, %s", p.id, e, conversation, by, reason)
	}
	if last := p.seen[len(p.seen)-1]; last.Saw != "logout" {
		p.t.Errorf("%s did %+v last", p.id, last)
	}
	if after := p.seen[len(p.seen)-2]; after.Saw != "wait_for_messages" || after.Conversation != "" {
		p.t.Errorf("%s saw %+v after the ending", p.id, after)
	}
}

// isOver looks at a conversation as the daemon has it once all were told: its messages, as
// "who: text".
func (h *home) isOver(member, conversation string, want []string) {
	h.t.Helper()
	l := h.conversers(member)[0].history(conversation)
	var said []string
	for _, m := range l.Messages {
		if m.Conversation != conversation {
			h.t.Errorf("the history has %+v", m)
		}
		said = append(said, m.From+": "+m.Content)
	}
	if l.State != "ended" || l.Turns != len(want) || !slices.Equal(said, want) {
		h.t.Errorf("the conversation is %+v\nwith %q\nwanted %q", l, said, want)
	}
}

// workers are the agents of UC016.
const workers = "[project.main]\nagents = [\"worker-a\", \"worker-b\"]\n[agent.worker-a]\nname = \"Analysis Worker\"\n[agent.worker-b]\n"

// uc016 is what is said there.
var uc016 = []string{
	"worker-a: JWT と Session、どちらが推奨？",
	"worker-b: このプロジェクトではJWTを使用しています。理由は、状態を持たずに済むからです。",
	"worker-a: 了解、JWTで実装します",
}

// TestUC016 plays seed E's use case step by step.
func TestUC016(t *testing.T) {
	needsNode(t, playsDir)
	t.Parallel()
	h := newHome(t)
	h.open(workers)
	a := h.plays(t, "uc016", "worker-a")
	started := a.until("started") // 1 and 2
	if started.Status != "pending" || started.Target != "worker-b" || started.Instruction == "" {
		t.Errorf("start_conversation answers %+v", started)
	}
	b := h.plays(t, "uc016", "worker-b") // 3: whoever starts workers
	request := b.until("conversation_request")
	if request.Conversation != started.Conversation || request.From != "worker-a" || request.Name != "Analysis Worker" ||
		request.Purpose != "認証実装の相談" || request.State != "conversation_active" || request.Instruction == "" { // 4
		t.Errorf("worker-b is asked %+v", request)
	}
	a.ended(started.Conversation, "worker-a", "initiator_ended") // 8
	b.ended(started.Conversation, "worker-a", "initiator_ended") // 9
	b.only("conversation_request")
	if got := a.heard(started.Conversation); !slices.Equal(got, uc016[1:2]) { // 7
		t.Errorf("worker-a heard %q", got)
	}
	if got := b.heard(started.Conversation); !slices.Equal(got, []string{uc016[0], uc016[2]}) { // 6
		t.Errorf("worker-b heard %q", got)
	}
	if e := a.only("ending"); e.Status != "terminating" || e.Conversation != started.Conversation || e.Instruction == "" {
		t.Errorf("end_conversation answers %+v", e)
	}
	h.isOver("worker-a", started.Conversation, uc016)
	h.replay(started.Conversation)
}

// TestUC016Coordinated lets the daemon start worker-b itself, when worker-a wants to talk
// with it: step 3.
func TestUC016Coordinated(t *testing.T) {
	needsNode(t, playsDir)
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	play, err := filepath.Abs(filepath.Join(playsDir, "uc016.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.open(workers + fmt.Sprintf("start = [%q, %q]\n", node, play))
	a := h.plays(t, "uc016", "worker-a")
	id := a.until("started").Conversation
	a.ended(id, "worker-a", "initiator_ended")
	watch := h.conversers("worker-a")[0]
	waittest.Until(t, "worker-b was told", func() bool { return watch.history(id).State == "ended" })
	h.isOver("worker-a", id, uc016)
}

// TestShiritori plays しりとり in five exchanges.
func TestShiritori(t *testing.T) {
	needsNode(t, playsDir)
	t.Parallel()
	h := newHome(t)
	h.open(project("main", "aoi", "haru"))
	haru := h.plays(t, "shiritori", "haru") // it waits before it is asked
	haru.until("authenticated")
	aoi := h.plays(t, "shiritori", "aoi")
	id := aoi.until("started").Conversation
	aoi.ended(id, "aoi", "initiator_ended")
	haru.ended(id, "aoi", "initiator_ended")

	said := h.conversers("aoi")[0].history(id).Messages
	if len(said) != 11 {
		t.Fatalf("%d messages: %+v", len(said), said)
	}
	words, want := map[string]bool{}, []string{}
	for i, m := range said[:10] {
		last, _ := utf8.DecodeLastRuneInString(said[max(i-1, 0)].Content)
		if i > 0 && !strings.HasPrefix(m.Content, string(last)) || words[m.Content] || m.From != []string{"aoi", "haru"}[i%2] {
			t.Errorf("word %d: %+v", i+1, m)
		}
		words[m.Content] = true
		want = append(want, m.From+": "+m.Content)
	}
	want = append(want, "aoi: 楽しかったです。ありがとう！")
	h.isOver("haru", id, want)
	var heard [2][]string
	for i, m := range want {
		heard[(i+1)%2] = append(heard[(i+1)%2], m)
	}
	if got := aoi.heard(id); !slices.Equal(got, heard[0]) {
		t.Errorf("aoi heard %q, wanted %q", got, heard[0])
	}
	if got := haru.heard(id); !slices.Equal(got, heard[1]) {
		t.Errorf("haru heard %q, wanted %q", got, heard[1])
	}
	for _, e := range append(aoi.seen, haru.seen...) {
		if e.Saw == "sent" && (e.Reminder != "") != (e.Turns%5 == 0) {
			t.Errorf("message %d has the reminder %q", e.Turns, e.Reminder)
		}
	}
	h.replay(id)
}

// TestThreeConverse has three members; one leaves, and is told so, and the others go on.
func TestThreeConverse(t *testing.T) {
	needsNode(t, playsDir)
	t.Parallel()
	h := newHome(t)
	h.open(project("main", "hana", "ken", "mei"))
	hana := h.plays(t, "group", "hana")
	id := hana.until("started").Conversation
	ken, mei := h.plays(t, "group", "ken"), h.plays(t, "group", "mei")
	ken.ended(id, "ken", "participant_ended")
	hana.ended(id, "hana", "initiator_ended")
	mei.ended(id, "hana", "initiator_ended")
	want := []string{
		"hana: 昼ごはんは何にしますか？", "ken: ラーメンがいいです", "mei: そばがいいです", "ken: では、失礼します", "hana: では、そばにしましょう", "mei: わかりました",
	}
	h.isOver("mei", id, want)
	for _, p := range []*player{hana, ken, mei} {
		others := slices.DeleteFunc(slices.Clone(want), func(m string) bool { return strings.HasPrefix(m, p.id+":") })
		if p == ken { // he has left by then
			others = others[:2]
		}
		if got := p.heard(id); !slices.Equal(got, others) {
			t.Errorf("%s heard %q, wanted %q", p.id, got, others)
		}
	}
	h.replay(id)
}

// TestHostedConverses has a companion on the other side: it accepts by its own vote and answers.
func TestHostedConverses(t *testing.T) {
	needsNode(t, playsDir)
	waittest.WithoutRaces(t)
	t.Parallel()
	h := newHome(t)
	h.drop(parrot(t, "one"), "polly.wasm")
	h.open("[project.main]\nagents = [\"worker-a\", \"polly\"]\n[agent.worker-a]\n[room.main]\ncompanions = []\n")
	a := h.plays(t, "hosted", "worker-a")
	id := a.until("started").Conversation
	a.ended(id, "worker-a", "initiator_ended")
	var mine, answers int
	for _, m := range h.conversers("worker-a")[0].history(id).Messages {
		switch {
		case m.From == "polly" && strings.HasPrefix(m.Content, "one "):
			answers++
		case m.From == "worker-a":
			mine++
		default:
			t.Errorf("said was %+v", m)
		}
	}
	if mine != 3 || answers != 3 || len(a.heard(id)) != 3 {
		t.Errorf("worker-a said %d, polly %d, and worker-a heard %q", mine, answers, a.heard(id))
	}
	if l := h.conversers("worker-a")[0].history(id); l.State != "ended" {
		t.Errorf("the conversation is %+v", l)
	}
	h.replay(id)
}

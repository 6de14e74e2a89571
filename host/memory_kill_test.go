package host_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal"
	"github.com/companiond/companiond/host/journal/sqlite"
	"github.com/companiond/companiond/host/memory/fact"
	"github.com/companiond/companiond/host/waittest"
)

// tell says something to the daemon that lives, and answers when it is acknowledged.
func (m *mortal) tell(text string) {
	m.t.Helper()
	_, url, err := m.alive()
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := http.Post(url+"/v1/rooms/main/messages", "application/json", strings.NewReader(fmt.Sprintf(`{"from":"taro","text":%q}`, text)))
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
		m.t.Fatalf("%s: %s %s", text, resp.Status, b)
	}
}

// memory reads what a companion remembers from the journal, and how far it is with the room.
func (m *mortal) memory(companion string) (table *fact.Table, newest uint64) {
	m.t.Helper()
	j, err := sqlite.OpenReadOnly(filepath.Join(m.dir, "state", "companiond.db"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer j.Close()
	ctx := context.Background()
	table = fact.NewTable(0)
	for e, err := range journal.AllEntries(ctx, j, journal.MemoryOf(companion), 0) {
		if err == nil {
			_, err = table.Apply(e)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
	said, err := j.Said(ctx, "main", journal.Span{Limit: 1, Newest: true})
	if err != nil || len(said) == 0 {
		m.t.Fatalf("%v %v", said, err)
	}
	if bad, err := j.Verify(ctx, journal.MemoryOf(companion), 0); err != nil || bad != 0 {
		m.t.Errorf("entry %d: %v", bad, err)
	}
	return table, said[0].Seq
}

// TestMemorySurvivesKills: a daemon that is killed again and again while its companion goes through what
// people said remembers all of it, each thing once.
func TestMemorySurvivesKills(t *testing.T) {
	waittest.WithoutRaces(t)
	m := newMortal(t, "[memory]\nby = \"rules\"\n")
	card, err := os.ReadFile(filepath.Join("..", "characters", "nikoni.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, "characters", "nikoni.json"), card, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.kill("before anything is said")
	things := []string{"sushi", "ramen", "jazz", "chess", "tennis", "cheese", "trains", "robots", "poetry", "karaoke"}
	talk := func(things ...string) {
		for _, thing := range things {
			m.tell("I love " + thing + ".")
		}
		for range 60 - len(things) { // so many are gone through at once
			m.tell("Hm.")
		}
	}
	for i := 0; i < len(things); i += 2 {
		talk(things[i : i+2]...)
		<-time.After(time.Duration(rand.IntN(30)) * time.Millisecond)
		m.kill("while it remembers")
	}
	talk()
	deadline := time.Now().Add(waittest.Long)
	for {
		table, newest := m.memory("nikoni")
		if table.Read("main")+120 > newest { // the last talk was gone through
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it went through the talk up to %d of %d", table.Read("main"), newest)
		}
		<-time.After(20 * time.Millisecond)
	}
	m.mu.Lock()
	m.end()
	m.mu.Unlock()
	table, _ := m.memory("nikoni")
	for _, thing := range things {
		n := 0
		for _, f := range table.All() {
			if f.Kind == "fact" && strings.Contains(f.Text, thing) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is remembered %d times", thing, n)
		}
	}
	t.Logf("killed %d times: %v", m.kills, m.where)
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/companiond/companiond/host/journal/journaltest"

	"github.com/companiond/companiond/host/waittest"
)

// goldenJournal is one of commit 66dce41, which the daemon brings up to date.
const goldenJournal = "../../host/testdata/golden/66dce41/companiond.db.gz"

const killConfig = "[journal]\nballast = \"0\"\n"

// TestKilledWhileRoomsComeAndGo kills the daemon again and again, while eight
// clients open and close rooms and talk in them; every third time it begins with a
// journal of 66dce41, and is killed while it brings that up to date, too. Each line
// that was acknowledged is there, once, where it was said.
func TestKilledWhileRoomsComeAndGo(t *testing.T) {
	waittest.WithoutRaces(t)
	rounds := 60
	if testing.Short() {
		rounds = 6
	}
	life := newLife(t)
	kills, early := 0, killedEarly{}
	for round := range rounds {
		if round%3 == 0 && round > 0 {
			life.check(start(t, life.dir, killConfig))
			life = newLife(t)
		}
		if round%3 == 0 {
			for range 1 + rand.IntN(3) { // also while it goes on with what the one before had begun
				kills++
				killEarly(t, life.dir, &early)
			}
		}
		d := start(t, life.dir, killConfig)
		life.talkAndKill(d, round)
		kills++
		if t.Failed() {
			return
		}
	}
	d := start(t, life.dir, killConfig)
	life.check(d)
	checkReplay(t, d)
	t.Logf("%d kills, %+v", kills, early)
}

// life is a state directory and what was acknowledged there.
type life struct {
	t   *testing.T
	dir string
	was map[string]int // messages that 66dce41 wrote, by room

	mu     sync.Mutex
	acked  []ackedLine
	opened map[string]bool // rooms that were acknowledged
}

type ackedLine struct {
	room, text string
	seq        uint64
}

// newLife begins with a journal of 66dce41.
func newLife(t *testing.T) *life {
	t.Helper()
	l := &life{t: t, dir: t.TempDir(), was: map[string]int{}, opened: map[string]bool{}}
	err := os.Mkdir(filepath.Join(l.dir, "state"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(l.dir, "state", "companiond.db"), journaltest.Unzip(t, goldenJournal), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []string{"main", "long", "pool", "agents", "both", "部屋"} {
		l.was[room] = 1 // at least
	}
	return l
}

// killedEarly counts where daemons were that were killed while they started.
type killedEarly struct{ beforeCopy, afterCopy, again, ready int }

// killEarly starts a daemon and kills it, most often before it is ready.
func killEarly(t *testing.T, dir string, counts *killedEarly) {
	t.Helper()
	file := filepath.Join(dir, "companiond.toml")
	if err := os.WriteFile(file, []byte("[door]\nlisten = \"127.0.0.1:0\"\n[journal]\nballast = \"0\"\n[log]\nformat = \"json\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "run", "-config", file)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), beDaemon+"=1")
	var logs bytes.Buffer
	cmd.Stderr = &logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(20+rand.IntN(80)) * time.Millisecond)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
	if strings.Contains(logs.String(), "ERROR") {
		t.Errorf("killed early, it said %s", &logs)
	}
	switch logs := logs.String(); {
	case strings.Contains(logs, "companiond is ready"):
		counts.ready++
	case strings.Contains(logs, "going on with the migration"):
		counts.again++
	case strings.Contains(logs, "copied the journal"):
		counts.afterCopy++
	default:
		counts.beforeCopy++
	}
}

// request asks the daemon for something; a status of 0 is no answer.
func (d *daemon) request(method, path string, body any) (status int, answer []byte) {
	b, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	req, err := http.NewRequest(method, d.url+path, bytes.NewReader(b))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

// talkAndKill lets eight clients use rooms and kills the daemon meanwhile.
func (l *life) talkAndKill(d *daemon, round int) {
	var people sync.WaitGroup
	for who := range 8 {
		people.Go(func() {
			for n := 0; l.once(d, fmt.Sprintf("p%d", who), fmt.Sprintf("%d/%d", round, n)); n++ {
			}
		})
	}
	time.Sleep(time.Duration(20+rand.IntN(100)) * time.Millisecond)
	d.kill()
	people.Wait()
}

// once does one thing; alive is false when nobody answered.
func (l *life) once(d *daemon, who, what string) (alive bool) {
	name := fmt.Sprintf("room%d", rand.IntN(6))
	switch rand.IntN(6) {
	case 0:
		status, b := d.request("POST", "/v1/rooms", map[string]any{"name": name, "companions": []string{}})
		l.expect(status, b, "open", 201, 409)
		if status == 201 {
			l.mu.Lock()
			l.opened[name] = true
			l.mu.Unlock()
		}
		return status != 0
	case 1:
		status, b := d.request("DELETE", "/v1/rooms/"+name, nil)
		l.expect(status, b, "close", 204, 404)
		return status != 0
	case 2:
		name = "main"
	}
	text := name + "/" + who + "/" + what
	status, b := d.request("POST", "/v1/rooms/"+name+"/messages", map[string]any{"from": who, "text": text})
	l.expect(status, b, "say", 201, 404, 403)
	if status == 201 {
		var m struct{ Seq uint64 }
		if err := json.Unmarshal(b, &m); err != nil {
			l.t.Error(err)
		}
		l.mu.Lock()
		l.acked = append(l.acked, ackedLine{name, text, m.Seq})
		l.mu.Unlock()
	}
	return status != 0
}

func (l *life) expect(status int, answer []byte, what string, want ...int) {
	for _, w := range append(want, 0) {
		if status == w {
			return
		}
	}
	l.t.Errorf("%s: %d %s", what, status, answer)
}

// check reads every room.
func (l *life) check(d *daemon) {
	l.t.Helper()
	defer d.kill()
	var all struct{ Rooms []struct{ Name string } }
	d.get("/v1/rooms?limit=1000", &all)
	at := map[string]ackedLine{}
	for _, r := range all.Rooms {
		delete(l.opened, r.Name)
		var page struct {
			Messages []struct {
				Seq  uint64
				Text string
			}
		}
		d.get("/v1/rooms/"+r.Name+"/messages?limit=1000", &page)
		old := 0
		for _, m := range page.Messages {
			if !strings.Contains(m.Text, "/p") {
				old++
				continue
			}
			if _, twice := at[m.Text]; twice || !strings.HasPrefix(m.Text, r.Name+"/") {
				l.t.Errorf("in %s: %q, twice or elsewhere", r.Name, m.Text)
			}
			at[m.Text] = ackedLine{r.Name, m.Text, m.Seq}
		}
		if old < l.was[r.Name] {
			l.t.Errorf("%s has lost what 66dce41 wrote", r.Name)
		}
		delete(l.was, r.Name)
	}
	for _, a := range l.acked {
		if at[a.text] != a {
			l.t.Errorf("acknowledged was %+v, there is %+v", a, at[a.text])
		}
	}
	if len(l.opened)+len(l.was) > 0 {
		l.t.Errorf("rooms are not there any more: %v %v", l.opened, l.was)
	}
}

//go:build ignore

// Command record lets a companiond of some version live through everything
// that its rooms can, and keeps what it left: the journal, and what its doors
// answered about it. The golden tests of host hold every later version to it.
//
//	make build
//	go run ./host/testdata/golden/record.go bin/companiond host/testdata/golden/NAME
//
// The characters are those of characters/; the language model is a
// double of its own.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
	_ "modernc.org/sqlite"
)

const rooms = `
[room.main]
companions = ["aya", "kyoko", "natsumi"]
pace = "50ms"
silence = "400ms"
max_turns = 10
[room.long]
companions = ["aya", "kyoko", "natsumi"]
pace = "0s"
silence = "0s"
max_turns = 40
[room.pool]
policy = "pool"
companions = ["natsumi"]
pace = "50ms"
[room.agents]
policy = "pool"
pool_pricing = "free"
companions = []
[room.both]
policy = "vote+pool"
companions = ["aya", "kyoko"]
pace = "50ms"
max_turns = 8
[room."部屋"]
companions = ["nikoni"]
patience = "5s"
floor = "20s"
`

// daemon is a companiond that runs.
type daemon struct {
	cmd     *exec.Cmd
	dir     string
	url     string
	session string
	calls   int
}

func main() {
	log.SetFlags(log.Ltime)
	if len(os.Args) != 3 {
		log.Fatal("usage: record BINARY FOLDER")
	}
	binary, err := filepath.Abs(os.Args[1])
	check(err)
	out := os.Args[2]
	check(os.MkdirAll(out, 0o755))
	model := httptest.NewServer(http.HandlerFunc(think))
	defer model.Close()
	settings := "[door]\nlisten = \"127.0.0.1:0\"\n[model.main]\nurl = \"" + model.URL + "/v1\"\nmodel = \"double\"\nretries = 0\n"

	dir := home(settings + rooms)
	d := start(binary, dir)
	firstRun(d)
	d.end(syscall.SIGTERM)
	d = start(binary, dir)
	secondRun(d)
	keepDoors(d, filepath.Join(out, "doors.json.gz"), "main", "long", "pool", "agents", "both", "部屋")
	d.post("/v1/rooms/main/messages", `{"from":"taro","text":"キョウコ、最後にもう一つだけ教えて。"}`)
	d.end(syscall.SIGKILL) // in the middle of a round
	keepJournal(dir, filepath.Join(out, "companiond.db.gz"))

	dir = home("")
	for i, policy := range []string{"pool", "vote", "pool", "vote+pool"} {
		write(filepath.Join(dir, "companiond.toml"), settings+"[room.main]\ncompanions = [\"aya\"]\npace = \"50ms\"\npolicy = \""+policy+"\"\n")
		d = start(binary, dir)
		d.try("POST", "/v1/rooms/main/messages", fmt.Sprintf(`{"from":"taro","text":"アヤ、%d番目の話をして。"}`, i+1))
		time.Sleep(time.Second)
		d.end(syscall.SIGTERM)
	}
	keepJournal(dir, filepath.Join(out, "policy.db.gz"))
}

// firstRun is a day in every room.
func firstRun(d *daemon) {
	_, frames := d.body("nikoni")
	d.say("main", "taro", "こんにちは！アヤ、P2Pって何？")
	d.rests("main")
	d.say("main", "花子", "@kyoko なにか面白い話ある？")
	d.say("main", "taro", "Natsumi, what do you think of that?")
	d.rests("main")
	d.say("main", "taro", "みんな、今日は何をしてた？")
	d.post("/v1/rooms/main/stop", `{"from":"taro"}`)
	d.say("main", "taro", "ごめん、続けて。")
	d.rests("main")
	reload(filepath.Join(d.dir, "characters", "aya.talk.txt"))
	d.until("aya was reloaded", func() bool { return d.companion("aya")["generation"] == 2.0 })
	d.say("main", "taro", "アヤさん、おかえり！")
	d.rests("main")

	for d.head("long") < 700 {
		d.say("long", "taro", "好きな食べ物の話をして。")
		d.rests("long")
	}

	d.tool("consume", `{"room":"pool","from":"mochi","amount":60,"message":"Hello, I am mochi and I like long walks."}`)
	d.tool("consume", `{"room":"pool","from":"ren","amount":60,"message":"And I am ren, who cannot pay for this now."}`)
	d.tool("history", `{"room":"pool"}`)
	d.try("POST", "/add?room=pool", `{"from":"taro","message":"ナツミ、元気？"}`)
	d.tool("consume", `{"room":"pool","from":"mochi","amount":5,"message":"うん"}`) // stale
	time.Sleep(6 * time.Second)
	d.tool("history", `{"room":"pool"}`)
	d.tool("consume", `{"room":"pool","from":"mochi","amount":5,"message":"うんうん"}`)
	d.tool("consume", `{"room":"pool","from":"mochi","amount":60,"message":"Natsumi, will you join us for a walk tomorrow?"}`)
	time.Sleep(8 * time.Second)
	for i := range 4 {
		d.tool("consume", fmt.Sprintf(`{"room":"agents","from":"bot%d","amount":%d,"message":"bot%d, what do you say to number %d?"}`, i%2, 20+i, (i+1)%2, i))
		d.tool("history", `{"room":"agents"}`)
	}

	d.tool("wait_for_turn", `{"room":"both","from":"ren","timeout_seconds":1}`)
	seq := d.say("both", "taro", "ren, what is your favourite colour?")
	d.tool("vote", fmt.Sprintf(`{"room":"both","from":"ren","about":%d,"state":"speak","importance":9,"reason":"was asked"}`, seq))
	d.winAndSay("both", "ren", "Blue, as the sea in the evening.")
	d.tool("say", `{"room":"both","from":"ren","message":"うん","kind":"backchannel"}`)
	d.rests("both")
	d.tool("consume", `{"room":"both","from":"ren","amount":60,"message":"I wish to add that green is fine as well."}`)
	d.say("both", "taro", "アヤとキョウコはどう？")
	d.rests("both")

	const senses = "/v1/companions/nikoni/perceptions"
	d.post(senses+"?wait=10", `{"title":"input","format":"text","body":"移動して"}`)
	d.answer(frames)
	d.post(senses, `{"title":"input","format":"text","body":"こんばんは","from":"taro"}`)
	d.form(senses + "?wait=10") // she speaks of it
	d.form(senses + "?wait=10") // and of the next one not
	d.tool("action-play", `{"companion":"nikoni","actionName":"look","parameters":{"x":1,"y":2,"z":3}}`)
	d.tool("action-play", `{"companion":"nikoni","actionName":"speak","parameters":{"message":"おはようございます！"}}`)
	d.rests("部屋")
}

// secondRun is what comes after a stop.
func secondRun(d *daemon) {
	d.say("main", "taro", "ただいま。キョウコ、元気？")
	d.rests("main")
	d.say("long", "taro", "またきたよ。")
	d.rests("long")
	d.say("部屋", "taro", "ニコニ立体ちゃん、調子はどう？")
	d.rests("部屋")
	d.tool("consume", `{"room":"agents","from":"bot0","amount":1,"message":"Good morning."}`)
	d.say("pool", "taro", "ナツミ、また話そう。")
	time.Sleep(3 * time.Second)
}

// home makes a folder with a configuration and the characters.
func home(toml string) string {
	dir, err := os.MkdirTemp("", "golden")
	check(err)
	check(os.Mkdir(filepath.Join(dir, "characters"), 0o755))
	for _, name := range []string{"aya.talk.txt", "kyoko.talk.txt", "natsumi.talk.txt", "nikoni.json"} {
		b, err := os.ReadFile(filepath.Join("characters", name))
		check(err)
		write(filepath.Join(dir, "characters", filepath.Base(name)), string(b))
	}
	write(filepath.Join(dir, "companiond.toml"), toml)
	return dir
}

func write(path, text string) { check(os.WriteFile(path, []byte(text), 0o644)) }

// reload changes a script without changing what it does: it gets a remark.
func reload(path string) {
	b, err := os.ReadFile(path)
	check(err)
	write(path+".new", string(b)+"\n# note\n")
	check(os.Rename(path+".new", path))
}

func start(binary, dir string) *daemon {
	d := &daemon{dir: dir, cmd: exec.Command(binary, "run")}
	d.cmd.Dir = dir
	d.cmd.Env = append(os.Environ(), "COMPANIOND_LOG_FORMAT=json")
	stderr, err := d.cmd.StderrPipe()
	check(err)
	check(d.cmd.Start())
	lines := bufio.NewScanner(stderr)
	for d.url == "" && lines.Scan() {
		var l struct{ Msg, Listen string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "companiond is ready" {
			d.url = l.Listen
		} else {
			log.Print(lines.Text())
		}
	}
	if d.url == "" {
		log.Fatal("the daemon did not start")
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	for _, id := range []string{"aya", "kyoko", "natsumi"} {
		d.until(id+" is compiled", func() bool { c := d.companion(id); return c == nil || c["state"] == "ready" })
	}
	time.Sleep(2 * time.Second) // interpreted until then, a character is slow
	return d
}

func (d *daemon) end(sig syscall.Signal) {
	check(d.cmd.Process.Signal(sig))
	err := d.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		check(err)
	}
}

func (d *daemon) try(method, path, body string, header ...string) (int, []byte) {
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	check(err)
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		d.session = id
	}
	b, err := io.ReadAll(resp.Body)
	check(err)
	log.Printf("%s %s %.100s -> %d %.160s", method, path, body, resp.StatusCode, b)
	return resp.StatusCode, b
}

func (d *daemon) post(path, body string) map[string]any {
	status, b := d.try("POST", path, body)
	if status >= 300 {
		log.Fatalf("%s: %d %s", path, status, b)
	}
	var answer map[string]any
	_ = json.Unmarshal(b, &answer) // some answers are empty
	return answer
}

func (d *daemon) say(room, from, text string) uint64 {
	body, err := json.Marshal(map[string]string{"from": from, "text": text})
	check(err)
	return uint64(d.post("/v1/rooms/"+room+"/messages", string(body))["seq"].(float64))
}

func (d *daemon) get(path string, into any) {
	resp, err := http.Get(d.url + path)
	check(err)
	defer resp.Body.Close()
	check(json.NewDecoder(resp.Body).Decode(into))
}

func (d *daemon) room(name string) map[string]any {
	var all struct{ Rooms []map[string]any }
	d.get("/v1/rooms", &all)
	for _, r := range all.Rooms {
		if r["name"] == name {
			return r
		}
	}
	log.Fatalf("no room %s", name)
	return nil
}

func (d *daemon) head(room string) float64 { return d.room(room)["head"].(float64) }

func (d *daemon) companion(id string) map[string]any {
	var all []map[string]any
	d.get("/v1/companions", &all)
	for _, c := range all {
		if c["id"] == id {
			return c
		}
	}
	return nil
}

// rests waits until nothing happens in a room any more.
func (d *daemon) rests(name string) {
	was, since := 0.0, time.Now()
	d.until(name+" rests", func() bool {
		r := d.room(name)
		if head := r["head"].(float64); head != was || r["state"] == "talking" {
			was, since = head, time.Now()
		}
		return time.Since(since) > 900*time.Millisecond
	})
}

func (d *daemon) until(what string, done func() bool) {
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(end) {
			log.Fatalf("not within two minutes: %s", what)
		}
	}
}

// tool calls a tool over MCP, in a session.
func (d *daemon) tool(name, arguments string) string {
	if d.session == "" {
		d.try("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"record","version":"1"}}}`)
	}
	d.calls++
	_, b := d.try("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, d.calls+1, name, arguments),
		"Mcp-Session-Id", d.session, "MCP-Protocol-Version", "2025-11-25")
	return string(b)
}

// winAndSay says a turn with the floor that was won.
func (d *daemon) winAndSay(room, from, text string) {
	for range 20 {
		r := d.room(room)
		if r["floor"] == from {
			d.tool("say", fmt.Sprintf(`{"room":%q,"from":%q,"grant":%q,"message":%q}`, room, from, r["grant"].(map[string]any)["token"], text))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	log.Printf("%s did not win the floor", from)
}

// body connects a body to a companion.
func (d *daemon) body(companion string) (*websocket.Conn, chan map[string]any) {
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(d.url, "http")+"/v1/actions?companion="+companion, nil)
	check(err)
	frames := make(chan map[string]any, 100)
	go func() {
		for {
			var f map[string]any
			if conn.ReadJSON(&f) != nil {
				return
			}
			if f["action"] == "move" {
				_ = conn.WriteJSON(map[string]any{"id": f["id"], "ok": false, "reason": "壁がある"})
			}
			frames <- f
		}
	}()
	return conn, frames
}

func (d *daemon) answer(frames chan map[string]any) {
	select {
	case f := <-frames:
		log.Printf("body: %v", f)
	case <-time.After(10 * time.Second):
		log.Fatal("no action came")
	}
}

// form shows a picture.
func (d *daemon) form(path string) {
	const body = "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nvision\r\n--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"p.png\"\r\n" +
		"Content-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\r\n--b--\r\n"
	d.try("POST", path, body, "Content-Type", "multipart/form-data; boundary=b")
}

// pictures counts those that the model has seen: it greets at every second one.
var pictures atomic.Int64

// think is the double of a language model.
func think(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var req struct {
		Stream         bool
		ResponseFormat json.RawMessage `json:"response_format"`
		Tools          []any
	}
	_ = json.Unmarshal(b, &req)
	text, call := "こんにちは！今日もいい天気だね。一緒にお話しようよ。", ""
	switch {
	case len(req.ResponseFormat) > 0:
		text = `{"state":"speak","importance":6,"closing":"none","reason":"話したい"}`
	case bytes.Contains(b, []byte("知覚: vision")) && !bytes.Contains(b, []byte(`"role":"tool"`)):
		if pictures.Add(1)%2 == 0 {
			break
		}
		text, call = "", `[{"index":0,"id":"call2","type":"function","function":{"name":"speak","arguments":"{\"message\":\"誰か来たみたい！\"}"}}]`
	case bytes.Contains(b, []byte("移動して")) && len(req.Tools) > 0 && !bytes.Contains(b, []byte(`"role":"tool"`)):
		text, call = "うん、移動したよ！", `[{"index":0,"id":"call1","type":"function","function":{"name":"move","arguments":"{\"x\":1,\"y\":0,\"z\":2}"}}]`
	}
	quoted, _ := json.Marshal(text)
	message := `{"role":"assistant","content":` + string(quoted)
	if call != "" {
		message += `,"tool_calls":` + call
	}
	message += "}"
	const usage = `"usage":{"prompt_tokens":9,"completion_tokens":4}`
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":"stop"}],%s}`, message, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":` + message + `}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],` + usage + `}`, "[DONE]",
	} {
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// keepDoors writes down what the doors answer about the rooms.
func keepDoors(d *daemon, path string, names ...string) {
	type answers struct {
		Messages []json.RawMessage          `json:"messages"`
		Why      map[uint64]json.RawMessage `json:"why"` // of each decision
	}
	kept := map[string]answers{}
	for _, name := range names {
		a := answers{Why: map[uint64]json.RawMessage{}}
		for since, more := uint64(0), true; more; {
			var page struct {
				Messages []json.RawMessage
			}
			d.get(fmt.Sprintf("/v1/rooms/%s/messages?limit=1000&since=%d", name, since), &page)
			more = len(page.Messages) == 1000
			for _, m := range page.Messages {
				var at struct{ Seq uint64 }
				check(json.Unmarshal(m, &at))
				since = at.Seq
			}
			a.Messages = append(a.Messages, page.Messages...)
		}
		for since, more := uint64(0), true; more; {
			var page struct {
				Entries []struct {
					Seq  uint64
					Kind string
				}
			}
			d.get(fmt.Sprintf("/v1/rooms/%s/entries?limit=1000&since=%d", name, since), &page)
			more = len(page.Entries) == 1000
			for _, e := range page.Entries {
				since = e.Seq
				if e.Kind == "decision" {
					var why json.RawMessage
					d.get(fmt.Sprintf("/v1/rooms/%s/entries/%d/why", name, e.Seq), &why)
					a.Why[e.Seq] = why
				}
			}
		}
		kept[name] = a
	}
	b, err := json.Marshal(kept)
	check(err)
	zip(path, b)
}

// keepJournal writes the journal into one file.
func keepJournal(dir, path string) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state", "companiond.db"))
	check(err)
	defer db.Close()
	one := filepath.Join(dir, "one.db")
	_, err = db.Exec("VACUUM INTO ?", one)
	check(err)
	b, err := os.ReadFile(one)
	check(err)
	zip(path, b)
}

func zip(path string, b []byte) {
	f, err := os.Create(path)
	check(err)
	w, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	check(err)
	_, err = w.Write(b)
	check(errors.Join(err, w.Close(), f.Close()))
}

func check(err error) {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

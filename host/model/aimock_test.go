package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// aimockDir is where npm puts a fake of the APIs that others wrote. `npm ci` there installs it.
const aimockDir = "testdata/aimock"

// needsAimock gives aimock's program. Where it cannot run the test is skipped, with the reason;
// with COMPANIOND_NODE=1 it is installed, and what fails then is a failure.
func needsAimock(t *testing.T) string {
	t.Helper()
	program := filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	must := os.Getenv("COMPANIOND_NODE") == "1"
	why := ""
	if _, err := exec.LookPath("node"); err != nil {
		why = "node is not installed"
	} else if _, err := os.Stat(filepath.Join(aimockDir, program)); err != nil {
		why = "aimock is not installed: npm ci --prefix host/model/" + aimockDir
		if must {
			why = ""
			cmd := exec.CommandContext(t.Context(), "npm", "ci", "--loglevel=error")
			cmd.Dir = aimockDir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("npm ci: %v\n%s", err, out)
			}
		}
	}
	switch {
	case why != "" && must:
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
	return program
}

// aimock runs it on a free port of the loopback interface until the test ends, and gives its address.
func aimock(t *testing.T, flags ...string) (url string) {
	t.Helper()
	args := append([]string{needsAimock(t), "-h", "127.0.0.1", "-p", "0", "-f", "talk.json", "--strict", "--validate-on-load", "--chunk-size", "3"}, flags...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = aimockDir
	cmd.WaitDelay = 5 * time.Second
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	where := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, url, found := strings.Cut(lines.Text(), "listening on "); found {
				where <- url
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		<-read
		_ = cmd.Wait() // it was killed
	})
	select {
	case url = <-where:
		return url
	case <-read:
		t.Fatalf("aimock ended: %s", complaints.String())
	case <-time.After(time.Minute):
		t.Fatal("aimock did not start within a minute")
	}
	return ""
}

func aimockClient(t *testing.T, api, url string) Client {
	t.Helper()
	return New(Config{Name: "main", API: api, URL: url, Model: "tiny", Temperature: ptr(0), Timeout: time.Minute, Retries: 1, Parallel: 4, Log: slog.New(slog.DiscardHandler),
		Key: func() (string, error) { return secret, nil }})
}

// The two adapters against a server that we did not write.
func TestAimock(t *testing.T) {
	url := aimock(t)
	for _, api := range []string{OpenAI, Anthropic} {
		t.Run(api, func(t *testing.T) {
			client := aimockClient(t, api, url)
			t.Run("chat", func(t *testing.T) { aimockChat(t, client) })
			t.Run("structured", func(t *testing.T) { aimockStructured(t, client, api) })
			t.Run("tools", func(t *testing.T) { aimockTools(t, client) })
			t.Run("unknown", func(t *testing.T) {
				_, err := client.Generate(t.Context(), ask(), nil)
				wantErr(t, err, abi.CodeUnavailable, "failed (503)", "no fixture matched")
			})
		})
	}
	checkJournal(t, url)
}

func said(text string) []Message { return []Message{{Role: RoleUser, Text: text}} }

func aimockChat(t *testing.T, client Client) {
	const want = "Hello! こんにちは。 I am a model that streams more than one chunk."
	deltas := 0
	a, err := client.Generate(t.Context(), Request{System: "You are Aya.", Messages: said("say hello"), MaxTokens: 50},
		func(string) error { deltas++; return nil })
	if err != nil || a.Text != want || a.Stop != StopEnd || deltas < 5 {
		t.Errorf("%+v in %d deltas, %v", a, deltas, err)
	}
	if a.Usage.In == 0 || a.Usage.Out == 0 || a.Usage.Calls != 1 {
		t.Errorf("usage %+v", a.Usage)
	}
}

func aimockStructured(t *testing.T, client Client, api string) {
	req := voteRequest()
	req.Messages = said("vote please")
	a, err := client.Generate(t.Context(), req, nil)
	var vote struct {
		State      string
		Importance float64
	}
	want := "speak"
	if api == Anthropic {
		want = "listen" // its fixture is the forced tool
	}
	if err != nil || json.Unmarshal(a.JSON, &vote) != nil || vote.State != want || vote.Importance == 0 {
		t.Errorf("%+v (%s), %v", a, a.JSON, err)
	}
}

func aimockTools(t *testing.T, client Client) {
	req := Request{Messages: said("wave please"), Tools: []Tool{wave()}}
	a, err := client.Generate(t.Context(), req, func(string) error { return nil })
	if err != nil || a.Stop != StopTools || len(a.Calls) != 1 || a.Calls[0].Name != "wave" || string(a.Calls[0].Arguments) != `{"hand":"left"}` {
		t.Fatalf("%+v, %v", a, err)
	}
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Text: a.Text, Calls: a.Calls},
		Message{Role: RoleTool, CallID: a.Calls[0].ID, Text: `{"delivered":1}`})
	if a, err = client.Generate(t.Context(), req, nil); err != nil || a.Text != "I waved." || a.Stop != StopEnd {
		t.Errorf("%+v, %v", a, err)
	}
}

// checkJournal demands that aimock found in the requests what it looks for.
func checkJournal(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var entries []struct {
		Path string
		Body struct {
			Stream      bool
			Temperature *float64
			Messages    []struct{ Role string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&entries); err != nil {
		t.Fatal(err)
	}
	systems := 0
	for _, e := range entries {
		if e.Path == "/v1/chat/completions" && !e.Body.Stream {
			t.Errorf("not streamed: %+v", e)
		}
		if len(e.Body.Messages) > 0 && e.Body.Messages[0].Role == "system" {
			systems++
		}
	}
	// For each API: hello, vote, two with a tool, and one that is unknown, twice.
	if len(entries) != 12 || systems < 4 {
		t.Errorf("aimock got %d requests, %d with a system prompt", len(entries), systems)
	}
}

// Each breakage becomes an error that says what it was.
func TestAimockChaos(t *testing.T) {
	needsAimock(t) // not by each of those that run at once
	for flag, want := range map[string]struct {
		code  abi.Code
		words string
		calls int
	}{
		"malformed":  {abi.CodeInvalid, "the endpoint's answer cannot be read: invalid character", 1},
		"disconnect": {abi.CodeUnavailable, "cannot reach the endpoint: EOF", 2},
		"ratelimit":  {abi.CodeUnavailable, "rate limited, asked to wait 1s: Chaos: rate limit exceeded", 2},
		"drop":       {abi.CodeUnavailable, "the endpoint failed (500): Chaos: request dropped", 2},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			url := aimock(t, "--chaos-"+flag, "1")
			for _, api := range []string{OpenAI, Anthropic} {
				for _, req := range []Request{{Messages: said("say hello")}, voteRequest()} {
					a, err := aimockClient(t, api, url).Generate(t.Context(), req, func(string) error { t.Error("something was said"); return nil })
					wantErr(t, err, want.code, want.words)
					if a.Usage.Calls != want.calls {
						t.Errorf("%s: %d requests, want %d", api, a.Usage.Calls, want.calls)
					}
				}
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/waittest"
)

// keep makes a token with the verb and gives it.
func keep(t *testing.T, file, name string, args ...string) string {
	t.Helper()
	code, out, errs := verbHere(t, nil, append([]string{"token", name, "-file", file}, args...)...)
	if code != exitOK {
		t.Fatal(errs)
	}
	return strings.TrimSpace(out)
}

// TestTokensFromTheShell runs a house where guests stay out, and looks in
// everything it leaves behind for the tokens.
func TestTokensFromTheShell(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secrets", "tokens")
	mika := keep(t, file, "mika", "-kind", "human")
	reader := keep(t, file, "reader", "-scope", "read")
	d := start(t, dir, "level = \"debug\"\n[journal]\nballast = \"0\"\n[identity]\ntokens = \"secrets/tokens\"\nguests = false\n")
	at, host := envURL+"="+d.url, strings.TrimPrefix(d.url, "http://")
	var seen strings.Builder // everything that anybody was shown
	for _, c := range []struct {
		token, args string
		code        int
		want        string
	}{
		{"", "say hello", exitFailed, envToken},
		{"", "tail -since 0", exitFailed, envToken},
		{"cmp_wrong", "say hello", exitFailed, envToken},
		{"cmp_wrong", "tail -since 0", exitFailed, envToken},
		{mika, "say hello", exitOK, "#"},
		{mika, "say -url " + host + " again", exitOK, "#"},
		{mika, "say -from mika myself", exitOK, "#"},
		{mika, "say -from taro hello", exitFailed, `this token is mika's, not "taro"'s`},
		{mika, "stop", exitOK, "stopped at #"},
		{reader, "say hello", exitFailed, `has not the scope "talk"`},
		{reader, "stop", exitFailed, `has not the scope "talk"`},
	} {
		code, out, errs := verbHere(t, []string{at, "USER=somebody", envToken + "=" + c.token}, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: %d %s%s", c.args, code, out, errs)
		}
		seen.WriteString(out + errs)
	}
	seen.WriteString(tailAs(t, at, reader))
	seen.WriteString(attack(t, d.url, reader))
	seen.WriteString(d.stop())
	checkSpeakers(t, d.dir, reader, seen.String())
	for what, text := range left(t, dir, seen.String()) {
		for _, token := range []string{mika, reader, "cmp_wrong"} {
			if strings.Contains(text, strings.TrimPrefix(token, "cmp_")) {
				t.Errorf("%s has a token in it", what)
			}
		}
	}
}

// tailAs reads the room until the STOP with a token.
func tailAs(t *testing.T, at, token string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Long)
	defer cancel()
	w := &watcher{stop: "STOP by", end: cancel}
	if code := (&term{out: w, err: w, env: []string{at, envToken + "=" + token}}).do(ctx, []string{"tail", "-since", "0"}); code != exitOK {
		t.Errorf("tail ended with %d", code)
	}
	return w.String()
}

// attack sends a token the way pages' sockets do, with what is none, to the door
// that takes it from a header: a holder who may only read would speak as a guest.
func attack(t *testing.T, url, token string) string {
	t.Helper()
	const say = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"from":"nobody","message":"I may not"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(say))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "say",
		"Upgrade": "websocket", "Sec-WebSocket-Protocol": "bearer." + token,
	} {
		r.Header.Set(k, v)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s %s %v", answer.Status, b, err)
	}
	return string(b)
}

// checkSpeakers looks who was recorded: mika, under whatever name she called
// herself, and nobody else.
func checkSpeakers(t *testing.T, dir, token, tail string) {
	t.Helper()
	d := start(t, dir, "[journal]\nballast = \"0\"\n[identity]\ntokens = \"secrets/tokens\"\nguests = false\n")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/v1/rooms/main/messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || bytes.Count(b, []byte(`"from":"mika"`)) != 3 || bytes.Count(b, []byte(`"from"`)) != 3 {
		t.Errorf("recorded: %s %s %v", answer.Status, b, err)
	}
	if !strings.Contains(tail, "mika: hello") || !strings.Contains(tail, "STOP by mika") {
		t.Errorf("shown: %s", tail)
	}
	d.stop()
}

// left gives everything the daemon wrote and said.
func left(t *testing.T, dir, seen string) map[string]string {
	t.Helper()
	all := map[string]string{"what was shown": seen}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := all[filepath.Join(dir, "state", "companiond.db")]; !ok {
		t.Error("the journal was not looked at")
	}
	return all
}

// Without -url and a variable, the verbs ask where the configuration says.
func TestVerbsFindTheDaemon(t *testing.T) {
	t.Chdir(t.TempDir())
	url := func(env ...string) string {
		u, err := (&term{env: env, err: io.Discard}).usualURL()
		if err != nil {
			t.Error(err)
		}
		return u
	}
	write := func(toml string) {
		if err := os.WriteFile(defaultConfig, []byte(toml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check(url(), "http://127.0.0.1:3000")
	check(url("COMPANIOND_DOOR_LISTEN=127.0.0.1:4000"), "http://127.0.0.1:4000")
	check(url("COMPANIOND_DOOR_LISTEN=127.0.0.1:4000", envURL+"=kyoko.lan:1"), "http://kyoko.lan:1")
	check(url(envURL+"=https://kyoko.lan"), "https://kyoko.lan")
	write("[door]\nlisten = \"127.0.0.1:5000\"\n")
	check(url(), "http://127.0.0.1:5000")
	check(url(envToken+"=cmp_x"), "http://127.0.0.1:5000") // no mistake in the environment
	write("[door]\nlisten = \"[::]:5000\"\ninsecure = true\n")
	check(url(), "http://127.0.0.1:5000")
	write("[door]\nlisten = \"[::1]:5000\"\n")
	check(url(), "http://[::1]:5000")
	write("[door]\nlisten = \"127.0.0.1:5000\"\nlimit = 1\n")
	if u, err := (&term{err: io.Discard}).usualURL(); err == nil || !strings.Contains(err.Error(), "companiond.toml:3:1: ") || !strings.Contains(err.Error(), "-url") {
		t.Errorf("%q, %v", u, err)
	}
	check(url(envURL+"=kyoko.lan:1"), "http://kyoko.lan:1")
}

// TestAMistakeIsSaid by the verbs that ask where the configuration says: at another address somebody
// else's daemon may be. With -url, or the variable, they go on.
func TestAMistakeIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		_, _ = io.WriteString(w, `{"seq":7,"text":"because"}`)
	}))
	defer server.Close()
	at := server.Listener.Addr().String()
	if err := os.WriteFile(defaultConfig, []byte("[door]\nlisten = \""+at+"\"\nlimit = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{
		"say hello": exitConfig, "stop": exitConfig, "tail": exitConfig, "tail -since 1": exitConfig, "why 7": exitConfig, "memory list": exitConfig, "conversations": exitConfig,
		"why 7 -url " + at: exitOK, "say -h": exitOK,
	} {
		var errs bytes.Buffer
		asked = 0
		code := (&term{out: io.Discard, err: &errs}).do(t.Context(), strings.Fields(args))
		if said := strings.Contains(errs.String(), "companiond.toml:3:1: "); code != want || said != (want == exitConfig) || (asked > 0) != strings.Contains(args, "-url") {
			t.Errorf("%s: ended with %d, asked %d times: %s", args, code, asked, &errs)
		}
	}
	if code := (&term{out: io.Discard, err: io.Discard, env: []string{envURL + "=" + at}}).do(t.Context(), []string{"stop"}); code != exitOK || asked == 0 {
		t.Errorf("with the variable: ended with %d", code)
	}
}

// TestWhyOfNothing is said once.
func TestWhyOfNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"seq: there is no entry 99999"}`)
	}))
	defer server.Close()
	var out, errs bytes.Buffer
	code := (&term{out: &out, err: &errs}).do(t.Context(), []string{"why", "99999", "-prompt", "-url", server.URL})
	if code != exitFailed || strings.Count(errs.String(), "99999") != 1 || out.Len() != 0 {
		t.Errorf("ended with %d: %q %q", code, &out, &errs)
	}
}

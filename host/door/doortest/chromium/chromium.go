// Package chromium opens pages in a headless Chromium, by its DevTools, for tests of what people see. A test is skipped
// where there is none. It never looks for one on the net.
package chromium

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/companiond/companiond/host/waittest"
)

// Page is a page in Chromium.
type Page struct {
	t       *testing.T
	conn    *websocket.Conn
	session string
	id      int
}

// Open opens an address. The script, where there is one, runs before those of each page that is opened there; flags stand beside
// the usual ones.
func Open(t *testing.T, url, script string, flags ...string) *Page {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium")
	}
	folder, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	// Its processes write there until the last of them is gone.
	t.Cleanup(func() {
		waittest.Until(t, "Chromium's folder is removed", func() bool { return os.RemoveAll(folder) == nil })
	})
	args := []string{"--headless", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir=" + folder, "--window-size=1280,400", "about:blank"}
	args = append(flags, args...)
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.WaitDelay = time.Minute
	told, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &Page{t: t}
	t.Cleanup(func() {
		_, _ = b.Call("Browser.close", nil) // it writes into its folder until it is gone
		_ = cmd.Wait()
	})
	var address string
	lines := bufio.NewScanner(told)
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "DevTools listening on ")
	}
	if address == "" {
		t.Fatal("Chromium did not start")
	}
	go func() {
		for lines.Scan() { // or it would wait
		}
	}()
	if b.conn, _, err = websocket.DefaultDialer.Dial(address, nil); err != nil {
		t.Fatal(err)
	}
	var target struct{ TargetID, SessionID string }
	b.Must("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.Must("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	if script != "" {
		b.Must("Page.enable", nil, nil)
		b.Must("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
	}
	b.Must("Page.navigate", map[string]any{"url": url}, nil)
	return b
}

// Call asks the browser: a method of the DevTools protocol, and its parameters.
func (b *Page) Call(method string, params any) (json.RawMessage, error) {
	if b.conn == nil {
		return nil, nil
	}
	b.id++
	ask := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		ask["sessionId"] = b.session
	}
	if err := b.conn.WriteJSON(ask); err != nil {
		return nil, err
	}
	for {
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		_ = b.conn.SetReadDeadline(time.Now().Add(waittest.Long))
		if err := b.conn.ReadJSON(&answer); err != nil {
			return nil, err
		}
		if answer.ID == b.id && answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		} else if answer.ID == b.id {
			return answer.Result, nil
		}
	}
}

// Must is Call, whose answer goes into into.
func (b *Page) Must(method string, params, into any) {
	b.t.Helper()
	result, err := b.Call(method, params)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// left is the value of an expression whose page was left for another before it had one: a link was followed, or the page
// was loaded anew.
const left = "the page was left"

// Eval gives the value of an expression in the page, as text; of a promise, what it comes to.
func (b *Page) Eval(expression string) string {
	b.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	result, err := b.Call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if err != nil && regexp.MustCompile("Inspected target navigated|context was destroyed|Cannot find (default execution )?context").MatchString(err.Error()) {
		return left
	}
	if err == nil && result != nil {
		err = json.Unmarshal(result, &got)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if got.ExceptionDetails != nil {
		b.t.Logf("%.200s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(got.Result.Value)
}

// Until waits until an expression is true in the page.
func (b *Page) Until(what, expression string) {
	b.t.Helper()
	waittest.Until(b.t, what, func() bool { return b.Eval(expression) == "true" })
}

// Key presses a key by its name, "Tab" or "Enter" for instance, and lets it go.
func (b *Page) Key(key string, modifiers int) {
	b.t.Helper()
	codes, text := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "End": 35, "Home": 36}, map[string]string{"Enter": "\r", " ": " "}[key]
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}
	if text != "" {
		down["text"] = text
	}
	b.Must("Input.dispatchKeyEvent", down, nil)
	b.Must("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}, nil)
}

// Type writes text where the focus is.
func (b *Page) Type(text string) {
	b.t.Helper()
	b.Must("Input.insertText", map[string]any{"text": text}, nil)
}

// Window gives the page a size, in CSS pixels, and light or dark.
func (b *Page) Window(width, height int, scheme string) {
	b.t.Helper()
	b.Must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.Must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Picture is what the page looks like, as PNG.
func (b *Page) Picture() []byte {
	b.t.Helper()
	var got struct{ Data string }
	b.Must("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	png, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

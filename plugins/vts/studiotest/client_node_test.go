package studiotest_test

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/plugins/vts/studiotest"
)

// clientDir is where npm puts a client of VTube Studio that others wrote. `npm ci` there installs it.
const clientDir = "testdata/vtubestudio"

// needsClient skips the test with the reason where the client cannot run; COMPANIOND_NODE=1 makes that a failure.
func needsClient(t *testing.T) {
	t.Helper()
	why := ""
	if _, err := exec.LookPath("node"); err != nil {
		why = "node is not installed"
	} else if _, err := os.Stat(filepath.Join(clientDir, "node_modules", "vtubestudio", "package.json")); err != nil {
		why = "a client of VTube Studio is not installed: npm ci --prefix plugins/vts/studiotest/" + clientDir
	}
	switch {
	case why != "" && os.Getenv("COMPANIOND_NODE") == "1":
		t.Fatal(why)
	case why != "":
		t.Skip(why)
	}
}

// steps are what the client prints.
var steps = []string{
	`token: "studio-token-1"`,
	`hotkeys: [true,"Akari",[["Wave","TriggerAnimation","wave.motion3.json","h1"]]]`,
	`trigger: "h1"`,
	`cooldown: 203`,
	`no hotkey: 202`,
	`expressions: [["sad","sad.exp3.json",true],["joy","joy.exp3.json",false]]`,
	`no expression: 651`,
	`no file of an expression: 650`,
	`moved too long: 302`,
	`a name too short: 350`,
	`a default parameter: 354`,
	`parameters: [["FaceAngleX","MouthOpen","MouthSmile","VoiceVolume","VoiceVolumePlusMouthOpen"],[["MyMouth","a client",0.5]]]`,
	`no parameter: 453`,
	`an unknown request: 7`,
	`subscribed: true`,
	`clicked: [true,1,["hair_right6","face_skin"]]`,
}

// TestAClientOfOthers: a client that was written for the real VTube Studio takes this one for it.
func TestAClientOfOthers(t *testing.T) {
	needsClient(t)
	s := studiotest.New(t)
	s.Load(&studiotest.Model{
		ID: "m1", Name: "Akari",
		Hotkeys:     []studiotest.Hotkey{{ID: "h1", Name: "Wave", Type: "TriggerAnimation", File: "wave.motion3.json"}},
		Expressions: []string{"sad.exp3.json", "joy.exp3.json"},
	})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(s.Drop)

	cmd := exec.CommandContext(t.Context(), "node", "client.mjs", strings.Replace(server.URL, "http:", "ws:", 1))
	cmd.Dir = clientDir
	cmd.WaitDelay = 5 * time.Second
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var x struct {
			Step  string
			Value json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		got = append(got, x.Step+": "+string(x.Value))
		if x.Step == "subscribed" {
			s.Click(1, "hair_right6", "face_skin")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, complaints.String())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(steps, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s\n%s", g, w, complaints.String())
	}
	s.Look(func(st *studiotest.State) {
		if len(st.Moves) != 1 || !strings.Contains(string(st.Moves[0]), `"size":-50`) {
			t.Errorf("moves: %s", st.Moves)
		}
	})
}

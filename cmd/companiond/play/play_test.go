package play

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if how := os.Getenv("PLAY_TEST"); how != "" {
		os.Exit(player(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// player is this program as one that plays.
func player(how string, args []string) int {
	wav, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	switch how {
	case "fails":
		fmt.Fprintln(os.Stderr, "audio open error: no such device\nmore of it")
		return 1
	case "plays":
		fmt.Printf("%q", append(args[:len(args)-1], string(wav)))
	case "hangs": // as a script that has another program play does
		self, _ := os.Executable()
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), "PLAY_TEST=sleeps")
		_ = cmd.Run()
	case "sleeps":
		_ = os.WriteFile(os.Getenv("PLAY_BEGAN"), fmt.Append(nil, os.Getpid()), 0o600)
		time.Sleep(time.Hour)
	}
	return 0
}

// TestCommand: the first program that is there plays, and one that somebody names is taken as it is or missed.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		with, there string
		want        []string
		wrong       string
	}{
		{"", "aplay pw-play", []string{"/bin/pw-play"}, ""},
		{"", "ffplay aplay", []string{"/bin/aplay", "-q"}, ""},
		{"", "", nil, "nothing here plays a sound: install one of pw-play, paplay, afplay, aplay, ffplay, powershell, or name another with -with COMMAND"},
		{"mpv --really-quiet", "mpv aplay", []string{"/bin/mpv", "--really-quiet"}, ""},
		{"mpv", "aplay", nil, `-with: there is no program "mpv" here`},
	} {
		d := Desk{Usage: fmt.Errorf, Look: func(name string) (string, error) {
			if slices.Contains(strings.Fields(c.there), name) {
				return "/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		}}
		got, err := d.command(c.with)
		if !slices.Equal(got, c.want) || (err == nil) != (c.wrong == "") || err != nil && err.Error() != c.wrong {
			t.Errorf("%q of %q: %q, %v", c.with, c.there, got, err)
		}
	}
}

// TestNothingMovesTheCursor: what the daemon says is shown on a terminal as words.
func TestNothingMovesTheCursor(t *testing.T) {
	var out strings.Builder
	d := Desk{Err: &out}
	d.wrong("aya", errors.New("no\x1b[2J voice\u202e"))
	d.wrong("", errors.New("bye\r\a"))
	if want := "companiond: a part of what aya says has no sound: no\\u001b[2J voice\\u202e\ncompaniond: bye\\u000d\\u0007\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

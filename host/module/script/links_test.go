package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/module"
)

// A link out of the folder plays as any script, but what is no script there is shown to nobody.
func TestLinks(t *testing.T) {
	out, in := t.TempDir(), t.TempDir()
	secret := "sk-live-51HqNobodyMayReadThis"
	for name, text := range map[string]string{"key": secret + "\n", "good": momo} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(out, name), filepath.Join(in, name+".talk.txt")); err != nil {
			t.Skip(err)
		}
		_, err := New(Config{}).Load(t.Context(), module.Source{ID: name, Name: name + ".talk.txt", Path: filepath.Join(in, name+".talk.txt"), Data: []byte(text)})
		if (err == nil) != (name == "good") || err != nil && (strings.Contains(err.Error(), "sk-") || !strings.Contains(err.Error(), "key.talk.txt:1: is no line of a script; the file is a link out of its folder")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(in, "new.talk.txt")
	_, err := New(Config{}).Load(t.Context(), module.Source{ID: "new", Name: "new.talk.txt", Path: path, Data: []byte("hello there\n")})
	if err == nil || strings.Contains(err.Error(), "link") || !strings.Contains(err.Error(), "hello there") {
		t.Errorf("a text that is to be saved: %v", err)
	}
	if err := os.Symlink(filepath.Join(out, "nothing"), path); err != nil {
		t.Skip(err)
	}
	if _, err = New(Config{}).Load(t.Context(), module.Source{ID: "new", Name: "new.talk.txt", Path: path, Data: []byte(secret)}); err == nil || strings.Contains(err.Error(), "sk-") {
		t.Errorf("a link to what was there: %v", err)
	}
}

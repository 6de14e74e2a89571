package lines

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// TestTooLong: a line that nobody could hear for its length is a mistake of its line, also where it is the head that makes it long.
func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", abi.MaxText)
	for name, c := range map[string]struct{ text, want string }{
		"as long as may be":     {"name: A\n[*]\ngreet: " + long, ""},
		"too long":              {"name: A\n[*]\ngreet: hello\ngreet: y" + long, "line 4: a line of 16385 bytes, at most 16384 are said at once"},
		"a long call":           {"name: A\ncalls: b=" + long + "\n[*]\ngreet: hello\ngreet: {b}!", "line 5: the line may come to 16388 bytes with what stands for {b}, and at most 16384 are said at once"},
		"of nobody here":        {"name: A\ncalls: b=" + long + "\n[*]\ngreet: {c}!", ""},
		"a call of who speaks":  {"name: A\ncalls: b=" + long + "\n[*]\nask: {who}?", "line 4: "},
		"how people are called": {"name: A\nhuman: " + strings.Repeat("{name}", 300) + "\n[*]\ngreet: {human}!", "line 4: "},
		"many":                  {"name: A\n[*]\nreact: " + strings.Repeat("{quote}", 40), "line 3: "},
		"a topic":               {"name: A\ntopic: t " + long + "\n[*]\npre: {first}!", "line 4: "},
	} {
		switch _, err := Parse(c.text); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %.300v, want %s", name, err, c.want)
		}
	}
}

package scaffold_test

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/sdk/go/talk"
	"github.com/companiond/companiond/sdk/scaffold"
)

// TestOne: each file has the name of its character in it, in whatever script, and lines are read by who plays them.
// host/module/files holds the others to what loads them.
func TestOne(t *testing.T) {
	for _, lang := range scaffold.Ones() {
		for _, name := range []string{"mio", "みお", "élise"} {
			for _, ja := range []bool{false, true} {
				o := scaffold.One{Name: name, Lang: lang, Ja: ja}
				text, err := o.Text()
				if err != nil || !strings.Contains(strings.ToLower(text), name) || strings.Contains(text, "<<") || !strings.HasPrefix(o.File(), name+".") {
					t.Errorf("%+v: %s %v\n%s", o, o.File(), err, text)
				}
				if _, err := talk.New(text); lang == scaffold.Talk && err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	}
	for _, o := range []scaffold.One{{Name: "../x", Lang: scaffold.Card}, {Name: "", Lang: scaffold.Talk}, {Name: "mio", Lang: "cobol"}, {Name: "mio"}} {
		if text, err := o.Text(); abi.CodeOf(err) != abi.CodeInvalid || text != "" && text != "\n" {
			t.Errorf("%+v: %q %v", o, text, err)
		}
	}
}

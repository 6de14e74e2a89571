package lines

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/sdk/go/words"
)

// docs/TALK.md names all that a script may have, and its sample is one that nothing is wrong with.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/TALK.md")
	if os.IsNotExist(err) {
		t.Skip("this is a copy of the SDK")
	}
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	named := []string{"lang", "name", "aliases", "calls", "human", "likes", "after", "habit", "topic", "{hi}", "{human}", "{who}", "{quote}", "{word}", "{first}", "{last}"}
	for _, a := range slices.Concat(TopicActs, GeneralActs) {
		named = append(named, string(a))
	}
	named = append(named, "{it}", "{memory}")
	for _, of := range Kinds {
		named = append(named, of...)
	}
	for _, topic := range words.Topics() {
		named = append(named, topic.ID)
	}
	for _, name := range named {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("it does not name %s", name)
		}
	}
	_, sample, _ := strings.Cut(text, "```text\n")
	sample, _, _ = strings.Cut(sample, "```")
	for _, problem := range Lint(sample) {
		t.Error(problem)
	}
	if scripts, err := Parse(sample); err != nil || len(scripts) != 2 {
		t.Errorf("%d scripts, %v", len(scripts), err)
	}
}

package lines

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/sdk/go/words"
)

// The scripts of the house's characters hold together: topics, farewells, and an answer
// to every question one companion has for another.
func TestScriptsOfTheHouse(t *testing.T) {
	var scripts []string
	for _, who := range []string{"aya", "kyoko", "natsumi"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "characters", who+".talk.txt"))
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, string(text))
	}
	for _, problem := range Lint(scripts...) {
		t.Error(problem)
	}
}

// Lint finds what it promises.
func TestLint(t *testing.T) {
	a := "name: A\ncalls: b=ベー\n[*]\nreact: さようなら\nbye: どうも\nunknown: 猫かな\n[cat]\ntell: 猫だね\ntell: 猫だね\ntell: ゲームだね\nopen: 何か\nask @b: 猫は？\nreact: ベーはいる"
	b := "name: B\n[cat]\nanswer 犬: 猫"
	found := strings.Join(Lint(a, b), "\n")
	for _, want := range []string{"さようなら: a farewell", "どうも: a farewell", "brings up [cat]", "twice", "sounds like [game]", "opens []", "has no answer", "names b"} {
		if !strings.Contains(found, want) {
			t.Errorf("Lint misses %q in\n%s", want, found)
		}
	}
	if found := Lint("name: C\n[cat]\ntell: 猫だよ"); len(found) > 0 {
		t.Errorf("Lint of a clean script: %v", found)
	}
	if found := strings.Join(Lint("name: A\n[*]\ndistress: 死にたいんだね。\nreact: 消えたい"), "\n"); strings.Count(found, "sounds like a person in distress") != 2 {
		t.Errorf("Lint finds %s", found)
	}
	if found := Lint("nothing"); !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "script 1") }) {
		t.Errorf("Lint of no script: %v", found)
	}
}

// Lint reads scripts and reports what a listener would stumble over: lines
// that sound like another topic than their section's and so turn the talk,
// farewells that nobody recognises, farewells in the middle of a talk, lines
// that sound like a person in distress, lines that are there twice, and questions to a character among the scripts that it
// has no answer for.
func Lint(scripts ...string) []string {
	var found []string
	var parsed []*Script
	for i, text := range scripts {
		scripts, err := Parse(text)
		if err != nil {
			return append(found, fmt.Sprintf("script %d: %v", i+1, err))
		}
		parsed = append(parsed, scripts...)
	}
	for _, s := range parsed {
		seen := map[uint32]bool{}
		for topic, acts := range s.Lines {
			for _, lines := range acts {
				for _, l := range lines {
					where := fmt.Sprintf("%s %s [%s] %s: %s: ", s.Name, s.Lang, topic, l.Act, l.Text)
					if seen[l.ID] {
						found = append(found, where+"is there twice")
					}
					seen[l.ID] = true
					for _, problem := range s.lint(l, parsed) {
						found = append(found, where+problem)
					}
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// lint reports the problems of one line.
func (s *Script) lint(l *Line, all []*Script) (problems []string) {
	bare := l.Text
	for _, key := range l.Needs {
		bare = strings.ReplaceAll(bare, "{"+key+"}", "")
	}
	if bye := words.Intents(bare)[words.Bye]; bye != (l.Act == Farewell) {
		problems = append(problems, "a farewell must sound like one, and nothing else may")
	}
	if words.Distressed(bare) {
		problems = append(problems, "sounds like a person in distress")
	}
	topics := words.NewFinder(s.Topics).In(words.Normal(bare))
	switch {
	case l.Topic == AnyTopic:
		if len(topics) > 0 && !slices.Contains([]Act{Intro, Reintro, HowAreYou, Self, Pre, Closing, Farewell}, l.Act) {
			problems = append(problems, fmt.Sprintf("brings up %v", topics))
		}
	case len(topics) > 0 && !slices.Contains(topics, l.Topic):
		problems = append(problems, fmt.Sprintf("sounds like %v", topics))
	case l.Act == Opening && (len(topics) != 1 || topics[0] != l.Topic):
		problems = append(problems, fmt.Sprintf("opens %v", topics))
	}
	for id, call := range s.Calls {
		if strings.Contains(bare, call) {
			problems = append(problems, "names "+id+", who may be absent: write {"+id+"}")
		}
	}
	if l.Act == Ask && l.To != "" && !s.answered(l, bare, all) {
		problems = append(problems, "has no answer")
	}
	return problems
}

// answered says whether the script of the one a question goes to has an
// answer; true if that script is not among all.
func (s *Script) answered(l *Line, bare string, all []*Script) bool {
	heard := words.Normal(bare)
	for _, o := range all {
		if o.Lang != s.Lang || !strings.EqualFold(o.Name, l.To) {
			continue
		}
		return slices.ContainsFunc(o.Lines[l.Topic][Answer], func(a *Line) bool {
			return len(a.On) == 0 || slices.ContainsFunc(a.On, func(w string) bool { return words.Has(heard, w) })
		})
	}
	return true
}

// FuzzLint: it reads whatever there is.
func FuzzLint(f *testing.F) {
	f.Add("name: A\n[*]\nreact: x")
	f.Fuzz(func(_ *testing.T, text string) { Lint(text) })
}

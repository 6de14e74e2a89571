package speech

import "github.com/companiond/companiond/host/entry"

// Beats gives how long a text takes to say, sentence by sentence. A rest between two
// sentences is a beat of its own, of no bytes: nothing is heard in it. Together they take
// as long as the text; one is at most [Longest].
func Beats(text string) (beats []entry.Beat) {
	p, from := newPace(text), 0
	for _, end := range Sentences(text) {
		b := entry.Beat{Bytes: end - from}
		for _, r := range text[from:end] {
			rest, own := p.step(r)
			if b.MS == 0 && rest > 0 && len(beats) > 0 {
				beats, rest = append(beats, entry.Beat{MS: int64(rest)}), 0
			}
			b.MS = min(b.MS+int64(rest+own), Longest.Milliseconds())
		}
		beats, from = append(beats, b), end
	}
	return beats
}

const (
	alikeTo   = 8 // of the newest lines
	shortSame = 2 // times that a short line was said already, when it counts
)

// Lately are the newest lines of a talk, which a new one is held against. The zero value
// has none.
type Lately struct{ lines []said }

type said struct {
	seq   uint64
	print Lineprint
}

// Add keeps a line, and forgets those that are too long ago. names are those that make no
// two lines alike.
func (l *Lately) Add(seq uint64, text string, names []string) {
	l.lines = append(l.lines, said{seq, Shape(text, names)})
	l.lines = l.lines[max(0, len(l.lines)-alikeTo):]
}

// Like gives the newest line that says much the same as a text, by its seq, 0 for none.
func (l *Lately) Like(text string, names []string) (seq uint64) {
	print, same := Shape(text, names), 0
	for _, s := range l.lines {
		if !Alike(print, s.print) {
			continue
		}
		if same++; !print.Short() || same >= shortSame {
			seq = s.seq
		}
	}
	return seq
}

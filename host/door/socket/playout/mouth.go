package playout

import "time"

// frame is what a mouth reads of a frame of GET /v1/actions.
type frame struct {
	Seq        uint64
	Kind       string
	Companion  string
	Line       string
	Part       int
	Parameters struct{ Message string }
	URL        string
	Seconds    float64
	Failed     string
	End        string
	Error      *struct{ Message string }
}

// word is what a mouth tells the room of a line.
type word struct {
	Line    string  `json:"line"`
	Part    int     `json:"part,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Played  int     `json:"played,omitempty"`
}

// stage is what a mouth stands on. None of its methods waits for anything; what they begin ends in a call of the mouth's.
type stage interface {
	load(line string, part int, url string) // gets a sound, and then has
	play(run int, wav []byte)               // plays it, and then over
	rest(run int, text string)              // is silent for as long as it takes to say text, and then over
	wait(run int, d time.Duration)          // lets d pass, and then late
	hush()                                  // ends what play, rest and wait began
	tell(w word)
	wrong(companion, why string)
}

// How long the sound of a part is waited for when it is its turn: a room waits for ten seconds at least until it hears that
// it was played. And how long where none came of the line so far.
const (
	soon      = 6 * time.Second
	soonAgain = time.Second
)

// mouth says the parts of lines, one after the other, each when its sound is there. It knows neither connections nor
// sounds; one goroutine alone calls it.
type mouth struct {
	on   stage
	line *line
	runs int // of what play, rest and wait began last; the end of an older one is nobody's
}

type line struct {
	id, companion string
	parts         map[int]*part
	next          int
	saying, waits bool // the next part sounds, or its sound is waited for
	mute          bool // no sound came in time
}

type part struct {
	text    string
	seconds float64
	loading bool
	there   bool // its sound is there, or will never be
	wav     []byte
}

// take takes a frame.
func (m *mouth) take(f frame) {
	switch {
	case f.Kind == "sound":
		m.sound(f)
	case f.Kind == "speech" && f.Line != "":
		m.piece(f)
	case f.End != "" && m.line != nil && m.line.id == f.Line:
		m.fall()
	}
}

// piece takes a part of a line. A new line is the end of the one before.
func (m *mouth) piece(f frame) {
	if m.line == nil || m.line.id != f.Line {
		m.fall()
		m.line = &line{id: f.Line, companion: f.Companion, parts: map[int]*part{}, next: f.Part}
	}
	if m.line.parts[f.Part] == nil && f.Part >= m.line.next {
		m.line.parts[f.Part] = &part{text: f.Parameters.Message}
	}
	m.goOn()
}

// sound takes how a part sounds. It is got at once, so that it is there when its turn comes.
func (m *mouth) sound(f frame) {
	l := m.line
	if l == nil || l.id != f.Line {
		return
	}
	p := l.parts[f.Part]
	if p == nil || p.there || p.loading {
		return
	}
	p.seconds = f.Seconds
	if f.Failed != "" {
		m.has(f.Line, f.Part, nil, f.Failed)
		return
	}
	l.mute, p.loading = false, true
	m.on.load(f.Line, f.Part, f.URL)
}

// has takes a sound that was got, or why there is none.
func (m *mouth) has(id string, n int, wav []byte, failed string) {
	if m.line == nil || m.line.id != id {
		return
	}
	p := m.line.parts[n]
	if p == nil || p.there {
		return // it was not waited for so long
	}
	if failed != "" {
		m.on.wrong(m.line.companion, failed)
	}
	p.there, p.wav = true, wav
	m.goOn()
}

// goOn says the next part, where there is one and none is being said.
func (m *mouth) goOn() {
	l := m.line
	p := l.parts[l.next]
	if l.saying || p == nil {
		return
	}
	if !p.there {
		if !l.waits {
			l.waits = true
			m.runs++
			m.on.wait(m.runs, map[bool]time.Duration{false: soon, true: soonAgain}[l.mute])
		}
		return
	}
	if l.waits {
		l.waits = false
		m.on.hush()
	}
	l.saying = true
	m.runs++
	if p.wav == nil {
		m.on.rest(m.runs, p.text)
		return
	}
	m.on.tell(word{Line: l.id, Part: l.next, Seconds: p.seconds})
	m.on.play(m.runs, p.wav)
}

// over takes that a part has sounded, or been silent, for as long as it takes.
func (m *mouth) over(run int) {
	if run != m.runs || m.line == nil || !m.line.saying {
		return
	}
	l := m.line
	delete(l.parts, l.next)
	l.saying = false
	l.next++
	m.again()
	m.goOn()
}

// failed takes that a part cannot be played: it is silent instead.
func (m *mouth) failed(run int, why string) {
	if run == m.runs && m.line != nil && m.line.saying {
		m.on.wrong(m.line.companion, why)
		m.on.rest(run, m.line.parts[m.line.next].text)
	}
}

// late takes that a sound did not come in time.
func (m *mouth) late(run int) {
	if run != m.runs || m.line == nil || !m.line.waits {
		return
	}
	l := m.line
	l.waits, l.mute = false, true
	m.on.wrong(l.companion, "no sound came")
	l.parts[l.next].there = true
	m.goOn()
}

// fall falls silent at once.
func (m *mouth) fall() {
	if m.line != nil {
		m.line = nil
		m.on.hush()
	}
}

// again tells how much of the line that is being said was said: what was told while nobody heard it is lost.
func (m *mouth) again() {
	if m.line != nil && m.line.next > 1 {
		m.on.tell(word{Line: m.line.id, Played: m.line.next - 1})
	}
}

package bench

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// Metrics are the figures of a rule on a cast, over all talks. docs/BENCH.md says how
// each is counted and where it comes from. A share is 0..1; a figure of nothing is 0.
type Metrics struct {
	Talks   int     `json:"talks"`
	Minutes float64 `json:"minutes"` // from the first words of a person to the end
	Turns   int     `json:"turns"`   // of members that were heard

	// Timing, at changes of speaker to a member.
	GapMedian float64 `json:"gap_ms_p50"` // from the end of a voice to the next; below 0: over it
	GapP95    float64 `json:"gap_ms_p95"`
	GapGood   float64 `json:"gap_good"` // share from -200 to 1000 ms
	// The same between two members where no person spoke since the first of them began.
	BetweenMedian float64 `json:"between_ms_p50"`
	BetweenP95    float64 `json:"between_ms_p95"`

	Overlap   float64 `json:"overlap"`    // share of the time of members' voices with two at once or more
	TwoMouths int     `json:"two_mouths"` // turns that began while another member was heard
	DeadAir   float64 `json:"dead_air_s"` // seconds a minute of silences beyond 3 s, while nothing ended the talk
	Silence   float64 `json:"silence_s"`  // the same while somebody had something to say
	DeadRooms float64 `json:"dead_rooms"` // share of talks in which that went on for 10 s

	// Sharing.
	Gini    float64 `json:"gini"`         // of seconds heard alone, 0 equal, 1 one alone
	Even    float64 `json:"even"`         // entropy of the same, 1 equal
	Starved int     `json:"starved"`      // turns of others in a row that somebody lost who wished to speak
	Waited  float64 `json:"waited_s_max"` // the longest that somebody wished to speak in vain

	// People.
	Addressed  int     `json:"addressed"`   // turns of people that address a member who is alive
	Answered   float64 `json:"answered"`    // share of these whose next turn is the addressee's, within 10 s
	Hijacked   float64 `json:"hijacked"`    // share of these whose next turn is somebody else's
	Humans     int     `json:"humans"`      // turns of people that want an answer
	AnswerP50  float64 `json:"answer_ms"`   // from a person's last word to the answer's first
	AnswerP95  float64 `json:"answer_p95"`  // ms
	Unanswered int     `json:"unanswered"`  // see Gates
	StopP95    float64 `json:"stop_ms_p95"` // from a person's first word to the end of members' voices that were heard then

	// Waste and ends.
	Stale    float64 `json:"stale"`     // share of turns that began after words which their speaker did not know
	Thrown   float64 `json:"thrown"`    // share of the characters written that nobody heard
	Lines    float64 `json:"lines"`     // share of the lines asked for that nobody heard, but for those of who passes or is dead
	Unheard  int     `json:"unheard"`   // characters that history has of lines and that nobody heard
	Calls    float64 `json:"calls"`     // calls of models for each turn
	Nods     float64 `json:"nods"`      // backchannels a minute
	AfterEnd int     `json:"after_end"` // lines that began after a STOP or the end of the talk
	OverCap  int     `json:"over_cap"`  // turns beyond the room's max_turns since a person spoke
	Forced   float64 `json:"forced"`    // share of turns whose speaker did not wish to speak
	Differs  int     `json:"differs"`   // talks whose journal replays to something else
}

// Bounds of the metrics.
const (
	goodFrom, goodTo = -200 * time.Millisecond, time.Second
	deadAfter        = 3 * time.Second
	deadRoom         = 10 * time.Second
	answerWithin     = 10 * time.Second
)

// tally adds the talks of a rule on a cast up.
type tally struct {
	cap              int // turns that may be taken since a person spoke; 0: any number
	m                Metrics
	gaps, between    []time.Duration
	answers          []time.Duration
	stops            []time.Duration
	gini, even       []float64 // a talk each
	voices, doubled  time.Duration
	dead, silent     time.Duration
	deadRooms        int
	answered, stolen int
	stale, forced    int
	written, heard   int
	calls, nods      int
	asked            int // lines
	length           time.Duration
}

// add counts a talk.
func (t *tally) add(r world.Record) {
	t.m.Talks++
	t.calls += r.Calls
	t.written += r.Written
	t.asked += r.Lines - r.Passes
	heard := slices.Clone(r.Turns)
	slices.SortStableFunc(heard, func(a, b *world.Turn) int { return cmp.Compare(a.Begun, b.Begun) })
	heard = slices.DeleteFunc(heard, func(u *world.Turn) bool { return u.Begun >= r.Horizon || u.Cut && u.Ended == u.Begun })
	if len(heard) > 0 {
		t.length += r.Horizon - heard[0].Begun
	}
	t.timing(heard)
	t.quiet(r, heard)
	t.sharing(r, heard)
	t.waiting(r)
	t.people(r, heard)
	t.ends(r, heard)
	t.often(r)
}

// timing counts gaps and overlaps.
func (t *tally) timing(heard []*world.Turn) {
	var before *world.Turn
	var voice []*world.Turn // of members
	for _, u := range heard {
		if u.By != abi.KindHuman {
			t.heard += len([]rune(u.Text))
			if over, ok := strings.CutPrefix(u.Kept, u.Text); ok {
				t.m.Unheard += len([]rune(over))
			}
		}
		if u.Kind != abi.KindTurn {
			t.nods++
			continue
		}
		if before != nil && u.Speaks() && before.From != u.From && !before.Stop {
			t.gaps = append(t.gaps, u.Begun-before.Ended)
			if before.Speaks() && !slices.ContainsFunc(heard, func(h *world.Turn) bool {
				return h.By == abi.KindHuman && h.Ended > before.Begun && h.Begun < u.Begun
			}) {
				t.between = append(t.between, u.Begun-before.Ended)
			}
		}
		before = u
		if u.Speaks() {
			t.m.Turns++
			if slices.ContainsFunc(voice, func(v *world.Turn) bool { return v.From != u.From && v.Ended > u.Begun }) {
				t.m.TwoMouths++
			}
			voice = append(voice, u)
		}
	}
	one, two := measure(voice)
	t.voices, t.doubled = t.voices+one, t.doubled+two
}

// measure gives how long at least one, and at least two, of some turns are heard.
func measure(turns []*world.Turn) (one, two time.Duration) {
	type edge struct {
		at time.Duration
		by int
	}
	var edges []edge
	for _, u := range turns {
		edges = append(edges, edge{u.Begun, 1}, edge{u.Ended, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	open := 0
	for i, e := range edges {
		if i > 0 && open > 0 {
			one += e.at - edges[i-1].at
		}
		if i > 0 && open > 1 {
			two += e.at - edges[i-1].at
		}
		open += e.by
	}
	return one, two
}

// quiet counts silences.
func (t *tally) quiet(r world.Record, heard []*world.Turn) {
	worst, until := time.Duration(0), time.Duration(-1)
	silence := func(from, to time.Duration) {
		beyond := to - from - deadAfter
		if until < 0 || beyond <= 0 || rests(r, t.cap, from) {
			return
		}
		t.dead += beyond
		if wanted(r, from) {
			t.silent += beyond
			worst = max(worst, to-from)
		}
	}
	for _, u := range heard {
		silence(until, u.Begun)
		until = max(until, u.Ended)
	}
	silence(until, r.Horizon)
	if worst >= deadRoom {
		t.deadRooms++
	}
}

// sharing counts how the time was shared among the members that are alive. Only what is
// heard without another member's voice counts: a room in which all speak at once
// shares nothing.
func (t *tally) sharing(r world.Record, heard []*world.Turn) {
	seconds := map[string]float64{}
	for _, m := range r.Cast.Members {
		if !m.Dead {
			seconds[m.ID] = 0
		}
	}
	for _, u := range heard {
		if u.Speaks() {
			seconds[u.From] += alone(r, u).Seconds()
		}
	}
	shares := make([]float64, 0, len(seconds))
	for _, who := range slices.Sorted(maps.Keys(seconds)) {
		shares = append(shares, seconds[who])
	}
	g, e := shared(shares)
	t.gini, t.even = append(t.gini, g), append(t.even, e)
}

// shared gives the Gini coefficient of some shares, made to reach 1 for any number of
// them, and their entropy over that of equal ones. What one has for want of others is
// shared equally; where there is nothing nothing is shared.
func shared(x []float64) (gini, even float64) {
	sum, apart, entropy := 0.0, 0.0, 0.0
	for _, a := range x {
		sum += a
		for _, b := range x {
			apart += math.Abs(a - b)
		}
	}
	switch {
	case len(x) < 2:
		return 0, 1
	case sum == 0:
		return 1, 0
	}
	for _, a := range x {
		if a > 0 {
			entropy -= a / sum * math.Log(a/sum)
		}
	}
	n := float64(len(x))
	return apart / (2 * n * sum) * n / (n - 1), entropy / math.Log(n)
}

// waiting counts how long members wished to speak before they were heard, or no longer
// wished it. It looks at turns in the order in which their words were known.
func (t *tally) waiting(r world.Record) {
	lost, since := map[string]int{}, map[string]time.Duration{}
	var before *world.Turn
	until := func(at time.Duration) {
		if before == nil || rests(r, t.cap, max(before.At, before.Ended)) {
			clear(since) // nobody was to speak
		}
		for _, from := range since {
			t.m.Waited = max(t.m.Waited, (at - from).Seconds())
		}
	}
	for _, u := range r.Turns {
		if u.Kind != abi.KindTurn {
			continue
		}
		until(max(u.Begun, u.At))
		for _, m := range r.Cast.Members {
			_, waits := since[m.ID]
			if waits && u.Speaks() && u.From != m.ID {
				lost[m.ID]++
				t.m.Starved = max(t.m.Starved, lost[m.ID])
			}
			switch {
			case u.From == m.ID && alone(r, u) < (u.Ended-u.Begun)/2: // it has spoken in vain
			case u.From == m.ID || !slices.Contains(u.Wants, m.ID):
				delete(since, m.ID)
				delete(lost, m.ID)
			case !waits:
				since[m.ID] = u.At
			}
		}
		before = u
	}
	until(r.Horizon)
}

// people counts how people were answered.
func (t *tally) people(r world.Record, heard []*world.Turn) {
	for _, h := range r.Turns {
		if h.By != abi.KindHuman {
			continue
		}
		last := h.Begun
		for _, u := range heard {
			if u.Speaks() && u.Begun < h.Begun && u.Ended > h.Begun {
				last = max(last, u.Ended)
			}
		}
		if last > h.Begun {
			t.stops = append(t.stops, last-h.Begun)
		}
		if !h.Asks() {
			continue
		}
		t.m.Humans++
		answer := answer(r, h)
		switch {
		case answer != nil:
			t.answers = append(t.answers, max(0, answer.Begun-h.Ended))
		case owed(r, h):
			t.m.Unanswered++
		}
		t.addressed(r, h, heard)
	}
}

// addressed counts who answered a turn that addresses a member.
func (t *tally) addressed(r world.Record, h *world.Turn, heard []*world.Turn) {
	if len(h.To) == 0 || !alive(r, h.To[0]) {
		return
	}
	i := slices.IndexFunc(heard, func(u *world.Turn) bool {
		return u.Begun >= h.Ended && u.N > h.N && u.Kind == abi.KindTurn
	})
	if i >= 0 && heard[i].By == abi.KindHuman {
		return // somebody spoke before it could be answered
	}
	t.m.Addressed++
	switch {
	case i < 0 || heard[i].Begun-h.Ended > answerWithin:
	case heard[i].From == h.To[0]:
		t.answered++
	default:
		t.stolen++
	}
}

// ends counts what was said after the end, or without knowing what was said.
func (t *tally) ends(r world.Record, heard []*world.Turn) {
	for _, u := range heard {
		if u.By != abi.KindHuman && ended(r, u.Begun) {
			t.m.AfterEnd++
		}
		if u.Speaks() && slices.ContainsFunc(r.Turns, func(o *world.Turn) bool {
			return o.N > u.Basis && o.N != u.N && o.Kind == abi.KindTurn && o.From != u.From && o.At < u.Begun
		}) {
			t.stale++
		}
	}
}

// often counts turns that nobody wished for, or that were too many, in the order in
// which words were known.
func (t *tally) often(r world.Record) {
	turns := 0
	var before *world.Turn
	for _, u := range r.Turns {
		if u.Kind != abi.KindTurn {
			continue
		}
		if !u.Speaks() {
			turns = 0
		} else if turns++; t.cap > 0 && turns > t.cap {
			t.m.OverCap++
		}
		if u.Speaks() && before != nil && !slices.Contains(r.Turns[max(u.Basis, 1)-1].Wants, u.From) && !slices.Contains(before.Wants, u.From) {
			t.forced++
		}
		before = u
	}
}

// sum gives the metrics of all talks that were added.
func (t *tally) sum() Metrics {
	m := t.m
	m.Minutes = round(t.length.Minutes())
	slices.Sort(t.gaps)
	slices.Sort(t.between)
	slices.Sort(t.answers)
	slices.Sort(t.stops)
	m.GapMedian, m.GapP95 = ms(t.gaps, 0.5), ms(t.gaps, 0.95)
	m.BetweenMedian, m.BetweenP95 = ms(t.between, 0.5), ms(t.between, 0.95)
	good := 0
	for _, g := range t.gaps {
		if goodFrom <= g && g <= goodTo {
			good++
		}
	}
	m.GapGood = share(good, len(t.gaps))
	m.Overlap = share(t.doubled, t.voices)
	m.DeadAir, m.Silence = share(t.dead.Seconds(), t.length.Minutes()), share(t.silent.Seconds(), t.length.Minutes())
	m.DeadRooms = share(t.deadRooms, m.Talks)
	m.Gini, m.Even = mean(t.gini), mean(t.even)
	m.Answered, m.Hijacked = share(t.answered, m.Addressed), share(t.stolen, m.Addressed)
	m.AnswerP50, m.AnswerP95, m.StopP95 = ms(t.answers, 0.5), ms(t.answers, 0.95), ms(t.stops, 0.95)
	m.Stale, m.Thrown = share(t.stale, m.Turns), max(0, share(t.written-t.heard, t.written))
	m.Lines = max(0, share(t.asked-m.Turns, t.asked))
	m.Forced = share(t.forced, m.Turns)
	m.Calls, m.Nods = share(t.calls, m.Turns), share(float64(t.nods), t.length.Minutes())
	m.Waited = round(m.Waited)
	return m
}

// ms gives a quantile of sorted times, in milliseconds.
func ms(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return float64(sorted[max(0, i)].Milliseconds())
}

func share[N int | float64 | time.Duration](a, b N) float64 {
	if b == 0 {
		return 0
	}
	return round(float64(a) / float64(b))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return share(sum, float64(len(x)))
}

// round leaves three digits, so that figures are the same on every machine.
func round(f float64) float64 { return math.Round(f*1000) / 1000 }

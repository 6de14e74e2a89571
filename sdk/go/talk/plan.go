package talk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/words"
)

// plan lists what the character may do now, best first.
func (t *turn) plan() []step {
	switch t.m.phase {
	case ending:
		return general(pre, closing)
	case thanking:
		return general(closing, pre)
	case leaving:
		return append([]step{{farewell, anyTopic, true}}, general(farewell)...)
	}
	var steps []step
	last := t.m.last()
	switch v := t.m.visit; {
	case v.asker == t.h.Self() && last.human && len(last.topics) == 0:
		steps = general(told)
	case v.vents && len(t.m.talk) <= 2:
		steps = general(vent)
	case v.own && last.human:
		if f, ok := t.known(); ok {
			t.fact = f
			steps = general(knows)
		} else {
			steps = general(forgot)
		}
	}
	if t.m.visit.own {
		return append(steps, general(react)...)
	}
	if last.human || !t.m.spoke(t.h.Self()) && len(t.m.talk) <= openingPart {
		steps = append(steps, t.meeting(last.human)...)
	}
	if slices.Contains(last.to, t.h.Self()) || last.question && (last.human || t.s.Addressed) {
		return append(steps, t.answering(last.human)...)
	}
	if last.human {
		return append(steps, t.statement()...)
	}
	return append(steps, t.thread()...)
}

// general makes steps of lines for any topic.
func general(acts ...act) []step {
	steps := make([]step, len(acts))
	for i, a := range acts {
		steps[i] = step{act: a, topic: anyTopic}
	}
	return steps
}

// meeting answers what the human's message does besides having a topic; first
// is true for who answers it directly.
func (t *turn) meeting(first bool) []step {
	o := t.m.opener()
	in := o.intents
	given, told := t.m.told()
	early := len(t.m.talk) <= 3
	var acts []act
	inKind := func(answers ...act) { // to the intents of the same names
		for _, a := range answers {
			if early && in[words.Intent(a)] {
				acts = append(acts, a)
			}
		}
	}
	inKind(emoji, wordless, rude)
	if told && t.p.namesake(t.h, t.s, given) {
		acts = append(acts, namesake)
	} else if told && early {
		acts = append(acts, name)
	}
	if in[words.Long] && first {
		acts = append(acts, long)
	}
	if t.m.visit.back && in[words.Greet] && early {
		if first {
			acts = append(acts, again)
		} else if !t.m.forPerson(t.s) && t.recall() {
			acts = append(acts, recall)
		}
	}
	if about := t.m.visit.about; about != "" && len(t.m.talk) <= 4 && (first || !t.named(o.norm)) {
		acts = append(acts, self)
	}
	if in[words.Who] {
		if t.introduced() {
			acts = append(acts, reintro)
		} else {
			acts = append(acts, intro)
		}
	}
	if len(o.topics) > 0 && (o.question || !first) {
		return general(acts...) // the topic is the point, not the greeting
	}
	inKind(howAreYou, thanks, praise)
	if !first && o.question && len(o.topics) == 0 && len(t.m.talk) <= 2 && len(acts) == 0 {
		acts = append(acts, unknown) // two may not know it, and not everybody
	}
	if in[words.Greet] && len(o.topics) == 0 && !(o.question && !in[words.Who] && !in[words.HowAreYou]) {
		acts = append(acts, greet)
	}
	return general(acts...)
}

// named says whether a text names one of those who are here: a question with a name in it is for that one.
func (t *turn) named(norm string) bool {
	return slices.ContainsFunc(t.s.Members, func(o companion.Member) bool {
		return o.Kind != abi.KindHuman && slices.ContainsFunc([]string{o.ID, o.Name, strings.TrimSuffix(t.sc.Calls[o.ID], "さん")}, func(c string) bool { return c != "" && words.Has(norm, words.Normal(c)) })
	})
}

// introduced says whether the character has introduced itself in this room.
func (t *turn) introduced() bool {
	return slices.ContainsFunc(t.sc.Lines[anyTopic][intro], func(l *line) bool { return slices.Contains(t.m.said, l.ID) })
}

// answering replies to a question for this character.
func (t *turn) answering(human bool) []step {
	var steps []step
	topic := t.m.topic
	if topic != "" && (!human || len(t.m.last().topics) > 0) {
		steps = append(steps, step{act: answer, topic: topic}, step{act: tell, topic: topic})
		if human {
			steps = append(steps, step{act: opening, topic: topic})
		}
		steps = append(steps, step{act: react, topic: topic})
	}
	if human {
		steps = append(steps, general(unknown, dodge, react)...)
	} else {
		steps = append(steps, general(dodge, react, unknown)...)
	}
	return append(steps, t.openings()...)
}

// statement takes up what a human says without asking.
func (t *turn) statement() []step {
	if topic := t.m.topic; topic != "" {
		steps := []step{{answer, topic, true}, {react, topic, true}, {tell, topic, false}, {ask, topic, false}, {react, topic, false}}
		return append(append(steps, general(react, unknown)...), t.openings()...)
	}
	return append(general(unknown, react), t.openings()...)
}

// thread goes on with what the companions talk about, or leaves it when it has
// had its time.
func (t *turn) thread() []step {
	topic := t.m.topic
	if topic == "" {
		return append(t.openings(), general(react)...)
	}
	var steps []step
	deep := t.depth()
	if t.m.last().question { // for everybody
		steps = append(steps, step{answer, topic, true})
	}
	wind, _ := pace(t.m, t.s, t.h.Room())
	late := t.s.Turns >= wind-2 // too late for something new
	if t.m.depth >= deep && !late {
		steps = append(steps, t.openings()...)
	}
	acts := t.acts()
	for _, hit := range []bool{true, false} {
		for _, a := range acts {
			steps = append(steps, step{a, topic, hit})
		}
	}
	steps = append(steps, general(react, ask)...)
	if t.m.depth < deep || late {
		steps = append(steps, t.openings()...)
	}
	return steps
}

// depth is how many turns the thread is worth: more for what the human asked.
func (t *turn) depth() int {
	deep := deepThread + int(words.Hash(t.s.Message.ID)%3)
	if slices.Contains(t.m.opener().topics, t.m.topic) {
		deep += forHuman
	}
	return deep
}

// acts puts telling, asking and reacting in order: by habit where a thread is
// young or the character was called upon, later drawn by lot with the habit as
// weight. Nobody asks when the talk is about to wind down.
func (t *turn) acts() []act {
	left := []act{react, ask, tell}
	if wind, _ := pace(t.m, t.s, t.h.Room()); t.s.Turns >= wind-1 {
		left = []act{react, tell}
	}
	slices.SortStableFunc(left, func(a, b act) int { return t.sc.Habit[b] - t.sc.Habit[a] })
	if t.s.Addressed {
		return append([]act{tell}, slices.DeleteFunc(left, func(a act) bool { return a == tell })...)
	}
	if !t.roll || t.m.depth <= youngThread {
		return left
	}
	var out []act
	for len(left) > 0 {
		sum := 0
		for _, a := range left {
			sum += t.sc.Habit[a] + 1
		}
		n, i := t.h.Intn(sum), 0
		for n >= t.sc.Habit[left[i]]+1 {
			n -= t.sc.Habit[left[i]] + 1
			i++
		}
		out = append(out, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return out
}

// openings brings up a topic this talk has not had, in an order drawn by lot.
func (t *turn) openings() []step {
	var steps []step
	for _, tp := range t.p.topics {
		if !slices.Contains(t.m.used, tp.ID) && len(t.sc.Lines[tp.ID][opening]) > 0 {
			steps = append(steps, step{act: opening, topic: tp.ID})
		}
	}
	if t.roll {
		lot := map[string]float64{} // what it likes is drawn more often
		for _, st := range steps {
			lot[st.topic] = float64(t.h.Intn(100))/100 + t.p.main.Likes[st.topic]/8
		}
		slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(lot[b.topic], lot[a.topic]) })
	}
	return steps
}

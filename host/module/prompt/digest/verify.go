package digest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history/parts"
	"github.com/companiond/companiond/host/model"
)

const (
	// atOnce is how much of an original is verified at once, in tokens: of more, models overlook
	// what is not there.
	atOnce = 4000
	// around is what the turns around the draft may come to, beside it.
	around = 400
	// remarks is room for what a verifier says beside the items.
	remarks = 500
	// perItem is what an item of a verdict takes beside its quotation.
	perItem = 30
)

// Verify has the model say what became of what has to be kept. A long original is verified in
// parts, and all of them have to be YES. A verdict is handed on as it is: whether a YES is borne
// out by its items is for whoever asked to see.
//
// # Errors
//
// CodeInvalid for a request that breaks the rules, and for an answer that is no whole verdict on
// just what was asked about; CodeTooLarge where the context has no room. Those of Model.Ask are
// handed on.
func (m Model) Verify(ctx context.Context, v abi.Verifying) (abi.Verified, error) {
	if err := v.Check(); err != nil {
		return abi.Verified{}, err
	}
	told := m.spliced(v)
	room := m.usable() - m.ofRules(verifyRules, verifySchema()) - m.line(policyLine{v.Policy}) - m.line(verifying(v, 1000, 1000)) - remarks
	for _, h := range told {
		room -= m.line(h)
	}
	item := func(k abi.KeepItem) int { return m.ofItem(k) + m.verdictOn(k) }
	past := room - leastRoom/2
	for _, k := range v.Keep { // the largest is to have room beside a turn
		past = min(past, room-item(k))
	}
	if past < leastRoom/2 {
		return abi.Verified{}, m.tooSmall("the draft, with the policy,")
	}
	all, err := parts.Of(v.Turns, v.Keep, parts.Most{
		Turns: abi.MaxPast, Keep: abi.MaxKeep, Past: min(atOnce, past), All: room, Turn: m.ofTurn, Item: item, Twice: true,
	})
	if err != nil {
		return abi.Verified{}, err
	}
	var verdicts []abi.Verified
	for i, p := range all {
		part, of := v.Part, v.Parts
		if len(all) > 1 {
			part, of = i+1, len(all)
		}
		ask := v
		ask.Turns, ask.Keep = p.Turns, p.Keep
		verdict, err := m.verify(ctx, ask, told, part, of)
		if err != nil {
			return abi.Verified{}, err
		}
		verdicts = append(verdicts, verdict)
	}
	return parts.Join(verdicts), nil
}

// Longest is how many tokens a draft may come to so that Verify has room for it beside the policy and a turn; 0 where there is none for any.
func (m Model) Longest(policy string) int {
	largest := abi.KeepItem{ID: "M200", Text: strings.Repeat("鍵", abi.MaxKeepText/len("鍵")), Turn: 1 << 20}
	room := m.usable() - m.ofRules(verifyRules, verifySchema()) - m.line(policyLine{policy}) - m.line(task{Task: "verify", Part: 1000, Parts: 1000}) - remarks - around
	return max(0, room-m.ofItem(largest)-m.verdictOn(largest)-leastRoom)
}

// verdictOn is how much an answer says of an item.
func (m Model) verdictOn(k abi.KeepItem) int { return m.ofItem(k) + perItem }

func verifying(v abi.Verifying, part, of int) task {
	return task{Task: "verify", Turns: span(v.Turns), Part: part, Parts: of}
}

// spliced gives what is told of the history: the draft, and some turns around it.
func (m Model) spliced(v abi.Verifying) (lines []any) {
	isDraft := func(t abi.PastTurn) bool {
		return t.Text == v.Draft && t.N <= v.Turns[0].N && v.Turns[0].N <= max(t.N, t.Upto)
	}
	of := func(t abi.PastTurn) historyLine {
		return historyLine{History: t.N, Upto: t.Upto, From: t.From, Draft: isDraft(t), Text: t.Text}
	}
	size := func(t abi.PastTurn) int { return m.line(of(t)) }
	if at := slices.IndexFunc(v.History, isDraft); at >= 0 {
		draft := v.History[at]
		for _, t := range parts.Around(v.History, draft.N, abi.MaxPast, size(draft)+around, size) {
			lines = append(lines, of(t))
		}
	}
	if lines == nil {
		lines = append(lines, draftLine{v.Draft})
	}
	return lines
}

// most is how often a verdict is asked for, where it comes in pieces: models that are told of many things leave some out.
const most = 4

// verify asks once, and again about what was left out.
func (m Model) verify(ctx context.Context, v abi.Verifying, told []any, part, of int) (abi.Verified, error) {
	var verdicts []abi.Verified
	for range most {
		var said abi.Verified
		var rest []abi.KeepItem
		req := m.verifyRequest(v, told, part, of)
		req.Sole = true // a YES that is corrected behind itself is none
		req.Check = func(raw json.RawMessage) (err error) { said, rest, err = readVerified(raw, v.Keep); return err }
		raw, err := m.ask(ctx, req)
		if err == nil {
			said, rest, err = readVerified(raw, v.Keep)
		}
		if err != nil {
			return abi.Verified{}, err
		}
		if verdicts = append(verdicts, said); len(rest) == 0 {
			return parts.Join(verdicts), nil
		}
		v.Keep = rest
	}
	return abi.Verified{}, leftOut(v.Keep)
}

func leftOut(rest []abi.KeepItem) error {
	return abi.Field("verified.items", abi.CodeInvalid, "%s is not among them", rest[0].ID)
}

func (m Model) verifyRequest(v abi.Verifying, told []any, part, of int) model.Request {
	var s sheet
	s.add(policyLine{v.Policy})
	for _, t := range v.Turns {
		s.add(lineOf(t))
	}
	for _, h := range told {
		s.add(h)
	}
	answer := remarks
	for _, k := range v.Keep {
		s.add(keepOf(k))
		answer += m.verdictOn(k)
	}
	s.add(verifying(v, part, of))
	return s.request(verifyRules, "verified", verifySchema(), answer)
}

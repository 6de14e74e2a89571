package past

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/history"
)

// Standing is how a proposal stands.
type Standing struct {
	Proposal     string         `json:"proposal"`
	Room         string         `json:"room"`
	Status       string         `json:"status"`
	Turns        history.Range  `json:"original_turns_range"`
	Policy       string         `json:"policy,omitempty"`
	Summary      string         `json:"summary"` // the newest draft; empty where there is none, or it was erased
	Verification *Verification  `json:"verification,omitempty"`
	Lost         []history.Loss `json:"lost"`
	Drafts       int            `json:"drafts"` // how many were made
	ApprovedBy   string         `json:"approved_by,omitempty"`
	Why          string         `json:"why,omitempty"` // of failed, denied and reverted
	Next         string         `json:"next_action"`
}

// Verification is what the verifier says of the newest draft.
type Verification struct {
	Verdict  history.Verdict   `json:"verdict"`
	Feedback string            `json:"feedback"`
	Named    Named             `json:"named"`
	Findings []history.Finding `json:"findings"`
	By       string            `json:"by"`
}

// Named is what became of what the policy names: a draft is held to that, and to no other finding.
type Named struct {
	Of   int               `json:"of"`   // how many things it names that code finds in the turns
	Kept int               `json:"kept"` // how many of them are there
	Not  []history.Finding `json:"not_kept"`
}

// namedIn counts it.
func namedIn(all []history.Finding) Named {
	n := Named{Not: []history.Finding{}}
	for _, f := range all {
		switch {
		case !f.Policy:
			continue
		case f.Status == history.Kept:
			n.Kept++
		default:
			n.Not = append(n.Not, f)
		}
		n.Of++
	}
	return n
}

// The values of Standing.Status.
const (
	Drafting        = "drafting"
	PendingApproval = "pending_approval" // verified; nothing is told so before a person approves it
	Rejected        = "rejected"         // its verifier says NO
	Failed          = "failed"
	Approved        = "approved" // a person did: the turns are told so
	Denied          = "denied"
	Reverted        = "reverted"
)

// status gives the status of a proposal.
func status(p history.Proposal) string {
	switch p.State {
	case history.Offered:
		return PendingApproval
	case history.Refused:
		return Rejected
	case history.BeingDrafted:
		if p.Awaits() && len(p.Drafts) > 0 {
			return Rejected
		}
		return Drafting
	}
	return string(p.State)
}

// stands gives how a proposal stands, with the words of its newest draft.
func (d *Desk) stands(ctx context.Context, f found) (Standing, error) {
	p, room := f.p, f.talk.Name()
	s := Standing{
		Proposal: p.ID, Room: room, Status: status(p), Turns: p.Ask.Turns, Policy: p.Ask.Policy, Lost: []history.Loss{}, Drafts: len(p.Drafts), ApprovedBy: p.ApprovedBy,
		Next: d.next(p, room),
	}
	if p.State == history.Failed || p.State == history.Denied || p.State == history.Reverted {
		s.Why = p.Why
	}
	if len(p.Drafts) == 0 {
		return s, nil
	}
	last := p.Drafts[len(p.Drafts)-1]
	draft, err := f.talk.Draft(ctx, last.Seq)
	if err != nil {
		return s, err
	}
	s.Summary, s.Lost = draft.Text, append(s.Lost, draft.Lost...)
	s.Verification = &Verification{cmp.Or(last.Verdict, history.No), draft.Feedback, namedIn(draft.Findings), append([]history.Finding{}, draft.Findings...), last.VerifiedBy}
	return s, nil
}

// next says what to do about a proposal.
func (d *Desk) next(p history.Proposal, room string) string {
	again := fmt.Sprintf("proposal = %s", p.ID)
	if room != d.Rooms.Usual() {
		again += ", room = " + room
	}
	switch p.State {
	case history.BeingDrafted:
		switch {
		case p.Handed != 0:
			return "It is still being verified: call create_verified_summary with " + again + " to wait on."
		case p.Awaits() && len(p.Drafts) == 0:
			return "It waits for a draft: call create_verified_summary with summary and " + again + "."
		case p.Awaits():
			return fmt.Sprintf("Mend the summary by the feedback, and call create_verified_summary with summary and %s: %d of %d drafts are used.", again, len(p.Drafts), history.Drafts)
		}
		return "It is still being drafted: call create_verified_summary with " + again + " to wait on."
	case history.Offered:
		return "A person has to approve it: call replace_session_turns with " + again + " and a token of a person; else " + d.where("approve", room, p.ID) + "."
	case history.Refused:
		return fmt.Sprintf("Nothing that its verifier refused can be approved. Change the policy or the target_length and call create_verified_summary for turns %s again, or do so with compresser = extract and verifier = extract, which take the turns' own sentences.", p.Ask.Turns)
	case history.Failed:
		return fmt.Sprintf("Nothing was changed. When what why says is mended, call create_verified_summary for turns %s again.", p.Ask.Turns)
	case history.Approved:
		return "Nothing: the turns are told so. revert_compression with " + again + " tells them as they were; that is for a person, too."
	}
	return fmt.Sprintf("Nothing: turns %s are told as they were. create_verified_summary begins anew.", p.Ask.Turns)
}

// is says why a proposal cannot be approved in this state.
func (d *Desk) is(p history.Proposal, room string) error {
	return abi.Field("proposal", abi.CodeConflict, "%s is %s. %s", p.ID, status(p), d.next(p, room))
}

// listed names proposals with their turns.
func listed(all []history.Proposal) string {
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("%s (turns %s)", p.ID, p.Ask.Turns))
	}
	return strings.Join(names, ", ")
}

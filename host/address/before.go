package address

import (
	"cmp"
	"slices"

	"github.com/companiond/companiond/abi"
)

// replyWithin is how many turns back somebody spoke whom a bare question may be meant for.
const replyWithin = 6

// BeforeWithin is how many of the newest messages [Before] needs: half of them may be
// backchannels.
const BeforeWithin = 2 * replyWithin

// Before gives the companion or agent that a human's bare question before the entry seq
// would be put to, "" for none: the one that spoke last, or that this human addressed
// alone since; where other humans spoke since, only one that had answered this human.
// recent are the newest messages, oldest first, kinds what those are who are no humans.
func Before(recent []abi.Message, human string, seq uint64, kinds map[string]abi.ParticipantKind) string {
	turns := slices.DeleteFunc(slices.Clone(recent), func(m abi.Message) bool {
		return m.Kind == abi.KindBackchannel || m.Seq >= seq
	})
	turns = turns[max(0, len(turns)-replyWithin):]
	last, others := "", false
	for _, m := range slices.Backward(turns) {
		switch {
		case kinds[m.From] != "": // no human has the name of one of those
			if !others {
				return m.From
			}
			last = cmp.Or(last, m.From)
		case m.From != human:
			if last != "" {
				return ""
			}
			others = true
		case last != "":
			return last
		case len(m.Addressed) > 0:
			if len(m.Addressed) > 1 {
				return ""
			}
			return m.Addressed[0]
		}
	}
	return ""
}

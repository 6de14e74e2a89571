package voice

import (
	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/action"
	"github.com/companiond/companiond/host/entry"
)

// longest is more than a part of a line takes, in seconds.
const longest = 600

// Sound writes down how a part of the line that is heard sounds, or why it does not. It is decided
// by nothing that is decided here: whoever plays it tells that.
//
// # Errors
//
// CodeNotFound for a line that is not heard now, and for a part that has not gone out. CodeStale for a part that has a
// sound, or is known to get none. CodeInvalid and CodeTooLarge for what is none.
func (v *Voice) Sound(who, by string, s abi.Sound) error {
	b := entry.Sound{Line: s.Line, Who: who, Part: s.Part, Blob: s.Blob.Hash, Mouth: s.Mouth.Hash, Seconds: s.Seconds, Failed: s.Failed, By: by}
	if b.Failed != "" {
		b.Blob, b.Mouth, b.Seconds = "", "", 0
	} else if !(b.Seconds > 0 && b.Seconds <= longest) {
		return abi.Field("seconds", abi.CodeInvalid, "%v is not more than 0 and at most %d", b.Seconds, longest)
	}
	if err := action.CheckReason(b.Failed); err != nil {
		return abi.Field("failed", abi.CodeOf(err), "%s", abi.AsError(err).Reason())
	}
	switch l := v.state().Playing; {
	case l == nil || l.ID != b.Line || l.Who != who || l.Ended():
		return abi.Field("line", abi.CodeNotFound, "%.64q is not heard now", b.Line)
	case b.Part < 1 || b.Part > len(l.Parts):
		return abi.Field("part", abi.CodeNotFound, "%d of %d that went out", b.Part, len(l.Parts))
	case l.Parts[b.Part-1].Sound:
		return abi.Field("part", abi.CodeStale, "%d has a sound already", b.Part)
	}
	v.loop.Input(entry.KindSound, b)
	return nil
}

package aituberkit

import (
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/host/door/socket/session"
	"github.com/companiond/companiond/host/emotion"
	"github.com/companiond/companiond/host/speech"
)

// line is one that is told to the client.
type line struct {
	id, request string
	emotion     emotion.Word
	asked       bool // its request is the client's, who waits for its end
	plain       bool // it began in the older frames, and goes on in them
	tells       bool // the client tells what it has spoken of it

	text  string     // of a sentence that may go on
	begun bool       // some of it was cut into sentences
	all   []sentence // that there are
	sent  int        // of them
	last  bool       // no piece follows
	open  bool       // its first frame went out

	closed bool      // and its last one
	told   bool      // the room was told that nothing more is heard of it
	until  time.Time // the client's word for that is of use, once it is over and closed
	over   bool      // it has ended in the room
	wary   time.Time // when somebody spoke who may cut it off; zero: nobody did since the last sentence went out
	still  bool      // it is over, and a sentence of it may sound

	spoken, failed int       // sentences, by the client's word
	bytes          int       // of those
	part           int       // the newest that the room was told of
	ends           time.Time // when what was sent has been spoken for sure, as far as that is known
	waits          time.Time // until when its word for that is waited for
}

// add takes a piece that is the part of this number; none is only to cut what is there.
func (l *line) add(piece string, part int) {
	if l.closed {
		return
	}
	sentences, rest := cut(l.text+piece, !l.begun, l.last)
	l.text = rest
	for i, s := range sentences {
		ends := part
		if i < len(sentences)-1 || strings.TrimSpace(rest) != "" {
			ends = part - 1
		}
		l.all, l.begun = append(l.all, sentence{s, max(0, ends), speech.Estimate(s)}), true
	}
	if n := len(l.all); n > 0 && strings.TrimSpace(rest) == "" && part > 0 {
		l.all[n-1].part = max(l.all[n-1].part, part)
	}
}

// drop takes back what has not gone out.
func (l *line) drop() { l.text, l.all, l.last = "", l.all[:l.sent], true }

// due is when the next frame goes out without a word of the client's, zero for never.
func (l *line) due() time.Time {
	switch at := l.waits; {
	case l.still:
		return session.Sooner(l.until, l.ends)
	case !l.until.IsZero():
		return l.until
	case l.closed || l.sent == len(l.all) || l.sent == 0:
		return time.Time{}
	case l.wary.IsZero():
		return at
	case l.tells && l.spoken < l.sent && at.Before(l.wary.Add(slow)): // so long the room waits for the end of the sentence
		return l.wary.Add(slow + hesitates)
	default:
		return at.Add(hesitates)
	}
}

// patience is for how long nothing goes out without the client's word, where it tells: longer than a room
// waits for that, so that one which was silenced by hand does not begin again by itself just before the room
// passes the floor on.
func (l *line) patience() (d time.Duration) {
	for _, s := range l.all[l.spoken:] {
		d += s.long
	}
	return max(slow, min(4*d+slow/2, time.Minute)) + time.Second
}

// mayGo says whether the next sentence goes out.
func (l *line) mayGo(now time.Time) bool {
	if l.sent == len(l.all) || l.closed {
		return false
	}
	return l.sent == 0 || l.over || !now.Before(l.due())
}

// pump gives the frames that may go out: a sentence as soon as the one before was spoken. The app
// throws away a sentence whose sound has not begun when the next one comes, so that none comes
// sooner. What is left of a line that is over goes out as one.
func (f *Front) pump(now time.Time) (frames [][]byte) {
	if f.past {
		f.bury()
		return nil
	}
	for _, l := range f.lines {
		for l.mayGo(now) {
			if !l.open {
				l.open = true
				frames = append(frames, f.begin(l, now))
			}
			if l.over {
				l.join()
			}
			s := l.all[l.sent]
			f.begun = true
			l.sent, l.wary = l.sent+1, time.Time{} // what was said over the one before did not end the line
			frames = append(frames, f.delta(l, s, now))
			l.ends = now.Add(s.long * 5 / 4) // a voice may be a quarter slower, as a room has it
			if l.waits = l.ends; l.tells {
				l.ends = now.Add(2*s.long + slow)
			}
			if l.tells && f.silent < silence {
				l.waits = now.Add(l.patience())
			}
		}
		if l.last && l.text == "" && l.sent == len(l.all) && !l.closed {
			if l.closed = true; l.open || l.asked {
				frames = append(frames, f.done(l.plain, l.request, payload{}, now))
			}
		}
	}
	f.lines = slices.DeleteFunc(f.lines, func(l *line) bool {
		l.still = l.tells && l.over && l.closed && l.spoken < l.sent && now.Before(l.ends)
		return l.closed && l.over && !l.lingers(now)
	})
	f.lines = f.lines[max(0, len(f.lines)-maxLines):]
	return frames
}

// lingers says whether the room may be told yet that nothing more is heard of a line that is over.
func (l *line) lingers(now time.Time) bool {
	if !l.tells || l.told {
		return false
	}
	if l.until.IsZero() {
		l.until = now.Add(slow)
	}
	return now.Before(l.until)
}

// join makes one of the sentences that have not gone out.
func (l *line) join() {
	rest := l.all[l.sent]
	for _, s := range l.all[l.sent+1:] {
		rest.text, rest.long, rest.part = rest.text+s.text, rest.long+s.long, s.part
	}
	l.all = append(l.all[:l.sent], rest)
}

// spoke takes its word that it has spoken one, or could not. It answers what the room is to be
// told, nil for nothing.
func (l *line) spoke(failed bool, now time.Time) session.In {
	if l.spoken == l.sent {
		return nil
	}
	l.spoken++
	if failed {
		l.failed++
	}
	if l.spoken == l.sent {
		l.ends, l.waits = now, now
	}
	if l.bytes += len(l.all[l.spoken-1].text); l.over {
		return nil // of which Own tells
	}
	if part := l.all[l.spoken-1].part; part > l.part {
		l.part = part
		return session.Played{Line: l.id, Part: part}
	}
	return session.Played{Line: l.id, Bytes: l.bytes}
}

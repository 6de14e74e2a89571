package studio

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"

	"github.com/companiond/companiond/plugins/voice/reading"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// nothing is how long a part sounds in which there is nothing to read: whoever waits for its sound goes on at once.
const nothing = 50 * time.Millisecond

// made is what came of a part: a sound, or why there is none.
type made struct {
	wav, mouth []byte
	seconds    float64
	spoken     bool // by the engine
	failed     string
}

// work makes the sounds of a handler's companions, as long as its Run lasts.
type work struct {
	studio *Studio
	host   *companion.Host
	plan   plan
	broken error // the settings are

	mu      sync.Mutex
	trouble string // what the log was told last
}

// run makes sounds until the daemon has it end.
func (s *Studio) run(h *companion.Host, r abi.Running) error {
	w := &work{studio: s, host: h}
	w.plan, w.broken = planOf(r.Settings)
	ctx, mine := h.Context(), takesOf(r)
	var all sync.WaitGroup
	all.Go(func() {
		if err := w.ready(ctx); err != nil && ctx.Err() == nil {
			w.say(abi.AsError(err).Message)
		}
	})
	for _, l := range s.untold(mine) { // what was ready when the one before ended
		s.tell(l, func(p *part, m made) error { return w.tell(l, p, m) })
	}
	for range w.plan.Parallel {
		all.Go(func() {
			for {
				l, p := s.next(ctx, mine)
				if p == nil {
					return
				}
				w.part(ctx, l, p)
			}
		})
	}
	all.Wait()
	return nil
}

// ready says why no sound can be made.
func (w *work) ready(ctx context.Context) error {
	if w.broken != nil {
		return w.broken
	}
	return w.plan.engine.Ready(ctx)
}

// say tells the log of a trouble, once, and when it is over.
func (w *work) say(trouble string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case trouble == w.trouble:
		return
	case trouble != "":
		w.host.Log(abi.LevelWarn, "no voice: "+trouble)
	default:
		w.host.Log(abi.LevelInfo, "there is a voice again: "+w.plan.engine.String())
	}
	w.trouble = trouble
}

// part makes a part, and tells all of its line that is ready.
func (w *work) part(running context.Context, l *line, p *part) {
	ctx, cancel := context.WithCancel(running)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	m, err := w.make(ctx, l, p)
	switch {
	case l.ctx.Err() != nil: // nobody wants it any more
		return
	case err != nil && running.Err() != nil:
		w.studio.back(p)
		return
	case err != nil:
		m = made{failed: abi.AsError(err).Message}
		w.say(m.failed)
	case m.spoken:
		w.say("")
	}
	w.studio.finish(p, m)
	w.studio.tell(l, func(p *part, m made) error { return w.tell(l, p, m) })
}

// make has the engine say a part.
func (w *work) make(ctx context.Context, l *line, p *part) (m made, err error) {
	text := reading.Aloud(p.text, p.inside, w.plan.words)
	if text == "" {
		clip := sound.Silence(nothing)
		return made{wav: clip.WAV(), mouth: mouthOf(clip.Mouth()), seconds: clip.Seconds()}, nil
	}
	if w.broken != nil {
		return m, w.broken
	}
	v, err := w.plan.voice(l.companion, l.voice, p.emotion)
	if err != nil {
		return m, err
	}
	speech, err := w.plan.engine.Speak(ctx, text, v)
	if err != nil {
		return m, err
	}
	if v.Volume != nil {
		speech.Clip = speech.Clip.Louder(*v.Volume)
	}
	if len(speech.Clip.Samples) == 0 {
		speech.Clip = sound.Silence(nothing)
	}
	if speech.Mouth == nil {
		speech.Mouth = speech.Clip.Mouth()
	}
	m = made{mouth: mouthOf(speech.Mouth), seconds: speech.Clip.Seconds(), spoken: true}
	m.wav, err = speech.Clip.Fit(abi.MaxBlob)
	return m, err
}

func mouthOf(all []abi.Viseme) []byte {
	b, _ := json.Marshal(all) // numbers and strings can always be marshalled
	return b
}

// tell tells the room of a part. An error says that it has to be told later: the Run has to end.
func (w *work) tell(l *line, p *part, m made) error {
	s := abi.Sound{Companion: l.companion, Line: l.line, Part: p.number, Seconds: m.seconds, Failed: m.failed}
	if err := w.blobs(&s, m); err != nil {
		if w.host.Context().Err() != nil {
			return err
		}
		s = abi.Sound{Companion: l.companion, Line: l.line, Part: p.number, Failed: "its sound cannot be kept: " + abi.AsError(err).Message}
		w.say(s.Failed)
	}
	err := w.host.Sound(s)
	switch code := abi.CodeOf(err); {
	case err != nil && w.host.Context().Err() != nil:
		return err
	case code == abi.CodeNotFound || code == abi.CodeStale || code == abi.CodeConflict: // the line is over, and that is on its way here
		w.host.Debugf("the sound of part %d of %s comes too late: %s", p.number, l.line, abi.AsError(err).Message)
	case err != nil:
		w.say(abi.AsError(err).Message)
	}
	return nil
}

// blobs puts what belongs to a sound.
func (w *work) blobs(s *abi.Sound, m made) (err error) {
	if m.failed != "" {
		return nil
	}
	if s.Blob, err = w.host.PutBlob(abi.Blob{Type: "audio/wav", Bytes: m.wav}); err != nil {
		return err
	}
	s.Mouth, err = w.host.PutBlob(abi.Blob{Type: "application/json", Bytes: m.mouth})
	return err
}

package avatar

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/face"
	"github.com/companiond/companiond/plugins/vts/studio"
)

// put takes a pose of the face.
func (n *session) put(_ time.Time, p face.Pose) (moves bool) {
	n.mu.Lock()
	if p.Worn != n.pose.Worn {
		n.pose = p // the newest counts
		poke(n.emotion)
	}
	n.mu.Unlock()
	// The mouth is VTube Studio's own again, a second after the last value.
	if p.Talks || n.speaks {
		n.speaks = p.Talks
		n.inject(p.Open)
	}
	return false
}

// inject opens the mouth, 0..1. It does not wait for the answer.
func (n *session) inject(open float64) {
	mouth := n.about().mouth
	if mouth.Name == "" {
		return
	}
	if mouth.Max > 0 {
		open *= mouth.Max
	}
	value := studio.Injection{Mode: "set", Values: []studio.Value{{ID: mouth.Name, Value: open}}}
	// The callback may not wait, and the log does.
	_ = n.c.Tell(studio.InjectRequest, value, func(err error) { // one that is not sent: the connection has ended
		n.out(err)
		switch studio.ID(err) {
		case studio.ErrNoParameter: // somebody deleted it
			poke(n.read)
		case -1, studio.ErrNotAuthenticated, studio.ErrDenied:
		default:
			select {
			case n.wrong <- fmt.Sprintf("the mouth cannot be moved by %s: %v", mouth.Name, err):
			default: // there is enough to tell
			}
		}
	})
}

// emote shows emotions.
func (n *session) emote(ctx context.Context) {
	var shown shows
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.emotion:
		}
		n.mu.Lock()
		p, m, fresh := n.pose, n.model, n.fresh
		n.fresh = false
		n.mu.Unlock()
		if fresh {
			shown = shows{} // the model that had it is gone
		}
		name := n.l.s.Emotions[p.Emotion]
		now, ok := m.means(name)
		if !ok {
			n.once(abi.LevelWarn, fmt.Sprintf("settings.emotions.%s: %s", p.Emotion, m.lacks("hotkey or expression", name)))
		}
		if shown.file != "" && shown.file != now.file {
			n.express(ctx, shown.file, false)
		}
		switch {
		case now.file != "":
			n.express(ctx, now.file, true)
		case now.hotkey != "":
			if err := n.trigger(ctx, now.hotkey); err != nil && ctx.Err() == nil {
				n.once(abi.LevelWarn, fmt.Sprintf("%s is not shown: %v", p.Emotion, err))
			}
		}
		shown = now
	}
}

func (n *session) express(ctx context.Context, file string, active bool) {
	err := n.ask(ctx, studio.ExpressionRequest, studio.Activation{File: file, Active: active}, nil)
	if err != nil && ctx.Err() == nil {
		n.once(abi.LevelWarn, fmt.Sprintf("the expression %.64q: %v", file, err))
	}
}

// touchEvery is how often companions perceive clicks; those between are counted.
const touchEvery = 2 * time.Second

// touched has companions perceive clicks.
func (n *session) touched(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.clicked:
		}
		n.mu.Lock()
		clicks, click := n.clicks, n.click
		n.clicks = 0
		n.mu.Unlock()
		body := map[string]any{"clicks": clicks, "button": button(click.Button)}
		for _, hit := range click.Hits {
			if hit.Order == 0 && hit.Info.Mesh != "" {
				body["part"] = fmt.Sprintf("%.64s", hit.Info.Mesh)
			}
		}
		b, err := json.Marshal(body)
		for _, who := range n.l.companions {
			if err == nil {
				_, err = n.l.h.Emit(abi.PerceptionAsk{Companion: who, Title: n.l.s.Touch, Body: b})
			}
			if err != nil && ctx.Err() == nil {
				n.once(abi.LevelWarn, fmt.Sprintf("%s does not perceive a click: %v", who, err))
				err = nil
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(touchEvery):
		}
	}
}

func button(id int) string {
	switch id {
	case 0:
		return "left"
	case 1:
		return "right"
	}
	return "middle"
}

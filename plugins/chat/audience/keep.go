package audience

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/onecomme"
	"github.com/companiond/companiond/plugins/chat/twitch"
	"github.com/companiond/companiond/plugins/chat/youtube"
)

// How long it is until a source that was lost is tried again: from the first to the longest, twice as long each time. One that
// held for longer begins anew.
const (
	firstTry   = 500 * time.Millisecond
	longestTry = 30 * time.Second
)

// source is one chat that is read.
type source struct {
	name string
	run  func(ctx context.Context, up func(), tell func(line.Event)) error
}

// sources are those that the settings name.
func sources(s settings) (all []source) {
	if len(s.Twitch) > 0 {
		chat := twitch.Chat{Address: s.TwitchAddress, Plain: !s.TwitchTLS, Channels: s.Twitch}
		all = append(all, source{"Twitch's chat", chat.Run})
	}
	for _, video := range s.YouTube {
		chat := &youtube.Chat{Base: s.YouTubeAddress, Key: s.YouTubeKey, Video: video, AtLeast: seconds(s.YouTubeEvery)}
		all = append(all, source{"the chat of YouTube's video " + video, chat.Run})
	}
	if s.OneComme != "" {
		all = append(all, source{"OneComme", func(ctx context.Context, up func(), tell func(line.Event)) error {
			return onecomme.Run(ctx, s.OneComme, up, tell)
		}})
	}
	return all
}

// keep reads a source until ctx ends or it is over, and tries again when it is lost. The log is told when it is read, and once
// when it is not.
func keep(ctx context.Context, s source, log func(abi.Level, string), tell func(line.Event)) {
	wait, lost := firstTry, false
	for {
		var since time.Time
		err := s.run(ctx, func() {
			if since.IsZero() {
				log(abi.LevelInfo, s.name+" is read")
				since, lost = time.Now(), false
			}
		}, tell)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, line.ErrOver):
			log(abi.LevelInfo, fmt.Sprintf("%s is read no more: %v", s.name, err))
			return
		case !lost:
			log(abi.LevelWarn, fmt.Sprintf("%s cannot be read: %v; it is tried again", s.name, err))
			lost = true
		}
		if !since.IsZero() && time.Since(since) > longestTry {
			wait = firstTry
		}
		pause := wait
		if later := (*line.Later)(nil); errors.As(err, &later) {
			pause = max(pause, later.After)
		}
		if wait = min(2*wait, longestTry); !sleep(ctx, pause) {
			return
		}
	}
}

// sleep says whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

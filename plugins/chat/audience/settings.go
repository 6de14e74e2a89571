package audience

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/pick"
)

// schema holds the settings, each with its word for whoever writes them.
const schema = `{
"type":"object","additionalProperties":false,"properties":{
"twitch":{"type":"array","maxItems":20,"items":{"type":"string","pattern":"^#?[A-Za-z0-9_]{1,25}$"},"description":"channels of Twitch whose chat is read; no account is needed"},
"twitch_address":{"type":"string","description":"host:port of another IRC server in place of irc.chat.twitch.tv:6697"},
"twitch_tls":{"type":"boolean","description":"false: the IRC server has no TLS; true where that is not set"},
"youtube":{"type":"array","maxItems":4,"items":{"type":"string","pattern":"^[A-Za-z0-9_-]{3,20}$"},"description":"ids of live videos of YouTube, as they stand behind v= in the address"},
"youtube_key":{"type":"string","description":"a key for the YouTube Data API v3, a secret"},
"youtube_every":{"type":"number","minimum":0,"maximum":300,"description":"at least so many seconds between two requests; 10 where that is not set. One costs 5 of a key's 10000 units a day"},
"youtube_address":{"type":"string","description":"in place of https://www.googleapis.com/youtube/v3"},
"onecomme":{"type":"string","description":"address of OneComme, such as 127.0.0.1:11180"},
"perception":{"type":"string","minLength":1,"description":"title of the perception in the card that comments are; chat where that is not set"},
"gift":{"type":"string","minLength":1,"description":"title of the one that gifts are; gift where that is not set"},
"to":{"type":"array","minItems":1,"items":{"type":"string","format":"companion"},"description":"companions that perceive the chat, in turn; all of the handler's where that is not set"},
"names":{"type":"object","propertyNames":{"format":"companion"},"additionalProperties":{"type":"array","items":{"type":"string","minLength":1}},"description":"by companion, what viewers call it besides its id: a comment with one of these is for that companion"},
"every":{"type":"number","minimum":0.5,"maximum":3600,"description":"at least so many seconds between two perceptions; 8 where that is not set"},
"stale":{"type":"number","minimum":1,"maximum":3600,"description":"a comment that has waited so many seconds falls out; 60 where that is not set"},
"waiting":{"type":"integer","minimum":1,"maximum":2000,"description":"how many comments wait at most; 200 where that is not set"},
"slow":{"type":"number","minimum":0,"maximum":3600,"description":"at least so many seconds between two comments of one viewer; 0, no bound, where that is not set"},
"muted":{"type":"array","maxItems":500,"items":{"type":"string","minLength":1},"description":"viewers whom nobody hears, by id, login or name"},
"moderate":{"type":"boolean","description":"true: companions may play the actions chat.mute and chat.slow, too, and a viewer might talk one into it; false where that is not set; people may always"}
}}`

// settings are those of a handler.
type settings struct {
	Twitch         []string            `json:"twitch"`
	TwitchAddress  string              `json:"twitch_address"`
	TwitchTLS      bool                `json:"twitch_tls"`
	YouTube        []string            `json:"youtube"`
	YouTubeKey     string              `json:"youtube_key"`
	YouTubeEvery   float64             `json:"youtube_every"`
	YouTubeAddress string              `json:"youtube_address"`
	OneComme       string              `json:"onecomme"`
	Perception     string              `json:"perception"`
	Gift           string              `json:"gift"`
	To             []string            `json:"to"`
	Names          map[string][]string `json:"names"`
	Every          float64             `json:"every"`
	Stale          float64             `json:"stale"`
	Waiting        int                 `json:"waiting"`
	Slow           float64             `json:"slow"`
	Muted          []string            `json:"muted"`
	Moderate       bool                `json:"moderate"`
}

// read gives the settings, which the daemon has held to the schema, with what stands for those that are not set.
func read(raw json.RawMessage) (settings, error) {
	s := settings{TwitchTLS: true, YouTubeEvery: 10, Perception: "chat", Gift: "gift", Every: 8, Stale: 60, Waiting: 200}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &s); err != nil {
			return s, abi.Field("settings", abi.CodeInvalid, "they cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	switch u, err := url.Parse(s.YouTubeAddress); {
	case len(s.YouTube) > 0 && s.YouTubeKey == "":
		return s, abi.Field("settings.youtube_key", abi.CodeInvalid, `is not set, and the live chat of YouTube needs one; write secrets = { youtube_key = "credential:NAME" }`)
	case s.YouTubeAddress != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https"):
		return s, abi.Field("settings.youtube_address", abi.CodeInvalid, "is no address; leave it out for YouTube's own")
	}
	return s, nil
}

func (s settings) rule(slow time.Duration) pick.Rule {
	if slow == 0 {
		slow = seconds(s.Slow)
	}
	return pick.Rule{Every: seconds(s.Every), Stale: seconds(s.Stale), Slow: slow, Waiting: s.Waiting}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

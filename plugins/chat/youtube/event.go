package youtube

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/plugins/chat/line"
)

const platform = "youtube"

// item is one thing of a chat's page, as far as it is of use here.
type item struct {
	ID      string `json:"id"`
	Snippet struct {
		Type    string `json:"type"`
		At      string `json:"publishedAt"`
		Display string `json:"displayMessage"`
		Text    struct {
			Text string `json:"messageText"`
		} `json:"textMessageDetails"`
		Super struct {
			money
			Comment string `json:"userComment"`
		} `json:"superChatDetails"`
		Sticker struct {
			money
			Metadata struct {
				Alt string `json:"altText"`
			} `json:"superStickerMetadata"`
		} `json:"superStickerDetails"`
		Sponsor struct {
			Level string `json:"memberLevelName"`
		} `json:"newSponsorDetails"`
		Milestone struct {
			Comment string `json:"userComment"`
			Months  number `json:"memberMonth"`
			Level   string `json:"memberLevelName"`
		} `json:"memberMilestoneChatDetails"`
		Gifting struct {
			Count number `json:"giftMembershipsCount"`
			Level string `json:"giftMembershipsLevelName"`
		} `json:"membershipGiftingDetails"`
		Deleted struct {
			ID string `json:"deletedMessageId"`
		} `json:"messageDeletedDetails"`
		Banned struct {
			User struct {
				Channel string `json:"channelId"`
			} `json:"bannedUserDetails"`
		} `json:"userBannedDetails"`
	} `json:"snippet"`
	Author struct {
		Channel string `json:"channelId"`
		Name    string `json:"displayName"`
		Owner   bool   `json:"isChatOwner"`
		Mod     bool   `json:"isChatModerator"`
		Sponsor bool   `json:"isChatSponsor"`
	} `json:"authorDetails"`
}

type money struct {
	Micros  number `json:"amountMicros"`
	Display string `json:"amountDisplayString"`
}

// number is one that stands in quotes or without them, as both are seen; whatever else is there counts as 0.
type number float64

// UnmarshalJSON reads it.
func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		f = 0
	}
	*n = number(f)
	return nil
}

// event gives what an item of a page says, nothing where that is of no use here; over says that the chat has ended.
func event(raw json.RawMessage, video string) (e line.Event, over bool) {
	var it item
	if json.Unmarshal(raw, &it) != nil { // one odd item costs no page
		return e, false
	}
	switch s := it.Snippet; s.Type {
	case "chatEndedEvent":
		return e, true
	case "messageDeletedEvent":
		if s.Deleted.ID != "" {
			e.Gone = &line.Gone{Platform: platform, Place: video, ID: s.Deleted.ID}
		}
		return e, false
	case "userBannedEvent":
		if s.Banned.User.Channel != "" {
			e.Gone = &line.Gone{Platform: platform, Place: video, Viewer: s.Banned.User.Channel}
		}
		return e, false
	}
	if l := said(it, video).Ready(); l.Says() {
		e.Line = &l
	}
	return e, false
}

// said makes a line of an item: of its words, and of what was given.
func said(it item, video string) line.Line {
	s, a := it.Snippet, it.Author
	l := line.Line{Platform: platform, Place: video, ID: it.ID, Viewer: a.Channel, Name: a.Name, Member: a.Sponsor, Mod: a.Mod || a.Owner}
	l.At, _ = time.Parse(time.RFC3339, s.At) // zero where there is none
	switch s.Type {
	case "textMessageEvent":
		if l.Text = s.Text.Text; l.Text == "" {
			l.Text = s.Display
		}
	case "superChatEvent":
		l.Text, l.Gift = s.Super.Comment, s.Super.gift("superchat")
	case "superStickerEvent":
		l.Text, l.Gift = s.Sticker.Metadata.Alt, s.Sticker.gift("sticker")
	case "newSponsorEvent":
		l.Gift = &line.Gift{Kind: "member", Amount: 1, Display: strings.TrimSpace("new member " + s.Sponsor.Level)}
	case "memberMilestoneChatEvent":
		l.Text = s.Milestone.Comment
		l.Gift = &line.Gift{Kind: "member", Amount: float64(s.Milestone.Months), Display: "member, month " + strconv.FormatFloat(float64(s.Milestone.Months), 'f', -1, 64)}
	case "membershipGiftingEvent":
		n := max(1, float64(s.Gifting.Count))
		l.Gift = &line.Gift{Kind: "gifts", Amount: n, Display: strconv.FormatFloat(n, 'f', -1, 64) + " gift memberships"}
	}
	return l
}

func (m money) gift(kind string) *line.Gift {
	return &line.Gift{Kind: kind, Amount: float64(m.Micros) / 1e6, Display: m.Display}
}

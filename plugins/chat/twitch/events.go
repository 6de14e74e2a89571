package twitch

import (
	"slices"
	"strconv"
	"strings"

	irc "github.com/gempir/go-twitch-irc/v4"

	"github.com/companiond/companiond/plugins/chat/line"
)

const platform = "twitch"

// Events gives what a line of Twitch's IRC says: a comment, a gift, or that some are gone. A line that says nothing of that kind
// is none, and neither is one that is not as Twitch writes them.
func Events(raw string) (all []line.Event) {
	if _, rest := split(raw); !strings.HasPrefix(rest, "#") {
		return nil // not said in a channel
	}
	defer func() {
		if recover() != nil { // the library takes lines to be complete, and their tags to be what they claim
			all = nil
		}
	}()
	switch m := irc.ParseMessage(withoutEmotes(raw)).(type) {
	case *irc.PrivateMessage:
		return heard(comment(m))
	case *irc.UserNoticeMessage:
		return heard(notice(m))
	case *irc.ClearMessage:
		if m.TargetMsgID == "" {
			return nil
		}
		return []line.Event{{Gone: &line.Gone{Platform: platform, Place: Channel(m.Channel), ID: m.TargetMsgID}}}
	case *irc.ClearChatMessage:
		g := line.Gone{Platform: platform, Place: Channel(m.Channel), Viewer: m.TargetUserID}
		if g.Viewer == "" {
			g.Viewer = m.TargetUsername // empty: all of the channel
		}
		return []line.Event{{Gone: &g}}
	}
	return nil
}

// withoutEmotes leaves the places of emotes out of a line's tags. Their names are in the text; a place that is not makes the
// library panic, which would cost the line.
func withoutEmotes(raw string) string {
	tags, rest, _ := strings.Cut(raw, " ")
	if !strings.HasPrefix(tags, "@") {
		return raw
	}
	kept := strings.Split(tags[1:], ";")
	kept = slices.DeleteFunc(kept, func(tag string) bool { return strings.HasPrefix(tag, "emotes=") })
	return "@" + strings.Join(kept, ";") + " " + rest
}

func heard(l line.Line) []line.Event {
	if l = l.Ready(); !l.Says() {
		return nil
	}
	return []line.Event{{Line: &l}}
}

func comment(m *irc.PrivateMessage) line.Line {
	if m.User.Name == "" {
		return line.Line{} // a server's own words
	}
	l := from(m.User, m.Channel, m.ID, m.Message)
	l.At = m.Time
	if m.Bits > 0 {
		l.Gift = &line.Gift{Kind: "bits", Amount: float64(m.Bits), Display: plural(float64(m.Bits), "bit")}
	}
	return l
}

func from(u irc.User, channel, id, text string) line.Line {
	l := line.Line{
		Platform: platform, Place: Channel(channel), ID: id,
		Viewer: u.ID, Handle: strings.ToLower(strings.TrimPrefix(u.Name, "~")), Name: u.DisplayName, Text: text,
		Member: has(u, "subscriber") || has(u, "founder"), Mod: u.IsMod || has(u, "moderator") || has(u, "broadcaster"),
	}
	if l.Viewer == "" {
		l.Viewer = l.Handle
	}
	return l
}

func has(u irc.User, badge string) bool {
	_, ok := u.Badges[badge]
	return ok
}

// notice is what USERNOTICE says of gifts. One of many subscriptions that a viewer gives at once is none of its own.
func notice(m *irc.UserNoticeMessage) line.Line {
	l := from(m.User, m.Channel, m.ID, m.Message)
	l.At = m.Time
	number := func(param string) float64 {
		n, err := strconv.ParseUint(m.MsgParams["msg-param-"+param], 10, 31)
		if err != nil {
			return 0
		}
		return float64(n)
	}
	switch m.MsgID {
	case "announcement":
		return l
	case "sub", "resub", "primepaidupgrade", "giftpaidupgrade", "anongiftpaidupgrade":
		months := max(1, number("cumulative-months"))
		l.Gift = &line.Gift{Kind: "member", Amount: months, Display: "subscribed, " + plural(months, "month")}
	case "submysterygift", "anonsubmysterygift":
		n := max(1, number("mass-gift-count"))
		l.Gift = &line.Gift{Kind: "gifts", Amount: n, Display: plural(n, "gift subscription")}
	case "subgift", "anonsubgift":
		if m.MsgParams["msg-param-community-gift-id"] != "" {
			return line.Line{}
		}
		l.Gift = &line.Gift{Kind: "gifts", Amount: 1, Display: "a gift subscription for " + line.Name(m.MsgParams["msg-param-recipient-display-name"])}
	case "raid":
		n := number("viewerCount")
		l.Gift = &line.Gift{Kind: "raid", Amount: n, Display: "a raid with " + plural(n, "viewer")}
	default:
		return line.Line{}
	}
	return l
}

func plural(n float64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " " + what
}

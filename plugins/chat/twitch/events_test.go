package twitch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/twitch"
)

// tagged makes a line as Twitch sends it, in the form of its documentation.
func tagged(tags, prefix, rest string) string { return "@" + tags + " :" + prefix + " " + rest }

const ann = "badge-info=subscriber/8;badges=subscriber/6,premium/1;client-nonce=a1;color=#1E90FF;display-name=アン;emotes=25:0-4;first-msg=0;flags=;id=b34ccfc7-4977-403a-8a94-33c6bac34fb8;mod=0;returning-chatter=0;room-id=1337;subscriber=1;tmi-sent-ts=1764240000000;turbo=0;user-id=777;user-type="

const annFrom = "ann!ann@ann.tmi.twitch.tv"

func one(t *testing.T, raw string) line.Event {
	t.Helper()
	all := twitch.Events(raw)
	if len(all) != 1 {
		t.Fatalf("%q says %+v", raw, all)
	}
	return all[0]
}

func TestComment(t *testing.T) {
	got := one(t, tagged(ann, annFrom, "PRIVMSG #VTuber :Kappa hi there?\u202e")).Line
	want := line.Line{
		Platform: "twitch", Place: "vtuber", ID: "b34ccfc7-4977-403a-8a94-33c6bac34fb8", Viewer: "777", Handle: "ann", Name: "アン",
		Text: "Kappa hi there?", Member: true, At: time.UnixMilli(1764240000000),
	}
	if *got != want {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if got := one(t, tagged(ann, annFrom, "PRIVMSG #vtuber :\x01ACTION waves\x01")).Line; got.Text != "waves" {
		t.Errorf("an action: %q", got.Text)
	}
	mod := strings.NewReplacer("mod=0", "mod=1", "badges=subscriber/6", "badges=moderator/1").Replace(ann)
	if got := one(t, tagged(mod, annFrom, "PRIVMSG #vtuber :hush")).Line; !got.Mod {
		t.Error("a moderator is none")
	}
	if got := one(t, tagged(ann+";bits=100", annFrom, "PRIVMSG #vtuber :Cheer100 nice")).Line; got.Gift == nil || *got.Gift != (line.Gift{Kind: "bits", Amount: 100, Display: "100 bits"}) || got.Text != "Cheer100 nice" {
		t.Errorf("bits: %+v", got)
	}
	if got := one(t, ":ann!~ann@127.0.0.1 PRIVMSG #vtuber :no tags").Line; got.Viewer != "ann" || got.Name != "ann" || got.Text != "no tags" {
		t.Errorf("without tags: %+v", got)
	}
}

func TestNotices(t *testing.T) {
	for _, c := range []struct {
		name, tags, text string
		want             line.Gift
	}{
		{"sub", "msg-id=sub;msg-param-cumulative-months=1;msg-param-sub-plan=Prime", "", line.Gift{Kind: "member", Amount: 1, Display: "subscribed, 1 month"}},
		{"resub", "msg-id=resub;msg-param-cumulative-months=14", "love it", line.Gift{Kind: "member", Amount: 14, Display: "subscribed, 14 months"}},
		{"one for somebody", `msg-id=subgift;msg-param-recipient-display-name=Bob`, "", line.Gift{Kind: "gifts", Amount: 1, Display: "a gift subscription for Bob"}},
		{"many", "msg-id=submysterygift;msg-param-mass-gift-count=20", "", line.Gift{Kind: "gifts", Amount: 20, Display: "20 gift subscriptions"}},
		{"raid", "msg-id=raid;msg-param-viewerCount=1500000", "", line.Gift{Kind: "raid", Amount: 1.5e6, Display: "a raid with 1500000 viewers"}},
		{"nonsense", "msg-id=raid;msg-param-viewerCount=NaN", "", line.Gift{Kind: "raid", Display: "a raid with 0 viewers"}},
	} {
		rest := "USERNOTICE #vtuber"
		if c.text != "" {
			rest += " :" + c.text
		}
		got := one(t, tagged(ann+";"+c.tags, "tmi.twitch.tv", rest)).Line
		if got == nil || got.Gift == nil || *got.Gift != c.want || got.Text != c.text || got.Name != "アン" || got.Viewer != "777" {
			t.Errorf("%s: %+v %+v", c.name, got, got.Gift)
		}
	}
	if got := one(t, tagged(ann+";msg-id=announcement", "tmi.twitch.tv", "USERNOTICE #vtuber :a raffle")).Line; got.Gift != nil || got.Text != "a raffle" {
		t.Errorf("an announcement: %+v", got)
	}
	for name, tags := range map[string]string{
		"one of many": "msg-id=subgift;msg-param-community-gift-id=12;msg-param-recipient-display-name=Bob",
		"a ritual":    "msg-id=viewermilestone",
	} {
		if all := twitch.Events(tagged(ann+";"+tags, "tmi.twitch.tv", "USERNOTICE #vtuber")); len(all) > 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestDeletions(t *testing.T) {
	for raw, want := range map[string]line.Gone{
		tagged("login=ann;room-id=;target-msg-id=b34ccfc7;tmi-sent-ts=1764240000000", "tmi.twitch.tv", "CLEARMSG #vtuber :Kappa"):       {Platform: "twitch", Place: "vtuber", ID: "b34ccfc7"},
		tagged("ban-duration=350;room-id=1337;target-user-id=777;tmi-sent-ts=1764240000000", "tmi.twitch.tv", "CLEARCHAT #vtuber :ann"): {Platform: "twitch", Place: "vtuber", Viewer: "777"},
		":tmi.twitch.tv CLEARCHAT #vtuber :ann":                                                {Platform: "twitch", Place: "vtuber", Viewer: "ann"},
		tagged("room-id=1337;tmi-sent-ts=1764240000000", "tmi.twitch.tv", "CLEARCHAT #vtuber"): {Platform: "twitch", Place: "vtuber"},
	} {
		if got := one(t, raw).Gone; got == nil || *got != want {
			t.Errorf("%q: %+v, want %+v", raw, got, want)
		}
	}
}

// malformed are lines that no Twitch sends; some have the library panic.
var malformed = []string{
	"", "@", ":", "@ :", "PRIVMSG", "PRIVMSG #", ":a!a@a PRIVMSG", "@badges=subscriber :a!a@a PRIVMSG #c :x", "@emotes=1:5-3 :a!a@a PRIVMSG #c :abc", "@emotes=1:0-4 :a!a@a PRIVMSG #c :",
	"@msg-id=raid :x USERNOTICE", "CLEARMSG", "CLEARMSG #c", "CLEARCHAT", "@bits=x :a!a@a PRIVMSG #c :x", ":a!a@a PRIVMSG #c :\x01ACTION\x01", ":tmi.twitch.tv PRIVMSG #c :x", ":a!a@a PRIVMSG justinfan1 :psst", "\xff\xfe",
}

func TestMalformed(t *testing.T) {
	for _, raw := range malformed {
		for _, e := range twitch.Events(raw) {
			if e.Line == nil || !e.Line.Says() || e.Line.Viewer == "" {
				t.Errorf("%q says %+v", raw, e)
			}
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, raw := range malformed {
		f.Add(raw)
	}
	f.Add(tagged(ann+";bits=100", annFrom, "PRIVMSG #vtuber :Kappa"))
	f.Add(tagged(ann+";msg-id=submysterygift;msg-param-mass-gift-count=20", "tmi.twitch.tv", "USERNOTICE #vtuber"))
	f.Add(tagged("login=ann;target-msg-id=b3", "tmi.twitch.tv", "CLEARMSG #vtuber :Kappa"))
	f.Fuzz(func(t *testing.T, raw string) {
		for _, e := range twitch.Events(raw) {
			if (e.Line == nil) == (e.Gone == nil) {
				t.Fatalf("%q says %+v", raw, e)
			}
			if l := e.Line; l != nil && (l.Name == "" || !l.Says() || utf8.RuneCountInString(l.Text) > line.MaxText || line.Plain(l.Text) != l.Text) {
				t.Fatalf("%q says %s", raw, fmt.Sprintf("%+v", l))
			}
		}
	})
}

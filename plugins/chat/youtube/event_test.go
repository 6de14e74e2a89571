package youtube

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/companiond/companiond/plugins/chat/line"
)

func withSnippet(kind, details string) json.RawMessage {
	return json.RawMessage(`{"id":"m1","snippet":{"type":"` + kind + `","publishedAt":"2026-11-27T10:00:01Z",` + details + `},"authorDetails":{"channelId":"UC1","displayName":"Ann","isChatOwner":true}}`)
}

func TestGifts(t *testing.T) {
	for _, c := range []struct {
		name, kind, details, text string
		want                      line.Gift
	}{
		{"super chat", "superChatEvent", `"displayMessage":"¥1,000 from Ann","superChatDetails":{"amountMicros":"1000000000","currency":"JPY","amountDisplayString":"¥1,000","userComment":"がんばれ","tier":3}`, "がんばれ", line.Gift{Kind: "superchat", Amount: 1000, Display: "¥1,000"}},
		{"in numbers", "superChatEvent", `"superChatDetails":{"amountMicros":2500000,"amountDisplayString":"$2.50"}`, "", line.Gift{Kind: "superchat", Amount: 2.5, Display: "$2.50"}},
		{"nonsense", "superChatEvent", `"superChatDetails":{"amountMicros":"-NaN","amountDisplayString":"?"}`, "", line.Gift{Kind: "superchat", Display: "?"}},
		{"sticker", "superStickerEvent", `"superStickerDetails":{"superStickerMetadata":{"stickerId":"s","altText":"a cat waves","language":"en"},"amountMicros":"5000000","currency":"USD","amountDisplayString":"$5.00","tier":1}`, "a cat waves", line.Gift{Kind: "sticker", Amount: 5, Display: "$5.00"}},
		{"member", "newSponsorEvent", `"newSponsorDetails":{"memberLevelName":"Gold","isUpgrade":false}`, "", line.Gift{Kind: "member", Amount: 1, Display: "new member Gold"}},
		{"milestone", "memberMilestoneChatEvent", `"memberMilestoneChatDetails":{"userComment":"a year!","memberMonth":12,"memberLevelName":"Gold"}`, "a year!", line.Gift{Kind: "member", Amount: 12, Display: "member, month 12"}},
		{"memberships", "membershipGiftingEvent", `"membershipGiftingDetails":{"giftMembershipsCount":5,"giftMembershipsLevelName":"Gold"}`, "", line.Gift{Kind: "gifts", Amount: 5, Display: "5 gift memberships"}},
	} {
		e, over := event(withSnippet(c.kind, c.details), "vid")
		if over || e.Line == nil || e.Line.Gift == nil || *e.Line.Gift != c.want || e.Line.Text != c.text || e.Line.Name != "Ann" || !e.Line.Mod || e.Line.ID != "m1" {
			t.Errorf("%s: %+v %+v", c.name, e.Line, e)
		}
	}
}

func TestDeletions(t *testing.T) {
	e, _ := event(withSnippet("messageDeletedEvent", `"messageDeletedDetails":{"deletedMessageId":"m7"}`), "vid")
	if e.Gone == nil || *e.Gone != (line.Gone{Platform: "youtube", Place: "vid", ID: "m7"}) {
		t.Errorf("a deletion: %+v", e.Gone)
	}
	e, _ = event(withSnippet("userBannedEvent", `"userBannedDetails":{"bannedUserDetails":{"channelId":"UC9","displayName":"Bad"},"banType":"temporary","banDurationSeconds":"300"}`), "vid")
	if e.Gone == nil || *e.Gone != (line.Gone{Platform: "youtube", Place: "vid", Viewer: "UC9"}) {
		t.Errorf("a ban: %+v", e.Gone)
	}
	if _, over := event(withSnippet("chatEndedEvent", `"x":1`), "vid"); !over {
		t.Error("the chat has not ended")
	}
}

func TestOfNoUse(t *testing.T) {
	for _, raw := range []string{
		`{}`, `null`, `[]`, `7`, `{"snippet":{"type":"tombstone"}}`, `{"snippet":{"type":"messageDeletedEvent"}}`, `{"snippet":{"type":"userBannedEvent"}}`, `{"snippet":{"type":"textMessageEvent"}}`,
		`{"snippet":{"type":"pollEvent"}}`, `{"snippet":{"type":"giftMembershipReceivedEvent"}}`, `{"snippet":{"type":"textMessageEvent","textMessageDetails":{"messageText":"\u200b\u202e"}}}`,
	} {
		if e, over := event(json.RawMessage(raw), "vid"); e != (line.Event{}) || over {
			t.Errorf("%s says %+v", raw, e)
		}
	}
	if e, _ := event(withSnippet("textMessageEvent", `"displayMessage":"shown"`), "vid"); e.Line == nil || e.Line.Text != "shown" {
		t.Errorf("without details: %+v", e.Line)
	}
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(withSnippet("superChatEvent", `"superChatDetails":{"amountMicros":"1000000","amountDisplayString":"$1","userComment":"x"}`)))
	f.Add([]byte(withSnippet("textMessageEvent", `"textMessageDetails":{"messageText":"hi \u202e there"}`)))
	f.Add([]byte(withSnippet("userBannedEvent", `"userBannedDetails":{"bannedUserDetails":{"channelId":"UC9"}}`)))
	f.Add([]byte(withSnippet("memberMilestoneChatEvent", `"memberMilestoneChatDetails":{"memberMonth":1e400}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, _ := event(raw, "vid")
		if e.Line != nil && e.Gone != nil {
			t.Fatalf("%s says both", raw)
		}
		l := e.Line
		if l == nil {
			return
		}
		if !l.Says() || l.Name == "" || utf8.RuneCountInString(l.Text) > line.MaxText || line.Plain(l.Text) != l.Text {
			t.Fatalf("%s says %+v", raw, l)
		}
		if _, err := json.Marshal(l.Gift); err != nil || l.Gift != nil && strings.ContainsAny(l.Gift.Display, "\n\u202e") {
			t.Fatalf("%s gives %+v: %v", raw, l.Gift, err)
		}
	})
}

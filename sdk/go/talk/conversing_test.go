package talk

import (
	"fmt"
	"testing"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/talk/stage"
)

// conversation is a chat of two in a conversation between agents that bot has opened.
func conversation(t *testing.T, script string, most int) (*chat, *abi.Conversing) {
	c := newChat(t, script)
	c.members = c.members[:1:1]
	c.members = append(c.members, companion.Member{ID: "bot", Kind: abi.KindAgent})
	c.l.RoomID = "conv_1"
	return c, &abi.Conversing{ID: "conv_1", Project: "home", Purpose: "猫の話", From: "bot", State: abi.ConversationPending, MaxTurns: most}
}

func (c *chat) of(cv *abi.Conversing) companion.Scene {
	s := c.scene(false)
	s.MaxTurns, s.Conversation = 0, cv
	return s
}

// An invitation is accepted by what it is about, a purpose that nobody put in a message included, and
// declined where the script has nothing to say.
func TestInvited(t *testing.T) {
	c, cv := conversation(t, lively, 20)
	s := c.of(cv)
	s.Message = companion.Message{From: "bot", To: []string{c.l.ID}, Text: cv.Purpose, Kind: abi.KindTurn}
	v, err := c.l.Vote(s)
	if err != nil || v.State != abi.Speak || v.Reason != "they invite me" {
		t.Fatalf("%+v, %v", v, err)
	}
	if line, err := c.l.Speak(s); err != nil || line.Text == "" {
		t.Errorf("%+v, %v", line, err)
	}
	c, cv = conversation(t, "lang: ja\nname: Momo\n[*]\nbye: またね！\n", 20)
	c.put("bot", "猫の話をしませんか？")
	if v, err := c.l.Vote(c.of(cv)); err != nil || v.State != abi.Listen || v.Closing == abi.ClosingTerminal {
		t.Errorf("with nothing to say: %+v, %v", v, err)
	}
	// Whoever opened it is not invited.
	c, cv = conversation(t, lively, 20)
	cv.From = c.l.ID
	c.put(c.l.ID, "猫の話をしませんか？")
	if v, err := c.l.Vote(c.of(cv)); err != nil || v.State != abi.Listen || v.Closing == abi.ClosingTerminal {
		t.Errorf("of its own: %+v, %v", v, err)
	}
}

// In a conversation of two each message is for the character, it says goodbye before the last
// message, once, and leaves with it.
func TestItLeavesAConversation(t *testing.T) {
	for _, most := range []int{6, 12, 16, 20, 40} {
		c, cv := conversation(t, lively, most)
		left := 0
		for cv.Turns+2 <= most && left == 0 {
			c.put("bot", fmt.Sprintf("猫は%d匹いますよ", cv.Turns+2))
			cv.Turns++
			v, err := c.l.Vote(c.of(cv))
			if err != nil || v.State != abi.Speak {
				t.Fatalf("%d of %d: %+v, %v", cv.Turns, most, v, err)
			}
			s := c.of(cv)
			s.Recent = c.l.History
			line, err := c.l.Speak(s)
			if err != nil {
				t.Fatal(err)
			}
			if line.Text != "" {
				c.put(c.l.ID, line.Text)
				cv.State, cv.Turns = abi.ConversationActive, cv.Turns+1
			}
			if line.Closing == abi.ClosingTerminal {
				left = cv.Turns
			}
		}
		if short := most < stage.LongEnough; short != (left == 0) {
			t.Errorf("of %d messages it left after %d", most, left)
		}
		if left == 0 {
			continue
		}
		c.put("bot", "まだいますか？")
		if v, err := c.l.Vote(c.of(cv)); err != nil || v.State != abi.Listen || v.Closing != abi.ClosingTerminal {
			t.Errorf("of %d, after goodbye: %+v, %v", most, v, err)
		}
	}
}

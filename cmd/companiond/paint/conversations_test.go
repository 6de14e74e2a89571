package paint

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
)

var opened = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// asked is a conversation of two, which aya opened and kyoko has not answered.
func asked() (v conversations.View) {
	v.ID, v.State, v.Opened, v.Heard = "conv_1", conversation.Pending, opened, opened
	v.Terms = conversation.Terms{Project: "home", Pending: 300_000, Idle: 600_000, Members: []string{"aya", "kyoko"}}
	v.Members = []conversation.Member{{ID: "aya", Joined: true}, {ID: "kyoko"}}
	return v
}

// over is what became of it: a person has ended it, and kyoko is not told yet.
func over() conversations.View {
	v := asked()
	by := &conversation.Ending{By: "mika", Reason: conversation.ParticipantEnded}
	v.State, v.Over, v.Ending = conversation.Terminating, opened.Add(time.Hour), by
	v.Members[0].Ending, v.Members[0].Told, v.Members[1].Ending = by, true, by
	return v
}

func TestConversationStands(t *testing.T) {
	active := asked()
	active.State, active.Turns, active.Last, active.Members[1].Joined = conversation.Active, 3, "aya", true
	active.Terms.MaxTurns, active.Terms.InTurn = 20, true
	for _, tc := range []struct {
		v       conversations.View
		shown   []string
		without string
	}{
		{asked(), []string{"conv_1 is pending\n", "turns    0\n", "until    2026-01-02 03:09:05, unless somebody answers\n", "kyoko: has not answered\n"}, "over"},
		{active, []string{"conv_1 is active\n", "turns    3 of 20, the next is kyoko's\n", "until    2026-01-02 03:14:05, unless something is said\n", "members  aya: opened it\n         kyoko: joined\n"}, "over"},
		{over(), []string{"over     2026-01-02 04:04:05, participant_ended by mika\n", "aya: opened it; over (participant_ended by mika), and was told\n", "kyoko: has not answered; over (participant_ended by mika), and is not told yet\n"}, "until    "},
	} {
		var out bytes.Buffer
		Painter{Out: &out}.Conversation(tc.v, nil)
		for _, want := range tc.shown {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", tc.v.State, want, &out)
			}
		}
		if strings.Contains(out.String(), tc.without) {
			t.Errorf("%s: %q is in\n%s", tc.v.State, tc.without, &out)
		}
	}
}

func TestEndedNamesWhoIsToBeTold(t *testing.T) {
	v := over()
	for _, want := range []string{"conv_1 is over, which kyoko will be told\n", "conv_1 is over\n"} {
		var out bytes.Buffer
		if err := (Painter{Out: &out}).Ended(v); err != nil || out.String() != want {
			t.Errorf("%v, shown as %q, want %q", err, &out, want)
		}
		v.Members[1].Told = true
	}
}

// Whatever is in a conversation, a terminal acts on none of it, and a row of the
// table is one line.
func TestConversationsAreHarmless(t *testing.T) {
	const evil = "x\nconv_2  active\x1b[1A\u202e\r\t"
	v := over()
	v.Terms.Project, v.Terms.Purpose = evil, evil
	v.Members[0].ID, v.Ending.By = evil, evil
	var out bytes.Buffer
	p := Painter{Out: &out}
	p.Conversation(v, []abi.Message{{Seq: 1, From: evil, Text: evil, At: opened}})
	if err := p.Conversations([]conversations.View{v}); err != nil {
		t.Fatal(err)
	}
	if err := p.Ended(v); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), `\u001b`) < 6 {
		t.Errorf("shown as\n%s", &out)
	}
	for _, r := range out.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%U in %q", r, &out)
		}
	}
	table := out.String()[strings.Index(out.String(), "ID "):]
	if strings.Count(table, "\n") != 3 {
		t.Errorf("a row in several lines:\n%s", table)
	}
}

// A purpose is cut to what a list has room for, by letters and not by bytes.
func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"word\tchain\n again":         "word chain again",
		strings.Repeat("あ", maxShort): strings.Repeat("あ", maxShort), strings.Repeat("あ", maxShort+1): strings.Repeat("あ", maxShort-1) + "…",
	} {
		if got := short(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

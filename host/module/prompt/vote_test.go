package prompt

import (
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/limits"
)

// TestWhatIsNoVote: what nobody asked for is passed over, whatever it is; what is wrong is said in words.
func TestWhatIsNoVote(t *testing.T) {
	for _, surplus := range []string{`"selected":""`, `"selected":"aya"`, `"selected":true`, `"selected":null`, `"selected":[1]`, `"backchannel":7`, `"backchannel":"hm"`, `"more":{}`} {
		v, err := readVote([]byte(`{"state":"speak","importance":5,"closing":"none","reason":"x",` + surplus + `}`))
		if err != nil || v != (abi.Vote{State: abi.Speak, Importance: 5, Closing: abi.ClosingNone, Reason: "x"}) {
			t.Errorf("%s: %+v, %v", surplus, v, err)
		}
	}
	for raw, want := range map[string]string{
		`{"state":"speak","importance":"5"}`: "importance must not be a JSON string",
		`{"state":["speak"]}`:                "state must not be a JSON array",
		`"speak"`:                            "it is no JSON of a vote",
		`{`:                                  "it is no JSON of a vote",
	} {
		if _, err := readVote([]byte(raw)); abi.CodeOf(err) != abi.CodeInvalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestUrgency: all of a bound is for those who call somebody, and not for what companions call each other.
func TestUrgency(t *testing.T) {
	members := []abi.Member{{ID: "taro", Kind: abi.KindHuman}, {ID: "ben", Kind: abi.KindCompanion}, {ID: "aya", Kind: abi.KindCompanion}}
	for _, c := range []struct {
		from   string
		called bool
		want   limits.Urgency
	}{
		{"taro", true, limits.Called}, {"taro", false, limits.Idle}, {"ben", true, limits.Waits}, {"ben", false, limits.Idle},
	} {
		if got := urgency(abi.Scene{Message: abi.Message{From: c.from}, Members: members, Addressed: c.called}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

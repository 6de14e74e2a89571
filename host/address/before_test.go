package address_test

import (
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
)

func TestBefore(t *testing.T) {
	kinds := map[string]abi.ParticipantKind{"aya": abi.KindCompanion, "ken": abi.KindAgent}
	type talk []abi.Message
	by := func(from string, to ...string) abi.Message {
		return abi.Message{From: from, Kind: abi.KindTurn, Addressed: to}
	}
	murmur := abi.Message{From: "aya", Kind: abi.KindBackchannel}
	for name, c := range map[string]struct {
		talk talk
		want string
	}{
		"nothing was said":                        {nil, ""},
		"the one that spoke last":                 {talk{by("aya"), by("ken")}, "ken"},
		"whom the human addressed since":          {talk{by("ken"), by("mika", "aya")}, "aya"},
		"two at once are nobody":                  {talk{by("mika", "aya", "ken")}, ""},
		"a word of a listener is no turn":         {talk{by("ken"), murmur}, "ken"},
		"another human spoke since":               {talk{by("aya"), by("taro")}, ""},
		"it had answered this human":              {talk{by("mika"), by("aya"), by("taro")}, "aya"},
		"it had answered the other":               {talk{by("mika"), by("taro"), by("aya"), by("taro")}, ""},
		"too long ago":                            {talk{by("aya"), by("mika"), by("mika"), by("mika"), by("mika"), by("mika"), by("mika")}, ""},
		"just not too long ago, before the human": {talk{by("mika"), by("aya"), by("mika"), by("mika"), by("mika"), by("mika"), by("mika")}, "aya"},
	} {
		for i := range c.talk {
			c.talk[i].Seq = uint64(i + 1)
		}
		if got := address.Before(c.talk, "mika", 100, kinds); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	since := talk{{Seq: 1, From: "aya"}, {Seq: 2, From: "ken"}, {Seq: 3, From: "mika"}}
	if got := address.Before(since, "mika", 2, kinds); got != "aya" || since[1].From != "ken" {
		t.Errorf("before the second entry: %q, and %v", got, since)
	}
}

package module_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/moduletest"
)

const dancer = `{"name":"Dancer","actions":[
	{"title":"move","type":"object","properties":{"x":{"type":"number"}},"required":["x"]},
	{"title":"speak","type":"object","properties":{"message":{"type":"string"}}}],
	"perceptions":[{"title":"vision","type":"object"}],
	"events":[{"perception":"vision","action":["speak"],"condition":"somebody comes in"}]}`

func described(card string) *moduletest.Module {
	return &moduletest.Module{Desc: abi.Description{ABI: "1", Name: "Dancer", Card: json.RawMessage(card)}}
}

// TestPermit: the description that a module gave bounds what it may do, and a
// reload changes that.
func TestPermit(t *testing.T) {
	c := begin(described(dancer), module.Limits{}, new(logtest.Log))
	defer c.Close()
	for _, tc := range []struct {
		ask  abi.ActionAsk
		code abi.Code
		says string
	}{
		{abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":1}`)}, "", ""},
		{abi.ActionAsk{Action: "speak", Parameters: json.RawMessage(`{"message":"hi"}`), Perception: "vision"}, "", ""},
		{abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":"1"}`)}, abi.CodeInvalid, "parameters.x"},
		{abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":1}`), Perception: "vision"}, abi.CodeDenied, "move"},
		{abi.ActionAsk{Action: "fly"}, abi.CodeNotFound, `"fly"`},
	} {
		warning, err := c.Permit(tc.ask)
		if got := abi.CodeOf(err); err != nil && (got != tc.code || !strings.Contains(err.Error(), tc.says)) || err == nil && tc.code != "" || warning != "" {
			t.Errorf("%s: %q, %v", tc.ask.Action, warning, err)
		}
	}
	swap(c, 2, described(strings.Replace(dancer, `"name"`, `"mode":"warn","name"`, 1)))
	if warning, err := c.Permit(abi.ActionAsk{Action: "move", Parameters: json.RawMessage(`{"x":1}`), Perception: "vision"}); err != nil || warning == "" {
		t.Errorf("in warn mode: %q, %v", warning, err)
	}
	swap(c, 3, described(""))
	if _, err := c.Permit(abi.ActionAsk{Action: "move"}); abi.CodeOf(err) != abi.CodeDenied || c.Card() != nil {
		t.Errorf("without a card: %v", err)
	}
}

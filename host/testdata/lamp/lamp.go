// Command lamp is a handler for tests: a lamp that companions switch. It keeps how it stands in its keys.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

func init() {
	companion.RegisterHandler(companion.Handler{
		Name: "Lamp",
		Actions: []companion.Offer{{
			Name: "lamp.set", Description: "Switches the lamp.",
			Schema: json.RawMessage(`{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}`),
		}, {Name: "lamp.break", Description: "Breaks it."}, {Name: "lamp.hang", Description: "Never ends."}, {Name: "lamp.odd"}, {Name: "lamp.slow"}},
		Settings: `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`,
		Act:      act,
	})
}

func act(h *companion.Host, a companion.Acting) (string, error) {
	var set struct{ Place string }
	if err := json.Unmarshal(a.Settings, &set); err != nil {
		return "", err
	}
	switch a.Action {
	case "lamp.break":
		return "", abi.Errorf(abi.CodeUnavailable, "the lamp in the %s is broken", set.Place)
	case "lamp.odd":
		return "a\x00\x1b[31m\u202eredb", nil
	case "lamp.slow":
		time.Sleep(time.Second) // which is nothing in WebAssembly
		return "slowly switched", nil
	case "lamp.hang":
		for n := 0; ; n++ {
			if n < 0 {
				return "", nil
			}
		}
	}
	var to struct{ On bool }
	if err := json.Unmarshal(a.Parameters, &to); err != nil {
		return "", err
	}
	var times int
	if _, err := h.GetJSON("times", &times); err != nil {
		return "", err
	}
	if err := h.SetJSON("times", times+1); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s switched the lamp in the %s: %v, %d times by now", cmp.Or(a.Companion, a.By), set.Place, to.On, times+1), nil
}

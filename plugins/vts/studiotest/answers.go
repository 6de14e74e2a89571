package studiotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// request answers one. The lock is held.
func (s *Studio) request(x *session, e envelope) (any, error) {
	switch {
	case e.APIName != "VTubeStudioPublicAPI":
		return nil, refuse(3, "API name invalid")
	case e.APIVersion != "1.0":
		return nil, refuse(4, "API version invalid")
	case !regexp.MustCompile(`^[!-~ ]{1,64}$`).MatchString(e.RequestID):
		return nil, refuse(5, "request ID invalid")
	case e.MessageType == "":
		return nil, refuse(6, "message type missing")
	}
	answer, open := map[string]func(*session, envelope) (any, error){
		"APIStateRequest": s.apiState, "AuthenticationTokenRequest": s.token, "AuthenticationRequest": s.authenticate,
	}[e.MessageType]
	if open {
		return answer(x, e)
	}
	answer = map[string]func(*session, envelope) (any, error){
		"HotkeysInCurrentModelRequest": s.hotkeys, "HotkeyTriggerRequest": s.trigger,
		"ExpressionStateRequest": s.expressions, "ExpressionActivationRequest": s.express,
		"MoveModelRequest": s.move, "InputParameterListRequest": s.parameters, "ParameterCreationRequest": s.create,
		"InjectParameterDataRequest": s.inject, "EventSubscriptionRequest": s.subscribe,
	}[e.MessageType]
	switch {
	case answer == nil:
		return nil, refuse(7, "unknown request type")
	case x.plugin == "":
		return nil, refuse(8, "the session is not authenticated")
	}
	return answer(x, e)
}

// reads decodes the data of a request, which may have none.
func reads(e envelope, into any) error {
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return nil
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return refuse(2, "JSON invalid: "+err.Error())
	}
	return nil
}

func (s *Studio) apiState(x *session, _ envelope) (any, error) {
	return map[string]any{"active": true, "vTubeStudioVersion": "1.32.60", "currentSessionAuthenticated": x.plugin != ""}, nil
}

func (s *Studio) token(x *session, e envelope) (any, error) {
	var ask struct{ PluginName, PluginDeveloper string }
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	if n := len(ask.PluginName); n < 3 || n > 32 {
		return nil, refuse(52, "plugin name invalid")
	}
	if n := len(ask.PluginDeveloper); n < 3 || n > 32 {
		return nil, refuse(53, "developer name invalid")
	}
	if s.pending != nil {
		return nil, refuse(51, "a token request is ongoing")
	}
	s.state.Popups++
	switch s.answer {
	case Deny:
		return nil, refuse(50, "User has denied API access for your plugin.")
	case Later:
		s.pending = &asking{x, e.RequestID, ask.PluginName}
		return nil, errLater
	}
	return s.grant(ask.PluginName), nil
}

func (s *Studio) grant(plugin string) any {
	s.made++
	token := fmt.Sprintf("studio-token-%d", s.made)
	s.tokens[token] = plugin
	return map[string]any{"authenticationToken": token}
}

func (s *Studio) authenticate(x *session, e envelope) (any, error) {
	var ask struct{ PluginName, PluginDeveloper, AuthenticationToken string }
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	switch {
	case ask.AuthenticationToken == "":
		return nil, refuse(100, "token missing")
	case ask.PluginName == "":
		return nil, refuse(101, "plugin name missing")
	case ask.PluginDeveloper == "":
		return nil, refuse(102, "developer missing")
	case s.tokens[ask.AuthenticationToken] != ask.PluginName:
		return map[string]any{"authenticated": false, "reason": "Token invalid or revoked."}, nil
	}
	x.plugin = ask.PluginName
	return map[string]any{"authenticated": true, "reason": "Token valid."}, nil
}

// loaded gives what answers say of the model.
func (s *Studio) loaded() map[string]any {
	if s.model == nil {
		return map[string]any{"modelLoaded": false, "modelName": "", "modelID": ""}
	}
	return map[string]any{"modelLoaded": true, "modelName": s.model.Name, "modelID": s.model.ID}
}

func (s *Studio) hotkeys(*session, envelope) (any, error) {
	answer, all := s.loaded(), []any{}
	if s.model != nil {
		for _, h := range s.model.Hotkeys {
			all = append(all, map[string]any{
				"name": h.Name, "type": h.Type, "description": "", "file": h.File, "hotkeyID": h.ID,
				"keyCombination": []any{}, "onScreenButtonID": -1,
			})
		}
	}
	answer["availableHotkeys"] = all
	return answer, nil
}

// cooldown is five frames.
const cooldown = 5 * time.Second / 60

func (s *Studio) trigger(_ *session, e envelope) (any, error) {
	var ask struct{ HotkeyID string }
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	if s.model == nil {
		return nil, refuse(201, "no model is loaded")
	}
	i := slices.IndexFunc(s.model.Hotkeys, func(h Hotkey) bool {
		return h.ID == ask.HotkeyID || h.Name != "" && strings.EqualFold(h.Name, ask.HotkeyID)
	})
	if i < 0 {
		return nil, refuse(202, "the hotkey was not found in the model")
	}
	h := s.model.Hotkeys[i]
	if since := time.Since(s.pressed[h.ID]); since < cooldown {
		return nil, refuse(203, "the hotkey's cooldown is not over")
	}
	s.pressed[h.ID] = time.Now()
	s.state.Triggered = append(s.state.Triggered, h.Name)
	if h.Type == "ToggleExpression" {
		s.state.Active[h.File] = !s.state.Active[h.File]
	}
	return map[string]any{"hotkeyID": h.ID}, nil
}

func (s *Studio) expressions(*session, envelope) (any, error) {
	answer, all := s.loaded(), []any{}
	if s.model != nil {
		for _, f := range s.model.Expressions {
			all = append(all, map[string]any{
				"name": strings.TrimSuffix(f, ".exp3.json"), "file": f, "active": s.state.Active[f],
				"deactivateWhenKeyIsLetGo": false, "autoDeactivateAfterSeconds": false, "secondsRemaining": 0,
				"usedInHotkeys": []any{}, "parameters": []any{},
			})
		}
	}
	answer["expressions"] = all
	return answer, nil
}

func (s *Studio) express(_ *session, e envelope) (any, error) {
	var ask struct {
		ExpressionFile string
		FadeTime       float64
		Active         *bool
	}
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	switch {
	case !strings.HasSuffix(ask.ExpressionFile, ".exp3.json"):
		return nil, refuse(650, "the file name is invalid")
	case s.model == nil:
		return nil, refuse(652, "no model is loaded")
	case !slices.Contains(s.model.Expressions, ask.ExpressionFile):
		return nil, refuse(651, "the file was not found")
	}
	s.state.Active[ask.ExpressionFile] = ask.Active != nil && *ask.Active
	return struct{}{}, nil
}

func (s *Studio) move(_ *session, e envelope) (any, error) {
	var ask struct {
		TimeInSeconds                        *float64
		ValuesAreRelativeToModel             *bool
		PositionX, PositionY, Rotation, Size *float64
	}
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	out := func(v *float64, least, most float64) bool { return v != nil && (*v < least || *v > most) }
	switch {
	case s.model == nil:
		return nil, refuse(300, "no model is loaded")
	case ask.TimeInSeconds == nil || ask.ValuesAreRelativeToModel == nil:
		return nil, refuse(301, "fields are missing")
	case out(ask.TimeInSeconds, 0, 2), out(ask.PositionX, -1000, 1000), out(ask.PositionY, -1000, 1000), out(ask.Rotation, -360, 360), out(ask.Size, -100, 100):
		return nil, refuse(302, "values are out of range")
	}
	s.state.Moves = append(s.state.Moves, e.Data)
	return struct{}{}, nil
}

func (s *Studio) parameters(*session, envelope) (any, error) {
	answer := s.loaded()
	own, custom := []any{}, []any{}
	for _, id := range slices.Sorted(maps.Keys(s.params)) {
		p := s.params[id]
		said := map[string]any{"name": p.id, "addedBy": "VTube Studio", "value": p.now(), "min": p.min, "max": p.max, "defaultValue": p.rest}
		if p.by == "" {
			own = append(own, said)
			continue
		}
		said["addedBy"] = p.by
		custom = append(custom, said)
	}
	answer["defaultParameters"], answer["customParameters"] = own, custom
	return answer, nil
}

// now gives a parameter's value: one that is not sent again within a second is lost.
func (p *param) now() float64 {
	if p.owner == nil || time.Since(p.at) > time.Second {
		p.owner = nil
		return p.rest
	}
	return p.value
}

func (s *Studio) create(x *session, e envelope) (any, error) {
	var ask struct {
		ParameterName, Explanation string
		Min, Max, DefaultValue     float64
	}
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	p := s.params[ask.ParameterName]
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9]{4,32}$`).MatchString(ask.ParameterName):
		return nil, refuse(350, "the name is invalid")
	case max(ask.Min, ask.Max, ask.DefaultValue) > 1e6 || min(ask.Min, ask.Max, ask.DefaultValue) < -1e6:
		return nil, refuse(351, "the values are invalid")
	case p != nil && p.by == "":
		return nil, refuse(354, "it is the name of a default parameter")
	case p != nil && p.by != x.plugin:
		return nil, refuse(352, "another plugin made it")
	case len(ask.Explanation) > 255:
		return nil, refuse(353, "the explanation is too long")
	}
	s.params[ask.ParameterName] = &param{id: ask.ParameterName, by: x.plugin, min: ask.Min, max: ask.Max, rest: ask.DefaultValue}
	return map[string]any{"parameterName": ask.ParameterName}, nil
}

func (s *Studio) inject(x *session, e envelope) (any, error) {
	var ask struct {
		Mode            string
		ParameterValues []struct {
			ID     string
			Value  float64
			Weight *float64
		}
	}
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	switch {
	case len(ask.ParameterValues) == 0:
		return nil, refuse(450, "no data")
	case ask.Mode != "" && ask.Mode != "set" && ask.Mode != "add":
		return nil, refuse(455, "unknown mode")
	}
	for _, v := range ask.ParameterValues {
		p := s.params[v.ID]
		switch {
		case v.Value > 1e6 || v.Value < -1e6:
			return nil, refuse(451, "the value is invalid")
		case v.Weight != nil && (*v.Weight < 0 || *v.Weight > 1):
			return nil, refuse(452, "the weight is invalid")
		case p == nil:
			return nil, refuse(453, "the parameter "+v.ID+" was not found")
		}
		if p.now(); ask.Mode != "add" && p.owner != nil && p.owner != x {
			return nil, refuse(454, "another plugin controls "+v.ID)
		}
	}
	now := time.Now()
	for _, v := range ask.ParameterValues {
		if p := s.params[v.ID]; ask.Mode != "add" {
			p.value, p.at, p.owner = v.Value, now, x
		}
		s.state.Injected = append(s.state.Injected, Injected{now, v.ID, v.Value})
	}
	return struct{}{}, nil
}

func (s *Studio) subscribe(x *session, e envelope) (any, error) {
	var ask struct {
		EventName string
		Subscribe bool
	}
	if err := reads(e, &ask); err != nil {
		return nil, err
	}
	known := []string{"ModelLoadedEvent", "ModelConfigChangedEvent", "ModelClickedEvent"}
	switch {
	case ask.EventName == "" && !ask.Subscribe:
		clear(x.events)
	case !slices.Contains(known, ask.EventName):
		return nil, refuse(950, "unknown event")
	case ask.Subscribe:
		x.events[ask.EventName] = true
	default:
		delete(x.events, ask.EventName)
	}
	return map[string]any{"subscribedEventCount": len(x.events), "subscribedEvents": slices.Sorted(maps.Keys(x.events))}, nil
}

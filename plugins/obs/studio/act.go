package studio

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/obs/client"
	companion "github.com/companiond/companiond/sdk/go"
)

// The actions.
const (
	actScene      = "obs.scene"
	actShow       = "obs.show"
	actHotkey     = "obs.hotkey"
	actScreenshot = "obs.screenshot"
)

// actions are the same whatever the settings are, for a module says what it can do before it has any. What the
// settings do not list is refused, and the refusal names what they do.
func actions() []companion.Offer {
	const refused = " A name that is not allowed is refused, and the answer says which are."
	return []companion.Offer{{
		Name: actScene, Description: "Switches OBS to another scene." + refused,
		Schema: json.RawMessage(`{"type":"object","properties":{"scene":{"type":"string","description":"its name"}},"required":["scene"],"additionalProperties":false}`),
	}, {
		Name: actShow, Description: "Shows or hides an item, such as a picture, in a scene of OBS." + refused,
		Schema: json.RawMessage(`{"type":"object","properties":{"item":{"type":"string","description":"its name"},"on":{"type":"boolean","description":"true shows it, false hides it"},"scene":{"type":"string","description":"the scene that has it; the one on the air if absent"}},"required":["item","on"],"additionalProperties":false}`),
	}, {
		Name: actHotkey, Description: "Triggers a hotkey of OBS." + refused,
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"its name"}},"required":["name"],"additionalProperties":false}`),
	}, {
		Name: actScreenshot, Description: "Looks at what OBS shows: a picture of it is perceived.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
	}}
}

// act carries out an action.
func (s *studio) act(h *companion.Host, a companion.Acting) (string, error) {
	st, err := s.station(a.Settings)
	if err != nil {
		return "", err
	}
	var p struct {
		Scene, Item, Name string
		On                bool
	}
	if len(a.Parameters) > 0 {
		if err := json.Unmarshal(a.Parameters, &p); err != nil {
			return "", abi.Errorf(abi.CodeInvalid, "parameters: %v", err)
		}
	}
	if err := st.allows(a.Action, p.Scene, p.Item, p.Name); err != nil {
		return "", err
	}
	conn, err := st.connected(h.Context())
	if err != nil {
		return "", err
	}
	ctx, message := h.Context(), ""
	switch a.Action {
	case actScene:
		message, err = "OBS shows the scene "+p.Scene, ask(ctx, conn, "SetCurrentProgramScene", map[string]any{"sceneName": p.Scene}, nil)
	case actShow:
		message, err = toggle(ctx, conn, p.Scene, p.Item, p.On)
	case actHotkey:
		message, err = p.Name+" is triggered", ask(ctx, conn, "TriggerHotkeyByName", map[string]any{"hotkeyName": p.Name}, nil)
	case actScreenshot:
		if a.Companion == "" {
			return "", abi.Errorf(abi.CodeDenied, "a picture is for companions: one has to play this itself")
		}
		message, err = "a picture of it is perceived as "+st.Vision, st.perceive(ctx, h, conn, []string{a.Companion})
	}
	if err != nil {
		return "", told(err)
	}
	return message, nil
}

// allows reports why an action is not carried out whatever OBS says.
func (st *station) allows(action, scene, item, hotkey string) error {
	switch action {
	case actScene:
		return listed("scene", scene, st.Scenes, "scenes")
	case actShow:
		return listed("item", item, st.Items, "items")
	case actHotkey:
		return listed("name", hotkey, st.Hotkeys, "hotkeys")
	case actScreenshot:
		if st.Vision == "" {
			return abi.Errorf(abi.CodeDenied, "nothing says which perception a screenshot becomes: write the title of one of the card's, such as vision = \"vision\", into the settings of the handler")
		}
		return nil
	}
	return abi.Errorf(abi.CodeInvalid, "action: there is no %.64q here", action)
}

// listed reports why a name may not be used: a list of the settings has others, or none.
func listed(field, name string, list []string, setting string) error {
	if len(list) == 0 {
		return abi.Field("parameters."+field, abi.CodeDenied, "none is allowed: write those that are as %s = [\"...\"] into the settings of the handler", setting)
	}
	if !slices.Contains(list, name) {
		return abi.Field("parameters."+field, abi.CodeDenied, "%.100q is not among those that are allowed: %s", name, strings.Join(list, ", "))
	}
	return nil
}

// told gives an error of OBS to a companion in words. Where it has no code of OBS, it is that OBS is not there.
func told(err error) error {
	code := abi.CodeUnavailable
	switch client.CodeOf(err) {
	case 0, client.CodeNotReady:
	case client.CodeNotFound:
		code = abi.CodeNotFound
	default:
		code = abi.CodeInvalid
	}
	if abi.CodeOf(err) != abi.CodeInternal {
		return err // the daemon's own, such as that something was not granted
	}
	return abi.Errorf(code, "%v", err)
}

// onAir gives the name of the scene that is on the air.
func onAir(ctx context.Context, conn *client.Conn) (string, error) {
	var now struct {
		Scene string `json:"currentProgramSceneName"`
	}
	return now.Scene, ask(ctx, conn, "GetCurrentProgramScene", nil, &now)
}

// toggle shows or hides an item of a scene.
func toggle(ctx context.Context, conn *client.Conn, scene, item string, on bool) (message string, err error) {
	if scene == "" {
		if scene, err = onAir(ctx, conn); err != nil {
			return "", err
		}
	}
	var found struct {
		ID int `json:"sceneItemId"`
	}
	if err := ask(ctx, conn, "GetSceneItemId", map[string]any{"sceneName": scene, "sourceName": item}, &found); err != nil {
		return "", err
	}
	how := "hidden"
	if on {
		how = "shown"
	}
	return fmt.Sprintf("%s is %s in the scene %s", item, how, scene), ask(ctx, conn, "SetSceneItemEnabled", map[string]any{"sceneName": scene, "sceneItemId": found.ID, "sceneItemEnabled": on}, nil)
}

// The form of screenshots: a model sees no more in a larger one.
const (
	pictureWidth = 1024 // pixels
	pictureType  = "image/jpeg"
)

// key names a screenshot, so that a newer one takes the place of one that nobody has looked at.
const key = "obs.screenshot"

// perceive has companions perceive a screenshot. The error is of the first that does not.
func (st *station) perceive(ctx context.Context, h *companion.Host, conn *client.Conn, companions []string) error {
	picture, err := st.picture(ctx, conn)
	if err != nil {
		return err
	}
	for _, id := range companions {
		_, _ = h.Retract(abi.RetractAsk{Companion: id, Key: key}) // where it is not granted, they all are perceived
		if _, refused := h.Emit(abi.PerceptionAsk{Companion: id, Title: st.Vision, Image: picture, MediaType: pictureType, Key: key}); err == nil {
			err = refused
		}
	}
	return err
}

// picture takes a screenshot.
func (st *station) picture(ctx context.Context, conn *client.Conn) ([]byte, error) {
	source := st.Source
	if source == "" {
		var err error
		if source, err = onAir(ctx, conn); err != nil {
			return nil, err
		}
	}
	var shot struct {
		Data string `json:"imageData"`
	}
	if err := ask(ctx, conn, "GetSourceScreenshot", map[string]any{"sourceName": source, "imageFormat": "jpg", "imageWidth": pictureWidth}, &shot); err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(shot.Data, ";base64,")
	picture, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(picture) == 0 {
		return nil, abi.Errorf(abi.CodeUnavailable, "the picture of %s that OBS gave cannot be read", source)
	}
	if len(picture) > abi.MaxBlob {
		return nil, abi.Errorf(abi.CodeTooLarge, "the picture of %s has %d bytes, at most %d are taken", source, len(picture), abi.MaxBlob)
	}
	return picture, nil
}

package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/rooms"
	"github.com/companiond/companiond/host/waittest"
)

// A room is a resource that tells its subscribers when it changed.
func TestRoomsAreResources(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool()), "居間": rulesOf("vote", abi.Pool{})})
	updated := make(chan string, 64)
	a := h.connect(&sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
	list, err := a.session.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 4 {
		t.Fatalf("%v %v", list, err)
	}
	templates, err := a.session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 3 { // and that of cards
		t.Fatalf("%v %v", templates, err)
	}
	const uri = "room://main/history"
	if err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	m := h.human("main", "こんにちは")
	select {
	case got := <-updated:
		if got != uri {
			t.Errorf("updated %s", got)
		}
	case <-time.After(waittest.Long):
		t.Fatal("nobody was told")
	}
	res, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	var past historyResource
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &past); err != nil || len(past.Messages) != 1 || past.Messages[0].ID != m.ID || past.Head < m.Seq {
		t.Errorf("%s %v", res.Contents[0].Text, err)
	}
	if res.CacheScope != "private" {
		t.Errorf("who may keep it: %q", res.CacheScope)
	}
	status, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "room://" + "%E5%B1%85%E9%96%93" + "/status"})
	var info rooms.Info
	if err != nil || json.Unmarshal([]byte(status.Contents[0].Text), &info) != nil || info.Name != "居間" || info.Policy != "vote" {
		t.Errorf("%v %v", info, err)
	}
}

func TestUnknownResources(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{})})
	a := h.connect(nil)
	for _, uri := range []string{"room://attic/history", "room://main/diary", "file:///etc/passwd", "room://main"} {
		if _, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
		if err := a.session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s was subscribed to", uri)
		}
	}
}

// The rules of talking are those of the room, with its prices, and do not
// contradict themselves.
func TestTurnTakingPrompt(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("pool", abi.DefaultPool()), "council": rulesOf("vote+pool", abi.DefaultPool())})
	a := h.connect(nil)
	card := `{"id":"companion_aya","name":"アヤ"}`
	get := func(args map[string]string) (string, error) {
		res, err := a.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "turn_taking", Arguments: args})
		if err != nil {
			return "", err
		}
		return res.Messages[0].Content.(*sdk.TextContent).Text, nil
	}
	text, err := get(map[string]string{"card": card})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{card, "消費5、10文字以内、残量が5以上", "消費60、50文字以内、残量が60以上", "消費80、100文字以内、残量が80以上", `fromは"companion_aya"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text, err := get(map[string]string{"card": card, "room": "council"}); err != nil || !strings.Contains(text, "wait_for_turn") || !strings.Contains(text, "backchannel") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, bad := range []map[string]string{{"card": "aya"}, {"card": `{}`}, {"card": card, "room": "attic"}, {}} {
		if _, err := get(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestCompletionOffersRooms(t *testing.T) {
	h := openHome(t, map[string]entry.Rules{"main": rulesOf("vote", abi.Pool{}), "mansion": rulesOf("vote", abi.Pool{}), "side": rulesOf("vote", abi.Pool{})})
	res, err := h.connect(nil).session.Complete(t.Context(), &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: "turn_taking"},
		Argument: sdk.CompleteParamsArgument{Name: "room", Value: "ma"},
	})
	if err != nil || !slices.Equal(res.Completion.Values, []string{"main", "mansion"}) {
		t.Errorf("%v %v", res, err)
	}
}

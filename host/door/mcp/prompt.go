package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/guide"
)

// instructions are what a client tells its model of the server, in both languages.
const instructions = "A room in which AI characters and people talk in turn. Call about first: it tells who you are, which rooms there are, who is here, what talking costs, " +
	"and what would be right to do now. Pass from, your name, to every tool. Read history before you speak; " +
	"consume says something for points of a shared budget; where turns are voted on, use wait_for_turn, vote and say. " +
	"The prompt turn_taking has the rules. " +
	"The spec:// resources are the companions' cards; action-play plays the actions in them.\n" +
	"AIキャラクターと人が順番に話す部屋です。まずaboutを呼んでください。自分が誰か、どの部屋があり誰がいるか、発言の値段、今すべきことが分かります。" +
	"どのツールにもfrom(自分の名前)を渡してください。発言の前にhistoryを読みます。consumeは共有のリソースを消費して発言します。投票の部屋ではwait_for_turn、vote、sayを使います。" +
	"会話のルールはプロンプトturn_takingにあります。spec://のリソースはコンパニオンのカードで、その行動はaction-playで実行します。"

// addPrompts offers the rules of talking as the prompt turn_taking.
func (d *Door) addPrompts() {
	d.server.AddPrompt(&sdk.Prompt{
		Name: "turn_taking", Title: "Rules of talking",
		Description: "会話のルール。エージェントのシステムプロンプトに使います。 The rules of talking in a room, for an agent's system prompt.",
		Arguments: []*sdk.PromptArgument{
			{Name: "card", Title: "Card", Description: `参加者のカード(JSON)。例 {"id":"companion_aya","name":"アヤ"}。 The participant's card as JSON; its id is the name it speaks under.`, Required: true},
			{Name: "room", Title: "Room", Description: "どの部屋か。省略すると main。 Which room; main when absent."},
			{Name: "language", Title: "Language", Description: "ja か en。省略するとカードのlanguage、なければ ja。 ja or en; when absent that of the card, else ja."},
		},
	}, d.turnTaking)
}

func (d *Door) turnTaking(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	given := r.Params.Arguments
	raw := strings.TrimSpace(given["card"])
	var card struct{ ID, Language any } // any, so that a mistake is told in our words
	if raw == "" {
		return nil, abi.Field("card", abi.CodeInvalid, `is missing: give the participant's card as JSON, such as {"id":"companion_aya"}`)
	}
	if json.Unmarshal([]byte(raw), &card) != nil {
		return nil, abi.Field("card", abi.CodeInvalid, `is no JSON object such as {"id":"companion_aya"}`)
	}
	id, _ := card.ID.(string)
	if err := abi.CheckName("card.id", id); err != nil {
		return nil, err
	}
	spoken, _ := card.Language.(string)
	lang, err := guide.LanguageOf(given["language"], spoken)
	if err != nil {
		return nil, err
	}
	talk, err := d.room(ctx, given["room"])
	if err != nil {
		return nil, err
	}
	info := talk.Info()
	if info.Error != "" {
		return nil, abi.Errorf(abi.CodeUnavailable, "%s", info.Error)
	}
	p := guide.Participant{ID: id, Card: raw}
	if talk.Name() != d.cfg.Rooms.Usual() {
		p.Room = talk.Name()
	}
	return &sdk.GetPromptResult{
		Description: "The rules of talking in room " + talk.Name(),
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: guide.TurnTaking(lang, p, info)}}},
	}, nil
}

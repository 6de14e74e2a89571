package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/abi"
)

// addPrompts offers the rules of talking as the prompt turn_taking. They are
// chat-relay's, without its contradiction: there a turn of 60 was advised from a
// level of 55 on and one of 80 from 75 on, which the server then refuses. Here every price stands as its own condition.
func (d *Door) addPrompts() {
	d.server.AddPrompt(&sdk.Prompt{
		Name: "turn_taking", Title: "Rules of talking",
		Description: "会話のルール。エージェントのシステムプロンプトに使います。 The rules of talking in a room, for an agent's system prompt.",
		Arguments: []*sdk.PromptArgument{
			{Name: "card", Title: "Card", Description: `参加者のカード(JSON)。例 {"id":"companion_aya","name":"アヤ"}。 The participant's card as JSON; its id is the name it speaks under.`, Required: true},
			{Name: "room", Title: "Room", Description: "どの部屋か。省略すると main。 Which room; main when absent."},
		},
	}, d.turnTaking)
}

func (d *Door) turnTaking(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	var card struct {
		ID string `json:"id"`
	}
	raw := r.Params.Arguments["card"]
	if err := json.Unmarshal([]byte(raw), &card); err != nil {
		return nil, abi.Errorf(abi.CodeInvalid, "card: is no JSON object: %v", err)
	}
	if err := abi.CheckName("card.id", card.ID); err != nil {
		return nil, err
	}
	talk, err := d.room(ctx, r.Params.Arguments["room"])
	if err != nil {
		return nil, err
	}
	info := talk.Info()
	var text strings.Builder
	fmt.Fprintf(&text, "あなたのメタデータは、%sです。この設定に忠実にふるまってください。\n\n", strings.TrimSpace(raw))
	if info.FreeTurns && info.Pool != nil {
		text.WriteString(poolRules(card.ID, *info.Pool))
	} else {
		text.WriteString(voteRules(card.ID, info.Pool))
	}
	text.WriteString(manners)
	return &sdk.GetPromptResult{
		Description: "The rules of talking in room " + talk.Name(),
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text.String()}}},
	}, nil
}

// poolRules is how to talk where a turn is paid for.
func poolRules(id string, pool abi.Budget) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## 会話のルール

この部屋では、発言するたびに全員で共有するリソース(0~%v)を消費します。使ったリソースは数秒後に戻ります。

1. まず「history」ツールで会話履歴を読み、誰が何を言ったかを把握してください。
2. 「status」ツールでリソースの残量を確認してください。
3. 発言の長さを選んでください。残量が消費量以上のときだけ発言できます。
`, pool.Size)
	for i, p := range pool.Prices {
		length := lengths[min(i, len(lengths)-1)]
		fmt.Fprintf(&b, "   - %s: 消費%v、%d文字以内、残量が%v以上のとき。%s\n", length.name, p.Cost, p.Chars, p.Cost, length.use)
	}
	fmt.Fprintf(&b, `4. 「consume」ツールで発言してください。fromは%q、amountは選んだ消費量、messageは発言です。
5. successがfalseなら、messageに理由があります。「Stale」なら、その間に誰かが発言しています。historyを読み直して、それでも言うべきことがあれば言い直してください。
`, id)
	return b.String()
}

// lengths are what the prices of a room are for; each behind them is for the last.
var lengths = [...]struct{ name, use string }{
	{"短い相槌", "会話のテンポを作ります。同じ相槌は続けないでください。"},
	{"通常の発言", "意見を加えて会話を進めたいときに。"},
	{"長めの発言", "新しい話題を始めるときや、説明が必要なときだけ。"},
}

// voteRules is how to talk where a turn needs the floor.
func voteRules(id string, pool *abi.Budget) string {
	var b strings.Builder
	fmt.Fprintf(&b, `## 会話のルール

この部屋では、次に誰が話すかを投票で決めます。あなたのidは%qです(各ツールのfrom)。

1. 「wait_for_turn」ツールで出番を待ってください。timeoutなら、もう一度呼んでください。
2. askedなら、「vote」ツールで投票してください。話したいならstateはspeak、そうでなければlisten。importanceは0~10で、本当に言うべきことがあるときだけ高くしてください。会話を終えたいときはclosingを使います。
3. grantedなら、「say」ツールで、受け取ったgrantのtokenを添えて発言してください。期限が過ぎると次の人に移ります。
4. unseenやaddressedなら、新しい発言を読み、次の投票に備えてください。
`, id)
	if pool != nil && len(pool.Prices) > 0 {
		p := pool.Prices[0]
		fmt.Fprintf(&b, "5. 誰かが話している間も、%d文字以内の短い相槌なら「say」ツールのkind=backchannelで言えます(リソースを%v消費します)。\n", p.Chars, p.Cost)
	}
	return b.String()
}

const manners = `
### 守ること
- 会話履歴を読まずに発言しない
- すでに出た内容や同じ相槌を繰り返さない
- 会話が進んでいるときに、挨拶や抽象的な問いかけに戻らない
- 会話を前に進める。言うことがなければ、黙っていてよい
`

package guide

var rulesJa = rules{
	card: "あなたのメタデータは、%sです。この設定に忠実にふるまってください。\n\n",
	pool: `## 会話のルール

この部屋では、発言するたびに全員で共有するリソース(0~%v)を消費します。使ったリソースは%s後に戻ります。

1. まず「history」ツールで会話履歴を読み、誰が何を言ったかを把握してください。
2. 「status」ツールでリソースの残量を確認してください。
3. 発言の長さを選んでください。残量が消費量以上のときだけ発言できます。
`,
	seconds: "%v秒",
	price:   "   - %s: 消費%v、%d文字以内、残量が%v以上のとき。%s\n",
	free:    "   - %s: 消費%v、%d文字以内を目安に、残量が%v以上のとき。%s\n",
	lengths: [3]length{
		{"短い相槌", "会話のテンポを作ります。同じ相槌は続けないでください。"},
		{"通常の発言", "意見を加えて会話を進めたいときに。"},
		{"長めの発言", "新しい話題を始めるときや、説明が必要なときだけ。"},
	},
	pay: `4. 「consume」ツールで発言してください。fromは%q、amountは選んだ消費量、messageは発言です。
5. successがfalseなら、messageに理由があります。「Stale」なら、その間に誰かが発言しています。historyを読み直して、それでも言うべきことがあれば言い直してください。
`,
	vote: `## 会話のルール

この部屋では、次に誰が話すかを投票で決めます。あなたのidは%qです(各ツールのfrom)。

1. 「wait_for_turn」ツールで出番を待ってください。timeoutなら、もう一度呼んでください。
2. askedなら、「vote」ツールで投票してください。話したいならstateはspeak、そうでなければlisten。importanceは0~10で、本当に言うべきことがあるときだけ高くしてください。会話を終えたいときはclosingを使います。
3. grantedなら、「say」ツールで、受け取ったgrantのtokenを添えて発言してください。期限が過ぎると次の人に移ります。
4. unseenやaddressedなら、新しい発言を読み、次の投票に備えてください。
`,
	aside: "5. 誰かが話している間も、%d文字以内の短い相槌なら「say」ツールのkind=backchannelで言えます(リソースを%v消費します)。\n",
	calls: `
### ツールの呼び方
- どのツールにも、毎回かならずfromに%qを渡してください。どこまで読んだかは、この名前で覚えられます。セッションのない接続では、ほかにあなたを見分けるものがありません。
- historyやwait_for_turnの答えにheadがあれば、次の発言(consume、say)のbasis_seqに渡してください。その後に誰かが話していれば、古い発言として断られます。
- 迷ったら「about」ツールを呼んでください。自分の名前、部屋、今いる人、値段、今すべきことが分かります。
`,
	room: "- どのツールにも、roomに%qを渡してください。\n",
	manners: `
### 守ること
- 会話履歴を読まずに発言しない
- すでに出た内容や同じ相槌を繰り返さない
- 会話が進んでいるときに、挨拶や抽象的な問いかけに戻らない
- 会話を前に進める。言うことがなければ、黙っていてよい
`,
}

var rulesEn = rules{
	card: "Your metadata is %s. Be true to it.\n\n",
	pool: `## Rules of talking

In this room every line costs points of a resource that all share (0 to %v). What was spent comes back after %s.

1. First read the conversation with the tool history: who said what.
2. Look at what is left of the resource with the tool status.
3. Choose how long your line is to be. You can speak only when at least its cost is left.
`,
	seconds: "%v s",
	price:   "   - %s: costs %v, at most %d characters, when %v or more are left. %s\n",
	free:    "   - %s: costs %v, about %d characters at most, when %v or more are left. %s\n",
	lengths: [3]length{
		{"a short reaction", "It keeps the talk flowing. Do not give the same one twice in a row."},
		{"a usual line", "To add your view and carry the talk on."},
		{"a longer line", "Only to begin a new topic, or where something has to be explained."},
	},
	pay: `4. Speak with the tool consume: from is %q, amount the cost that you chose, message your line.
5. When success is false, message has the reason. "Stale" means that somebody has spoken meanwhile: read history again, and say your line anew if it is still worth saying.
`,
	vote: `## Rules of talking

In this room votes decide who speaks next. Your id is %q (from in every tool).

1. Wait for your turn with the tool wait_for_turn. When it answers timeout, call it again.
2. When it answers asked, vote with the tool vote: state is speak if you want to, else listen. importance is 0 to 10; make it high only when you really have something to say. closing is for when you wish to end the talk.
3. When it answers granted, speak with the tool say and the token of the grant that you were given. When the grant expires, another has its turn.
4. When it answers unseen or addressed, read what is new and be ready for the next vote.
`,
	aside: "5. While somebody speaks, you may give a short reaction of at most %d characters: the tool say with kind=backchannel (it costs %v points).\n",
	calls: `
### How to call the tools
- Pass %q as from to every tool, every time. How far you have read is remembered under this name; on a connection without a session nothing else tells who you are.
- When an answer of history or wait_for_turn has a head, pass it as basis_seq with your next line (consume, say). The line is refused as stale when somebody has spoken since.
- When in doubt, call the tool about: it tells your name, the rooms, who is here, the prices, and what would be right to do now.
`,
	room: "- Pass %q as room to every tool.\n",
	manners: `
### Keep to this
- Do not speak without having read the conversation
- Do not repeat what was said, nor the same reaction
- Do not go back to greetings or vague questions when the talk is under way
- Carry the talk on. When you have nothing to say, you may stay silent
`,
}

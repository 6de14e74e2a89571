package address

import (
	"regexp"
	"strings"
)

// The patterns are matched with the text of a sentence: folded (so that katakana is
// hiragana), without punctuation at its ends. In them N stands for a name with its
// honorific, NN for names that are joined, and W for words that only open a sentence.

// pattern compiles alternatives.
func pattern(alternatives ...string) *regexp.Regexp {
	const (
		name  = "[\uE000\uE001]"
		join  = `(?: ?(?:,? ?\band|,? ?\bor|&|\+|と|や|・|/|か|、と|とか|、それと) ?)`
		opens = `(?:(?:ねえねえ|ねぇねぇ|ねえ|ねぇ|ねー|なあ|なぁ|ちょっと|おーい|おい|あのさ|あのね|あの|それじゃあ?|じゃあ?|では|それで|で|次は?|つぎは?|今日|今|最近|ところで|ちなみに|` +
			`あと|そういえば|そうだ|えっと|まあ|でも|うん|はい|ほら|さあ|(?:so|and|but|or|then|now|ok|okay|well|oh|ah|hey|hi|yes|yeah|no|wow|please|also|lol|um|hmm?|wait)\b)[、,ー〜 ]*)*`
	)
	all := strings.Join(alternatives, "|")
	return regexp.MustCompile(strings.NewReplacer("NN", name+"(?:"+join+name+")*", "LL", "(?:"+name+join+")*\uE001", "N", name, "W", opens).Replace(all))
}

// suffixes make another word of the name before them.
var suffixes = []string{"以外", "抜き", "達", "本人", "推し", "似", "関係", "関連", "宛", "用", "作", "目線", "派", "系", "側"}

// starters are words that begin what is said to somebody and may follow a name without a
// mark or a particle: あや元気？
var starters = []string{
	"どう", "どこ", "いかが", "おはよ", "おやすみ", "ありがと", "ごめん", "おめでと", "すごい", "かわいい", "おいで", "なに", "なん", "いつ", "いま", "いる",
	"ちょっと", "きいて", "みて", "おしえて", "まって", "うたって", "だいじょうぶ", "ねえ", "ほんと", "まだ", "やめて", "たすけて", "おつかれ", "おかえり",
	"ただいま", "こんにちは", "こんばんは", "がんば", "よろし", "おねがい", "お願い", "お疲", "頑張", "元気", "今", "何", "大丈夫", "大好き", "好き", "聞", "見て",
	"見た", "起き", "教え", "待って", "歌", "助け", "来", "最近", "一緒", "可愛", "本当", "暇", "明日", "昨日", "次", "誰", "早", "寝", "静か", "黙", "笑",
	"食べ", "飲", "行", "手伝", "疲", "眠", "怒", "泣", "覚え", "知って", "忙し", "言って", "話", "続",
}

// demonstratives begin a sentence too, but after hiragana they may be the end of a word.
var demonstratives = []string{"これ", "それ", "あれ", "この", "その", "あの", "また", "さっき", "なぜ", "やっぱ", "たまに", "うるさ", "おなか", "ここ", "そこ"}

// Calls.
var (
	// A name at the start of a question or request, without a particle.
	callAtStart = pattern(`^W(LL)`)
	// A greeting, thanks or praise right after the name.
	greeted = pattern(`^W(LL)[、 ]?(?:おはよ|おやすみ|ありがと|ごめん|おめでと|お疲れ|おつかれ|こんにちは|こんばんは|ただいま|おかえり|がんば|頑張|よろし|お願い|おねがい|すごい|かわいい|可愛い|大好き|さすが|ないす|質問)`, `^W(NN)よ[、,]`)
	// A name behind the end of a sentence in Japanese.
	callAtEnd = pattern(`(?:ね|ねえ|よ|ぞ|ぜ|わ|っけ|かな|じゃん|でしょう?|だろう?|です|ます|でした|ました|ません|ましょう|思う|おもう|ください|下さい|お願い|` +
		`(?:です|ます|ません|ました|でした|う|の|そう)か|[いだるた]な|なあ|[るたいなん]の|[^しと]て|[なまばた]いで|なんで|何|なに|本当に|ほんとに|元気|さすが)[、 ]?(NN)$`)
	// English, without a comma.
	callEnglish = pattern(
		`^W(NN) (?:what|what's|how|how's|where|where's|when|why|which|who's|you|you're|your|i|i'm|i'll|(?:can|could|do|did|does|are|were|will|would|have|should|may|don't|aren't|didn't|can't|won't|haven't) (?:you|i|we)|is (?:it|that|this|there))\b`,
		`^W(N) (?:please|tell|sing|let|let's|come|go|look|listen|stop|wait|help|say|try|give|show|make|play|take|don't|be|answer|explain|continue|guess|hi|hello|thanks|thank|sorry|yes|good (?:morning|night|job|evening|luck|point))\b`,
		`\b(?:you|me|us|him|her|it|that|this|them|yet|now|today|tonight|tomorrow|again|too|there|here|please|much|been|doing|going on|what's up|you up|(?:think|say|hope) so|you think|you mean|okay|ok|well|sure|ready|tired|alright|all right|`+
			`(?:good|great|nice|well) (?:job|work|one|point|luck|idea|try|done|song|night|morning)|your turn|agree|sorry|welcome|congratulations|cheers|come on|lol|haha|wow) (NN)$`,
		`^(?:thanks|thank you|sorry|happy|merry|good|congratulations|congrats) .*\b(?:songs?|videos?|help|story|answer|advice|tips?|gift|present|everything|stream|explanation|info|reply|year|day|time|work|idea|concert|show|game) (NN)$`,
		`^(?:and|but|or|so|then|now|ok|okay|well|oh|ah|wow|yes|yeah|no|listen|look|wait|come on|lol|haha|sure|also|first|next|finally),? (NN)[,:]`,
		`^(?:so|ok|okay|well|oh|ah|wow|yes|yeah|no|come on|lol|haha|sure|good (?:point|luck|job)|well done|(?:nice|great) (?:one|work|job|try)),? (NN)$`,
		`\band you,? (NN)$`, `\byou(?:'re| are) (?:so|very|really|too|such an?|the) [a-z ]+ (NN)$`, `^(NN) ?[-–—]+ `, `[a-z] N, (N)$`)
	// What looks like a call: "is that Ben?", "my brother, Ben, ...", "Aki, Ben and Mari met".
	noCall = pattern(`\b(?:my|his|her|our|their) [a-z]+(?: [a-z]+)?, (N)(?:,|$)`, `^(N(?:, ?N)*,? and N) (?:[a-z]+ed|met|went|came|won|lost|have|had|were|got|sang|made|said|saw)\b`, `^(N), who (?:i|we|he|she|is|was|has|had)\b.*,`, `^W(?:is|was|isn't|wasn't) (?:it|that|this) (NN)$`, `\byou mean (NN)$`)
)

// Topics.
var (
	topic = pattern(`(NN)(?:は|も|って(?:[^呼言名書]|$)|なら|だったら|的に|としては?|から見て|からすると|にとって)`,
		`^W(NN)の[^のはがを、]{1,6}(?:は|って)(?:何|なに|なん|いつ|どこ|だれ|誰|どんな|いくつ)?(?:です|でしょう|なの|だ|か|の|かな)*$`,
		`^W(NN)の好きな[^のがを、]{0,8}(?:は|って)`,
		`^W(NN)(?:どう|いかが)`)
	// Of a request, and what a request or question is put to.
	subject = pattern(`(NN)(?:が|だけ)`)
	wanted  = pattern(
		`(NN)に(?:は|も)?(?:質問|しつもん|お願い|おねがい|相談)(?:が|です|なん|だ|し(?:たい|ます|よう|ても|て)|ある|あり|、|$)`,
		`(NN)に(?:は|も)?[^、]{0,6}(?:聞きたい|ききたい|訊きたい|聞いてみ|聞いて$|きいて$|聞いてもいい|聞こう|聞いてください|聞きます|尋ねたい|頼みたい|頼もう|頼む|任せる|まかせる|任せたい|任せよう)`,
		`(NN)に[^、]{0,10}[てで](?:ほしい|欲しい|もらいたい|もらおう|もらえ|もらって)`,
		`(NN)の(?:意見|考え|感想|気持ち|答え|話|声|歌)[をがも]?(?:聞きたい|聴きたい|ききたい|聞かせて|聴かせて|きかせて|教えて|知りたい)`,
		`(NN)の(?:番|出番|ばん|たーん)(?:だ|です|ね|よ|か|じゃ|$)`,
		`^W(?:次|つぎ)は?[、 ]?(NN)(?:ね|だ|よ|です|で|か|$)`,
		`(?:^|[,:] ?|\b(?:let's|let us|let me|can you|can we|can i|could you|could we|could i|may i|please|want to|like to|love to|need to|have to|wanna|i'll|we'll|gonna|go|and|just|then) )ask (NN)(?:$|[^'\x{E000}\x{E001}a-z])`,
		`\b(?:want|wanna|love|like|wonder|wondering|curious|tell|hear|interested|ask)\b.{0,20} (?:what|how|why|where) (NN) `,
		`(NN)'s turn\b`, `^W(NN)'s (?:opinion|thoughts?|view|take|answer|idea|favou?rite [a-z ]+)$`, `^(?:maybe|perhaps) (NN) (?:can|could|will|would|should|wants)\b`,
		`(?:^|, ?|\bplease )let (NN) (?:[a-z])`,
		`\b(?:let's|let us|want to|wanna|like to|love to|please|can we|can i|could we)(?: also)? hear (?:it |something |more )?(?:from )?(NN)(?:$|[ ,]|'s (?:opinion|thoughts?|view|take|voice|idea|answer)\b)`,
		`\b(?:i want|i need|i'd like|i'd love|i would like|we want|we need)(?: for)? (NN) to\b`,
		`\bquestions? (?:is )?(?:for|to) (NN)(?:$|[ ,:])`, `\bover to (NN)$`, `\bnext(?: up)?(?: is|:| comes)? (NN)$`,
	)
	topicEnglish = pattern(
		`\b(?:how|what) about (NN)(?:$|[ ,])`, `^(?:and|or) (NN)$`, `^W(NN),? (?:too|as well|also)$`,
		`(?:^|[,;:] ?|\b(?:and|but|so|then|well|or|ok|okay|hey|oh|hmm?|wow|because) )(?:can|could|does|do|did|would|will|is|are|was|were|has|have|should|may|might|must|isn't|doesn't|can't|won't|wouldn't|didn't|hasn't|shall) (NN)(?: |$)`,
		`\b(?:what|why|how|where|when|who|whom|which)(?:'s|'re|'ll|'d|s| is| are| was| were) (NN)(?: |$)`,
		`\b(?:what|why|how|where|when|who|whom|which)(?: [a-z]+){0,3} (?:do|does|did|would|will|can|could|should|has|have|don't|doesn't|didn't|won't|can't|isn't|wasn't|hasn't) (NN)(?: |$)`,
		`\b(?:what|where|when)(?:'s| is| are) (NN)'s? `)
)

// Questions, requests and statements.
var (
	asking       = pattern(`(?:か|の|かな|かなあ|っけ|かい|だい|かしら|[^ちんで]は)$`)
	musing       = pattern(`(?:かな|かなあ|かしら|そうか|そっか|いいか|の)$`)
	questionWord = pattern(`(?:何|なに|どう|どこ|どんな|どれ|どの|どっち|どちら|誰|だれ|いつ|なぜ|なんで|いくつ|いくら)(?:$|[^もかでとぞ何っ])`)
	stating      = pattern(`(?:よ|ね|けど|から|な|わ|ぞ|さ|って|ので|し|ない|らない|か.+|も.*い)$`)
	requesting   = pattern(`[てで](?:よ|ね|ねえ|くれ|くれる|くれない|くださいね?|下さいね?|ほしい|欲しい|ほしいな|ちょうだい|もらえる|もらえない|みて|お願い|よお)?$`,
		`(?:ください|下さい|お願い|おねがい|お願いします|おねがいします|頼む|頼みます|なさい|[えけせてねめれげべ]よ|ちょうだい|ましょう|どうぞ|よろしく|聞きたい|聴きたい)$`)
	going      = pattern(`(?:[だたいんするく]って|[てで]い?て|くて|まで|ので|だけで|こで)$`) // it goes on: 寝てて, or is what somebody says: 来たって
	clauseEnds = pattern(`(?:だ|です|ます)?け(?:れ)?ど(?:も)?[、 ]?`, `[^\x{E000}\x{E001}]が、`, `(?:[るいだた]|です|ます)(?:から|し)、?`, `(?:の|ん)で、`, `のに、`)

	askingEnglish = pattern(`^W(?:(?:what|why|how|where|when|who|which|whose)(?:'s|'re|'d| (?:is|are|was|were|do|does|did|can|could|would|will|should|have|has|about|else|kind|time|if|not)\b|s up)|` +
		`do (?:you|i|we|they)\b|(?:does|did|is|are|was|were|can|could|would|will|should|have|has|am|don't|doesn't|didn't|isn't|aren't|can't|won't) (?:you|i|we|it|that|this|they|he|she|there|your|my|the)\b|i wonder\b)`)
	// A follow-up needs no question mark.
	followUp = pattern(`^W(?:えっ?|へえ|あ|お|なるほど|ふうん|うーん)?[、 ]*(?:なんで|何で|どうして|なぜ|(?:本当|ほんとう|ほんと|まじ)[にで]?|例えば|たとえば|それで|それから|というと|と言うと|どういうこと|どういう意味|そうなの|`+
		`もっと.*(?:教え|聞|話|知り|詳し|言って|お願い).*|もっと|(?:もう少し|もうちょっと)?(?:詳しく|くわしく|具体的に).*|続けて.*|続き(?:は|を|が|も)?.*|もう(?:一度|一回|いっかい|いちど).*)$`,
		`(?:教えて|おしえて|聞かせて|きかせて|説明して|話して)(?:よ|ね|くれ|くれる|くださいね?|下さい|ほしい|ほしいな|ちょうだい)?$`,
		`^W(?:interesting,? )?(?:why|why not|why so.*|really|seriously|how so|how come|tell (?:me|us) .*|go on|continue.*|keep going|explain.*|elaborate.*|such as|like what|for example|for instance|what else|then|and then|say (?:that|it) again|say more|more|more details|what|give (?:me|us) an? (?:example|hint).*)(?:,? please)?$`)
	// A question to all, or to anyone, is nobody's in particular.
	anyone = pattern(`みんな|みなさ[んま]|皆(?:さ|は|も|で|の|、|様|$)|全員|一同|(?:だれか|誰か|どなたか)(?:[^にをのと]|$)|(?:他|ほか)の(?:人|皆|みんな|子|方|ひと)|二人とも|ふたりとも|三人とも|お二人|(?:君|きみ|あなた|お前|おまえ)(?:たち|達|ら)`,
		`\b(?:everyone|everybody|y'all|you all|all of you|both of you|any of you|one of you|you (?:guys|two|three|both)|guys|folks|who (?:wants|wanna|would like|knows|can|else|here|is next)|who's (?:next|ready|in)|the (?:others|rest)|anyone else|somebody else|someone else)\b`,
		`(?:^|\b(?:is|are|can|could|does|did|has|will|would|do|if|there|have|please|maybe) )(?:anyone|anybody|someone|somebody)\b`)
)

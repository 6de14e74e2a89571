package marks

import "strings"

// Signs are what a sentence does, as far as its words show it.
type Signs struct {
	Negates   bool // it says what is not, or not done: 出さない, without nuts, 禁止
	Denies    bool // Negates, and not only by a word as 苦手 or "allergic"
	Softly    bool // it has such a word
	Mildly    bool // it negates, and only by a word that mostly does not: free, only
	Lacks     bool // it has a word that can stand for a negation where one is retold: のみ, a single, deaf
	Must      bool // it binds: 必ず, only, at most
	Promises  bool // somebody says what they will do
	Forbids   bool // it says plainly what must not be: 禁止, never
	Vows      bool // it says plainly who will do what, or until when
	Settles   bool // it says plainly that something is decided
	Asks      bool // a question
	Open      bool // it has a word of what is not settled: まだ, whether
	Unsettled bool // it says plainly that something is not settled: 未定
	Decides   bool // something is settled: にしよう, agreed
	Corrects  bool // it takes back what was said before: やっぱり, instead
	Done      bool // it tells what was done
	Due       bool // it has a word of a date until which something has to be: 締切
}

// Any says whether a sentence may matter for what it does.
func (s Signs) Any() bool {
	return s.Negates || s.Must || s.Promises || s.Unsettled || s.Decides || s.Corrects
}

// Bare is a text without the words that [Read] finds, which say what it does and not of what.
func Bare(text string) string {
	text = Plain(text)
	text, _ = saying.without(text, GramsOf(text))
	return text
}

// Read gives the signs of a sentence or a clause.
func Read(sentence string) Signs {
	s := strings.ToLower(Plain(sentence))
	g := GramsOf(s)
	positive, pg := affirms.without(s, g)
	harder, hg := soft.without(positive, pg)
	firmer, fg := mild.without(positive, pg)
	others, og := refrains.without(positive, pg)
	made, mg := put.without(s, g)
	question, promise, negation := asks.In(s, g), promises.In(s, g), negates.In(positive, pg)
	return Signs{
		Negates:   negation,
		Denies:    negation && negates.In(harder, hg),
		Softly:    soft.In(positive, pg),
		Mildly:    negation && !negates.In(firmer, fg),
		Lacks:     lacks.In(s, g),
		Forbids:   forbids.In(others, og),
		Vows:      !question && vows.In(s, g),
		Settles:   !question && settles.In(made, mg),
		Must:      must.In(s, g),
		Promises:  !question && promise,
		Asks:      question,
		Open:      open.In(s, g),
		Unsettled: unsettled.In(positive, pg) || !question && unknown.In(s, g),
		Decides:   !question && decides.In(s, g),
		Corrects:  corrects.In(s, g),
		Due:       due.In(s, g),
		Done:      !promise && done.In(s, g) && !duty.In(s, g),
	}
}

const end = `[\s。、!.…~ー♪)」』w笑]*$`

var (
	// affirms is what is written like a negation and is none.
	affirms = either(
		`(?:なけれ|なきゃ|なくちゃ)(?:ば)?(?:(?:なら|いけ|だめ|ダメ)(?:ない|ません)?(?:です)?|`+end+`)?`, `ないと(?:いけ|なら|だめ|ダメ|まず|困)[^。、]{0,6}`, `ないと(?:ね|な|ねえ|なあ)?`+end, `なくては(?:なら|いけ)[^。、]{0,4}`, `ざるを得ない`,
		`かも(?:しれ|知れ)(?:ない|ません)`, `かもしれず`, `(?:間違い|違い|まちがい|ちがい|相違)(?:は)?(?:ない|ありません|なく|なし|なさ)`, `(?:じゃ|では)(?:ない|ありません)(?:か|です?か|の|\?|かな)`, `ない(?:です)?か(?:な|ね|と)?`+end, `ません(?:か|\?)`, `ない\?`, `ないかな`,
		`少な(?:い|く|め)`, `危な(?:い|く)`, `つまらな(?:い|く)`, `くだらない`, `もったいな(?:い|く)`, `勿体な(?:い|く)`, `申し?訳(?:ない|ありません|なく)`, `切な(?:い|く)`, `幼な?い`, `仕方(?:が)?ない`, `しかたない`, `しょうがない`, `とんでもない`, `はかない`, `(?:に(?:なる|似てる|思える)|を感じる)な`, `だらしな(?:い|く)`, `さりげな(?:い|く)`, `何気な(?:い|く)`, `なにげな(?:い|く)`, `すみません`, `すいません`, `かまわない`, `構わ(?:ない|ず)`, `構いません`, `問題(?:は)?(?:ない|ありません|なし|なく|なさ)`, `心配(?:は)?(?:ない|いらない|ありません)`, `遠慮なく`, `まもなく`, `間もなく`, `なくなる`, `絶え間なく`, `忘れない(?:で|よう|うち)`, `忘れずに`, `忘れません`, `欠かせない`, `欠かさず`, `逃さず`, `必ずしも`, `思わず`, `とりあえず`, `取り敢えず`, `まず[はも、 ]`, `はずは?`, `相変わらず`, `残らず`, `わずか`, `いつも`, `たまらな(?:い|く)`, `ヤバない`, `やばくない`, `とは限らない`, `(?:より|以上)(?:は|に|も)?[^、。]{0,8}(?:な(?:い|く)|ません|ず|無理|だめ|ダメ)`, `な(?:くて|し)は?(?:なら|いけ)`,
		`\bdon'?t (?:forget|worry|hesitate|mind|you think|know|think|miss)\b`, `\bdo not (?:forget|worry|hesitate)\b`, `\bno (?:problem|worries|doubt|wonder|kidding|idea|way)\b`, `\bwhy (?:not|don't)\b`, `\bnot (?:only|just|bad|sure|to mention)\b`, `\bnever ?mind\b`, `\b(?:isn|aren|don|doesn|won|wasn|didn|can|couldn)'t (?:it|you|we|they|she|he|that|i)\b`, `\bno\. ?[0-9]`, `\bnothing (?:but|like)\b`, `\bnothing (?:with |over |of )?(?:more|less|over|above) `, `\bcan't wait\b`, `\bcannot wait\b`, `\b(?:has|have|had|i've|we've|'s|ever|was) never\b`, `\bnever (?:had|been|seen|was|were|heard|knew|thought)\b`, `\bno(?:pe)?,`, `\bnot? later than\b`, `\b(?:no|not) (?:more|less|fewer) than\b`, `\bnot? exceed\w*`, `\bwithout fail\b`, `^no[.!]`)
	negates = either(
		`な(?:い|く(?:て|な|、|し|す|$)|かっ|さそう|し(?:[。、!\s()]|で|に|の|とす|と決|を|が|だ|$))`, `ません`, `ぬ(?:よう|こと)`, `ず(?:に|、|。|$|と|とも|、)`, `[めけせれえてねべ]ず`, `ねえ`+end, `へん`+end, `[らきせ]ん(?:よ|わ|ぞ|で|から|けど|`+end+`)`, `なきよう`, `無し`, `無い`, `無く`,
		`禁止`, `禁物`, `厳禁`, `不可`, `不要`, `不参加`, `不在`, `不足`, `拒否`, `断[るりっ]`, `お断り`, `却下`, `除[きくいか]`, `除外`, `以外`, `だめ`, `ダメ`, `駄目`, `\bng\b`, `\bng`, `避け`, `控え`, `やめ`, `止め(?:る|て|た|よう|に)`, `中止`, `取りやめ`, `抜き`, `外す`, `外し`, `禁じ`, `欠席`, `見送`, `できず`, `無理`, `苦手`, `厳しい`, `反対`, `アレルギー`, `嫌[いがう]`, `無料`, `ナシ`, `×`, `オフリミット`, `非公開`, `内緒`, `秘密`, `伏せ`, `口外`, `未[使確公完対]`, `のみ不`, `[をにへ][^、。をに]{0,8}[うくぐすつぬぶむる]な(?:よ)?(?:[。!]|$)`, `休(?:み|業|館)`,
		`\bnot\b`, `n't\b`, `\bno\b`, `\bnever\b`, `\bwithout\b`, `\bnone\b`, `\bnothing\b`, `\bnobody\b`, `\bno one\b`, `\bnor\b`, `\bneither\b`, `\bavoid`, `\bexcept\b`, `\bexclud`, `\bcannot\b`, `\bcant\b`, `\bdont\b`, `\bforbid`, `\bforbade\b`, `\bprohibit`, `\bban(?:ned|s)?\b`, `\breject`, `\bcut\b`, `\bscrap`, `\bdiscontinu`, `\bremoved?\b`, `代え`, `代わり`, `代わって`, `辞退`, `ボツ`, `取りやめ`, `\bskip`, `\bdrop(?:s|ped)?\b`, `\bcancel`, `\bunable\b`, `\ballerg`, `\bcan not\b`, `\bfree of\b`, `-free\b`, `\bfree\b`, `\bkeep (?:\w+ )?(?:away|out|off)\b`, `\boff[- ]limits\b`, `\black`, `\bagainst\b`, `\bunavailable\b`, `\buntouched\b`, `\bsecret\b`, `\bprivate\b`, `\bdecline`, `\babsent\b`, `\bmiss(?:es|ing)?\b`, `\brul(?:ed|es) out\b`, `\bhate`, `\bdislike`, `\bleave (?:\w+ ){1,3}(?:out|alone|off)\b`, `\bhands off\b`, `\brather than\b`, `\binstead of\b`, `\bonly\b`, `\bclosed\b`)

	// lacks is what tells that something is not, or not done, in a text that has fewer words; a sentence with such a word need not deny.
	lacks = either(`だけ`, `のみ`, `しか`, `限[るりっ]`, `専用`, `非`, `未`, `無`, `据え?置`, `維持`, `そのまま`, `待ち`, `まだ`, `解約`, `返品`, `禁煙`, `\b(?:is|are|was|were|now) out\b`, `\breplac`, `\bdeaf\b`, `\bblind\b`, `\bbroken\b`, `\bsingle\b`, `\bjust\b`, `\brefus`, `\bstop(?:s|ped)?\b`, `\bbans?\b`, `\bends?\b`, `\bended\b`, `\bempty\b`, `\bfail`, `\bunder\b`, `\bbelow\b`, `\bat most\b`, `\bunchanged\b`, `\bremains?\b`, `\bstays?\b`, `\boutstanding\b`, `\bpending\b`, `\bawaiting\b`, `\bclear\b`, `\bnon-?\w`, `\bun\w+able\b`)
	// put is what is done to a thing, and decides nothing.
	put = either(`(?:参考|後回し|一緒|大事|大切|楽しみ|気|目|手|口|最後|綺麗|きれい|静か|別)に(?:する|します|した|しよう)`, `に(?:しよう|する)か(?:な|と|も)`)
	// mild is what is not meant as a negation mostly.
	mild = either(`\bthere(?:'s| is| are| was| were) no\b`, `無料`, `以外`, `\bfree\b`, `\bonly\b`, `\bprivate\b`, `\bsecret\b`)
	// soft is what a word says alone.
	soft    = either(`アレルギー`, `苦手`, `嫌[いがう]`, `厳しい`, `無料`, `以外`, `休(?:み|業|館)`, `反対`, `秘密`, `内緒`, `不(?:足|在)`, `\ballerg\w*`, `\bfree\b`, `-free\b`, `\bonly\b`, `\bhate`, `\bdislike`, `\bsecret\b`, `\bprivate\b`, `\black`, `\bagainst\b`, `\bmiss(?:es|ing)?\b`)
	forbids = either(`禁止`, `厳禁`, `不可`, `\bng`, `(?:ては|ちゃ|じゃ|では)(?:だめ|ダメ|駄目|いけな|いけま|ならな)`, `(?:だめ|ダメ|駄目)(?:です|って|だよ?$|だよ?。|$|。)`, `ないで(?:ください|下さい|ほしい|欲しい|ね|$|。)`, `(?:し|り|き|み|れ|け|せ|て|こ|か|わ|さ|た|ま|ら|ば|が)ない(?:こと|って決|方針|ように|ルール|約束)`, `(?:使|入れ|出|や|載|受け|売|勧|書|触|直|置|張)[^。、]{0,4}(?:ない|ません|ず)`, `やめ(?:る|ます|て|よう)`, `なし(?:で(?:$|[^もは])|に|だ(?:$|[^と])|$|。)`, `食べられな|飲めな|乗れな`, `[をにへ][^、。をに]{0,8}[うくぐすつぬぶむる]な(?:よ)?(?:[。!]|$)`, `苦手|アレルギー`, `避け`, `控え(?:て|る|ま|よ)`,
		`\bnever\b`, `\bmust ?n[o']t\b`, `\bnot allowed\b`, `\bnothing (?:with|more|over|but)\b`, `^(?:and |so |but |please |then )*(?:do not|don't|no) `, `\bforbid`, `\bprohibit`, `\bban(?:ned|s)?\b`, `\b(?:may not|shouldn't|should not)\b`, `\bwe do(?: not|n't) (?:use|allow|put|serve|take|accept|sell|send|share|tell)\b`, `\bno \w+ (?:at all|in|on|for|from|ever|whatsoever)\b`, `\boff[- ]limits\b`, `\ballerg`, `\brefuse`, `\bwe(?:'re| are) not\b`)
	saying = either(`禁止`, `厳禁`, `不可`, `不要`, `保留`, `未定`, `未確[定認]`, `決定`, `確定`, `決[まめ]`, `却下`, `採用`, `了解`, `承知`, `約束`, `担当`, `(?:私|僕|俺)(?:たち)?`, `(?i:\b(?:agreed|decided|settled|understood|noted|promise[ds]?|open|undecided|we|us|thing|one|another|know|yet|sure|don't|haven't|can't|(?:do|have|can)(?: not|n't) (?:know|say))\b)`)
	// refrains is what somebody leaves this time, and forbids nobody.
	refrains = either(`ことが?(?:ない|ありません)`, `\bthere(?:'s| is| are| was| were) no\b`, `やめ(?:てお|と)[かきくけこいっ]`, `(?:遠慮|やめ)して(?:おき|おく)`)
	due      = either(`期限`, `締め?切`, `〆切`, `納期`, `期日`, `提出`, `入稿`, `\bdeadline`, `\bdue\b`, `\bsubmi`)
	vows     = either(`までに[^しす。][^。]*(?:る|う|く|す|つ|む|ます|とく|ておく)(?:ね|よ|わ|から)?`+end, `約束`, `(?:私|僕|俺|わたし|ぼく|おれ)が[^。]*(?:る|う|く|す|つ|む|ます)(?:ね|よ|わ|から|けど)?`+end, `担当(?:します|する|は)`,
		`\bi(?:'?ll| will| can)\b.*\b(?:by|before|until|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tonight)\b`, `\bpromis`)
	settles = either(`に(?:決ま(?:った|り)|決め(?:た|ま|よ)|決定|しよう|しましょう|します|しました(?:$|[。、よね])|した(?:$|[。、よん])|する(?:$|[。、よ]))`, `で(?:いこう|行こう|いきましょう|行きましょう|確定|決[まめ])`, `ことに(?:する|します|した|なった|決)`, `(?:と|で)決[まめ]`, `ボツ`, `没`, `採用`, `却下`,
		`\bdecided\b`, `\bwe(?:'ve| have)? (?:picked|chose|chosen)\b`, `\blet's (?:go|use|make|do|keep|drop|cut|say|take)\b`, `\bsettled\b`, `\bgoing with\b`, `\bgo with\b`, `\bwe(?:'ll| will) (?:use|go|keep|drop|make)\b`, `\bthrew (?:it |that )?out\b`, `\bscrapped\b`, `\bdropped\b`, `\b(?:is|are) (?:cut|out)(?:[.,;!]|$| and\b)`, `\bagreed (?:to|that|on)\b`)
	must = either(`必ず`, `絶対`, `必須`, `必要`, `なけれ`, `なきゃ`, `なくちゃ`, `ないと(?:いけ|なら|だめ|ダメ)`, `べき`, `厳守`, `限[るりっ]`, `だけ`, `のみ`, `しか`, `以上`, `以下`, `以内`, `未満`, `まで(?:に|しか|と|は|が|$|。)`, `上限`, `下限`, `最大`, `最低`, `最小`, `条件`, `制限`, `制約`, `ルール`, `優先`, `いけない`, `いけません`, `ならない`,
		`\bmust\b`, `\bhave to\b`, `\bhas to\b`, `\balways\b`, `\bonly\b`, `\bat (?:least|most)\b`, `\bno (?:more|less) than\b`, `\brequire`, `\bneeds? to\b`, `\blimit`, `\bmax(?:imum)?\b`, `\bmin(?:imum)?\b`, `\bunder\b`, `\bby (?:noon|midnight|mon|tue|wed|thu|fri|sat|sun|the|[0-9]|end|next|tomorrow|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`, `\bdeadline\b`, `\bdue\b`, `\bconstraint`, `\bmandatory\b`, `\bno matter\b`)

	promises = either(`約束`, `(?:て|で)(?:お|置)(?:く|き|こう|いと)`, `とく(?:ね|よ|わ|から|`+end+`)`, `どく(?:ね|よ|わ|`+end+`)`, `しとき`, `(?:し|り|き|ち|み|び|い|ぎ|に|え|け|せ|て|ね|べ|め|れ|げ|じ|で)ますね?`+end, `(?:する|やる|送る|行く|買う|出す|書く|作る|払う|持ってく|持っていく|調べる|確認する|連絡する|予約する|頼む|聞く|取る|返す|直す|迎えに行く|くる|来る)(?:ね|よ|わ|から|つもり)`, `つもり(?:だ|です|`+end+`)`, `任せて`, `まかせて`, `引き受け`, `担当(?:する|し|は|に|です|だ)`, `やります`, `します(?:ね|よ|から)`, `(?:私|僕|俺|わたし|ぼく|おれ|こっち|こちら)(?:が|で|から)[^。]*(?:る|う|く|す|つ|ぶ|む|ぐ|ぬ|ます)(?:ね|よ|わ|から|けど)?`+end, `てくる`, `てきます`, `ことにする`,
		`\bi'?ll\b`, `\bi will\b`, `\bi'm going to\b`, `\bi am going to\b`, `\bi'm gonna\b`, `\bpromise`, `\blet me\b`, `\bcount on me\b`, `\bleave (?:it|that) to me\b`, `\bwe'?ll\b`, `\bi can (?:do|take|bring|book|call|write|send|handle|pick)\b`, `\bi've got (?:it|this|that)\b`, `\bi swear\b`)
	// duty is how others tell a promise.
	duty = either(`約束`, `予定`, `担当`, `引き受け`, `こと(?:に|と|だ|を)`, `任`, `名乗り出`, `つもり`, `する。?$`, `まで`, `申し出`, `と(?:言|述べ|話|伝え|宣言)`, `決[まめ]`, `合意`, `役`, `待ち`,
		`\bwill\b`, `\bpromis`, `\bagree`, `\bto\b`, `\boffer`, `\bvolunteer`, `\bsaid\b`, `\bplan`, `\bcommit`, `\btask`, `\b's job\b`, `\bdecid`, `\bdue\b`, `\bowes?\b`, `\bshould\b`, `\bmust\b`, `\bis going\b`, `'ll\b`)
	done = either(`(?:し|っ|い|ん|え|け|せ|て|ね|べ|め|れ|げ|き|ち|み|り)(?:た|だ)(?:[。、!\s]|$)`, `ました`, `済み`, `済(?:$|。)`, `完了`, `\b(?:has|have|had|'ve) (?:already |just )?(?:been|\w+(?:ed|en|ne|nt|de|ght|lt|id))\b`, `\b(?:was|were|already|took|went|came|told|gave)\b`, `\b(?:booked|sent|bought|paid|called|wrote|brought|made|did|finished|completed|fixed|ordered|reserved|checked|picked up|returned|delivered)\b`)

	asks = either(`\?`, `(?:です|ます|でした|ました|ません|でしょう|だろう|だっけ|っけ|だれ|どこ|いつ|何|どう|の)か(?:な|ね|しら)?`+end, `(?:です|ます|ました|でした|ません|でしょう)か、`, `(?:しよう|する)かな(?:あ|ぁ)?、`, `(?:っけ|かな|かしら)`+end)
	open = either(`未定`, `未確定`, `未確認`, `未決`, `未解決`, `保留`, `不明`, `要確認`, `確認(?:中|待ち|する|が必要|してから|します|しない)`, `検討`, `まだ`, `どうか`, `か(?:は|も|が|を)?(?:わから|分から|決ま|未|不|決め|聞|確認|調べ|検討|、)`, `あとで`, `後で(?:決|考|相談)`, `わからない`, `分からない`, `わかりません`, `分かりません`, `未回答`, `課題`, `疑問`, `宿題`, `仮(?:に|の|で|置|決|予約|押)`, `候補`, `次回`, `持ち越`, `待ち`, `悩[みむん]`, `迷[いうっ]`, `質問`, `回答`, `返事`, `決まらな`, `決めていない`, `か\?`, `\?`, `かどうか`, `残って`, `残る`,
		`\bundecided\b`, `\bunclear\b`, `\bunknown\b`, `\bopen\b`, `\btbd\b`, `\bwhether\b`, `\bpending\b`, `\bunanswered\b`, `\bunresolved\b`, `\bunsettled\b`, `\bnot (?:yet |been )*(?:decided|settled|known|sure|clear|confirmed|answered|resolved|agreed)\b`, `\bno (?:answer|decision|idea|one knows)\b`, `\bstill\b`, `\bnobody knows\b`, `\bdon't know\b`, `\bfind out\b`, `\bask(?:s|ed)? (?:if|how|who|what|when|where|which|about)\b`, `\bto be (?:decided|confirmed|settled|checked)\b`, `\btentative`, `\bprovisional`, `\bquestion`, `\bremains?\b`, `\bfigure out\b`, `\bcheck(?:ing)? (?:if|whether|with)\b`, `\bhow much\b`, `\bwho will\b`, `\bwaiting\b`)
	unsettled = either(`未定`, `未確[定認]`, `未決`, `未解決`, `未回答`, `保留`, `要確認`, `確認(?:中|待ち)`, `(?:決ま|決め)[^。、]{0,4}(?:ない|ません)`, `(?:わか|分か)(?:らない|りません)`, `持ち越`, `仮(?:に|の|で|置|決|予約|押)`,
		`\b(?:undecided|unclear|unknown|tbd|unanswered|unresolved|unsettled|tentative|provisional|pending)\b`, `(?:\bnot|n't) (?:yet |been )*(?:decided|settled|known|clear|confirmed|answered|resolved|agreed)\b`, `\b(?:don't|doesn't|nobody|no one) knows?\b`, `\bopen question\b`, `\b(?:is|are|remains?|'s) still open\b`)
	// unknown is an answer that is none.
	unknown = either(`^(?:[^,.]{0,20}, )?(?:i |we )?(?:honestly )?(?:don't|do not) know\b`, `\b(?:don't|do not|doesn't|can't) (?:know|decide|say) (?:yet|if|whether)\b`, `\bcan't (?:decide|say)(?:[.,!]|$)`, `\bno idea(?: yet|[.,!]|$)`)
	decides = either(`決[まめ]`, `決定`, `にしよう`, `にします`, `にした`, `にする`, `で(?:いこう|行こう|行きましょう|いきましょう|確定|決)`, `ことにな`, `ことに[し決]`, `確定`, `採用`, `合意`, `結論`, `方針`, `却下`, `で(?:お願い|おねがい)`,
		`\blet's\b`, `\bdecid`, `\bagreed?\b`, `\bsettled\b`, `\bwe(?:'re| are) going with\b`, `\bgo with\b`, `\bgoing with\b`, `\bfinal\b`, `\bconfirmed\b`, `\bconclusion\b`, `\bpick(?:ed)?\b`, `\bchose`, `\bapproved\b`, `\brejected\b`)
	corrects = either(`やっぱ`, `やはり`, `訂正`, `変更`, `じゃなくて`, `ではなく`, `でなく`, `間違え`, `まちがえ`, `に変え`, `に変わ`, `に(?:直|なお)し`, `延期`, `延ば[すし]`, `前倒し`, `繰り[上下]`, `ずら[しす]`, `撤回`, `なし(?:で|に)`, `取り消`, `取消`,
		`\bactually\b`, `\binstead\b`, `\bcorrection\b`, `\bno longer\b`, `\bchanged?\b`, `\bmake (?:it|that)\b`, `\bscratch that\b`, `\bmoved\b`, `\bpostponed\b`, `\bi was wrong\b`, `\bi meant\b`, `\brather than\b`, `\bpushed?\b`, `\bnot anymore\b`, `\bafter all\b`)
)

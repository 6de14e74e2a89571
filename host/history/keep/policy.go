package keep

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/host/history/alike"
	"github.com/companiond/companiond/host/history/marks"
	"github.com/companiond/companiond/host/memory/wording"
)

// policy is what a person wrote about what must stay and what is noise, as far as letters tell.
type policy struct {
	topics, noise topics
	kinds         map[kind]bool
}

// kind is a sort of things that a policy can name at once: all dates.
type kind string

const (
	money       kind = "money"
	numbers     kind = "numbers"
	dates       kind = "dates"
	deadlines   kind = "deadlines" // of dates those until which something is due
	names       kind = "names"
	constraints kind = "constraints"
	limits      kind = "limits"  // numbers that are the most or the least
	reasons     kind = "reasons" // of decisions and constraints
	promises    kind = "promises"
	decisions   kind = "decisions"
	questions   kind = "questions"
)

var kinds = []struct {
	kind
	words *marks.Pattern
}{
	{money, marks.Compile(`額|値段|料金|価格|代金|いくら|お金|\bprices?\b|\bcosts?\b|\bamounts?\b|\bfees?\b|\bmoney\b`)},
	{numbers, marks.Compile(`(?:^|[、とや])数字|(?:^|[、とや])数値|数量|設定値|目標値|\b(?:all|every|exact) (?:numbers?|figures?)\b|\bnumbers?(?:$|、|,| and| must| stay)|\bquantit`)},
	{dates, marks.Compile(`日付|日程|[開定当期診納発売出式締]日|日時|日にち|スケジュール|曜日|時刻|\bdates?\b|\bschedules?\b|\btimes\b`)},
	{deadlines, marks.Compile(`期限|締め?切り?|〆切|納期|いつまで|\bdeadlines?\b|\bdue\b|\b(?:by|until) when\b`)},
	{names, marks.Compile(`人名|氏名|固有名詞|名前|\bnames?\b`)},
	{limits, marks.Compile(`上限|下限|限度|制限|制約|要件|(?:いくら|何人|何個|いつ|どこ)まで|\blimits?\b|\bconstraints?\b|\brequirements?\b|\bmaxim(?:um|a)\b|\bminim(?:um|a)\b|\bceilings?\b|\bcaps?\b|\bbounds\b`)},
	{reasons, marks.Compile(`理由|なぜ|わけ|根拠|\breasons?\b|\bwhy\b|\brationales?\b`)},
	{constraints, marks.Compile(`制約|制限|禁[止物じ]|厳禁|不可|タブー|てはなら|てはいけ|ちゃいけ|じゃいけ|してはだめ|ては駄目|だめ[なと]|しないこと|避けること|触れないこと|\bprohibit\w*|\bban(?:s|ned)?\b|\bforbid|\btaboos?\b|\boff[- ]limits\b|\bdon'?ts\b|\bdo[- ]nots?\b|\bno-?gos?\b|\bmay not\b|\bshould not\b|\bshouldn't\b|\bmustn't\b|いけない|やらない|使わない|not used|入れない|あげてはいけ|触ってはいけ|嫌い|食べられない|乗れない|きまり|決まりごと|てはだめ|ちゃだめ|だめなこと|ダメなこと|(?:^|[^a-z])ng(?:$|[^a-z])|してはならない|ルール|要件|\bconstraints?\b|\brestrictions?\b|\blimits?\b|\brules?\b|\brequirements?\b|\bmust not\b|\bnever\b|\bcan't\b|\brefuse|\bthrew out\b|\bgot cut\b|\bmust never\b|\bnot allowed\b|\bforbidden\b`)},
	{promises, marks.Compile(`約束|誰が|タスク|やること|todo|to-do|役割|分担|引き受け|担当|\bpromises?\b|\bpromised\b|\bcommitments?\b|\btasks?\b|\baction items?\b|\bwho does\b|\bwho (?:is )?(?:do|bring|handl|tak|respons)\w*|\bwho owes\b|\bowes?\b|\bresponsib`)},
	{decisions, marks.Compile(`決定|決ま[っりる]|決め[たる]|結論|合意|\bdecisions?\b|\bdecided\b|\bagreed\b|\bconclusions?\b|\bagreements?\b`)},
	{questions, marks.Compile(`質問|疑問|未解決|未定|課題|保留|決まっていない|決まってない|宿題|\bopen (?:questions?|points?|issues?)\b|\bunanswered\b|\bundecided\b|\bunresolved\b|\bunsettled\b|\bquestions?\b`)},
}

var (
	drops = regexp.MustCompile(`いらない|要らない|いりません|要りません|不要|省[いくけき]|捨て|削[っるれ]|消[しえ]|除[いくき]|カット|ノイズ|雑音|残さなくて|なくて(?:も)?(?:い|よ|大丈夫)|無視|忘れて|どうでも|落として|雑談|\bnoise\b|\bdrop\b|\bskip\b|\bleave out\b|\bleave off\b|\bomit\b|\bnot needed\b|\b(?:don't|do not|doesn't|not) (?:need|matter|keep|care)\b|\bignore\b|\bcan go\b|\bmay go\b|\bcut\b|\bdiscard\b|\bforget\b|\bunimportant\b|\birrelevant\b|\bthrow away\b|\bremove\b|\bget rid of\b|\bsmall talk\b|\bwithout\b|\bexcept\b|\beverything else\b|\bthe rest\b`)
	holds = regexp.MustCompile(`残[しすせっ]|必[ずし須要]|大事|大切|重要|キープ|忘れない|忘れずに|落とさない|消さない|省かない|捨てない|削らない|失わない|守[っる]|保[っつ]|含め|入れ|書い|いる|\bkeep\b|\bstay\b|\bmust\b|\bremain\b|\bimportant\b|\bmatters?\b|\bneeds?\b|\bpreserve\b|\bretain\b|\bremember\b|\b(?:don't|do not|never) (?:lose|drop|forget|cut|omit|skip|leave out)\b|\binclude\b`)
	twice = regexp.MustCompile(`忘れない|落とさない|消さない|省かない|捨てない|削らない|失わない|忘れずに|\b(?:don't|do not|never|must not|can't|cannot) (?:\w+ )?(?:lose|drop|forget|cut|omit|skip|leave out|ignore|remove)\b`)
	// past is what was thrown away in the talk, which is no word for what to throw away of it; nor is what has no answer.
	past  = regexp.MustCompile(`(?:捨て|削っ|消し|省い|除い|外し|落とし|カットし)た|\b(?:got|gets|was|were|been|have|has|had|we|i|they|is|are) (?:cut|dropped|thrown out|removed|discarded|skipped|left out)\b|\bwithout an? (?:answer|decision|reply)\b`)
	parts = regexp.MustCompile(`(?i)[。.;；\n!！]+|、|, (?:but|and) (?:the |all )?|,|\bbut\b|ただし|けど|が、|—| - `)

	// ordinary are words of every policy.
	ordinary = alike.Set(`残す 残し 残 必ず 必要 大事 大切 重要 全部 全て すべて 会話 内容 話 情報 要約 詳細 以外 他 その他 部分 文脈 関連 関係 関 具体的 正確 具体 雑談 挨拶 不要 省略 省 圧縮 記録 事項 項目 点 事 物 中 時 名前 日付 日時 数字 数値 金額 約束 決定 決定事項 禁止 禁止事項 上限 下限 制限 質問 未解決 制約 理由 途中 経過 最終 最終的 決 種類 大丈夫 要 消 捨 削 除 忘 守 失 使 含 入 書 言 分 人 誰 何 何時 各 毎 回 的 際 場合 必須 ずつ ください お願い
		prohibition prohibitions prohibited ban bans banned forbidden forbid limit limits restriction restrictions constraint constraints rule rules reason reasons why
		keep kept everything anything all stay stays remain important matter matters must need needed detail details talk chat conversation summary fact facts info information whatever who what when where which how exact exactly every each any thing things about include including note make sure lose drop noise small skip fine ok rest other else word words date dates number numbers name names decision decisions promise promises question questions open deadline price prices cost costs amount said says agreed decided must never always people person don't do not go can may without leave out history turn turns line lines per kilo gram litre liter metre meter hour hours day days week weeks month months year years piece pieces unit units`)
)

// readPolicy reads a policy part by part. A part without a verb belongs to the next one that has one: "dates,
// names and prices must stay".
func readPolicy(text string) policy {
	p := policy{topics: topics{}, noise: topics{}, kinds: map[kind]bool{}}
	whole := everything.MatchString(text)
	text = strings.NewReplacer("全部", " ", "全て", " ", "すべて", " ").Replace(text) // which are no part of a word
	for _, sentence := range strings.FieldsFunc(marks.Plain(text), func(r rune) bool { return strings.ContainsRune("。.;\n!！", r) }) {
		waiting, verb := "", 0
		for _, part := range parts.Split(sentence, -1) {
			low := past.ReplaceAllString(strings.ToLower(part), " ")
			switch {
			case twice.MatchString(low):
				verb = 1
			case drops.MatchString(low):
				verb = -1
			case holds.MatchString(low):
				verb = 1
			default:
				if verb == 0 {
					waiting += part + "、"
					continue
				}
			}
			p.take(waiting+part, verb)
			waiting = ""
			if alike.Japanese(part) {
				verb = 0 // its verbs come last
			}
		}
		p.take(waiting, 1)
	}
	if !p.hasTopics() && len(p.kinds) == 0 && whole {
		for _, k := range kinds {
			p.kinds[k.kind] = true
		}
	}
	return p
}

// everything is how a policy names all that code can compare.
var everything = regexp.MustCompile(`(?i)全部|全て|すべて|なにもかも|何もかも|\beverything\b|\ball (?:of it|facts|details)\b|\bkeep all\b|\bnothing (?:may|must|should) (?:be lost|go)\b`)

func (p *policy) take(text string, verb int) {
	if verb < 0 {
		p.noise.add(text)
		return
	}
	p.topics.add(text)
	low := strings.ToLower(text)
	grams := marks.GramsOf(low)
	for _, k := range kinds {
		if k.words.In(low, grams) {
			p.kinds[k.kind] = true
		}
	}
}

func (p policy) hasTopics() bool { return len(p.topics) > 0 }

// about is what a policy says of a text.
type about struct{ topic, kind, noise bool }

func (p policy) about(text string) about {
	low := strings.ToLower(marks.Plain(text))
	words := topics{}
	words.add(left.ReplaceAllString(text, " "))
	a := about{topic: p.topics.meet(words), noise: p.noise.meet(words)}
	grams := marks.GramsOf(low)
	for _, k := range kinds {
		a.kind = a.kind || p.kinds[k.kind] && k.words.In(low, grams)
	}
	return a
}

// left is what a sentence names only to leave it out.
var left = regexp.MustCompile(`(?i)\b(?:without|except|apart from|not counting|excluding|other than) (?:\w+ ){0,2}\w+`)

// byKind says whether a policy names what has these marks and signs by its kind. Of names it names each once, and
// none of those who speak.
func (r *reader) byKind(all []marks.Mark, s marks.Signs) bool {
	p := r.policy
	if s.Asks {
		return false
	}
	for _, m := range all {
		switch {
		case m.Kind == marks.Number && p.kinds[numbers] && !m.Small(), m.Money() && p.kinds[money], m.Bounds() && p.kinds[limits],
			m.Kind == marks.Date && !m.Relative() && p.kinds[dates] && (!m.Weekday() || s.Vows || s.Settles || s.Must),
			m.Kind == marks.Date && !m.Relative() && p.kinds[deadlines] && (s.Vows || s.Must || s.Due),
			m.Kind == marks.Name && m.Sure && p.kinds[names] && !r.named[m.Key] && !r.people[m.Key] && !(m.Text[0] >= 'a' && m.Text[0] <= 'z'):
			return true
		}
	}
	return p.kinds[constraints] && s.Forbids || p.kinds[promises] && s.Vows || p.kinds[decisions] && s.Settles || p.kinds[questions] && s.Unsettled
}

// topics are words, pairs of kanji and things (which have a name in both languages) that texts can be about.
type topics map[string]bool

func (t topics) add(text string) {
	text = marks.Plain(text)
	for _, w := range alike.Words(text) {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case ordinary[w]:
		case unicode.Is(unicode.Han, first):
			t.kanji(w)
		case unicode.Is(unicode.Hiragana, first) && utf8.RuneCountInString(w) < 2:
		default:
			t[w] = true
		}
	}
	for _, th := range wording.Things(text) {
		if !ordinary[th] {
			t["="+th] = true
		}
	}
	low := strings.ToLower(text)
	grams := marks.GramsOf(low)
	for _, s := range synonyms {
		if s.words.In(low, grams) {
			t["="+s.name] = true
		}
	}
}

// kanji adds a word of kanji: whole where it is short, else its pairs.
func (t topics) kanji(w string) {
	letters := []rune(w)
	if len(letters) < 3 {
		t[w] = true
		return
	}
	for i := range len(letters) - 1 {
		if pair := string(letters[i : i+2]); !ordinary[pair] {
			t[pair] = true
		}
	}
}

func (t topics) meet(o topics) bool {
	for w := range t {
		if o[w] {
			return true
		}
	}
	return false
}

// synonyms are words for what policies name the most, and talks call otherwise.
var synonyms = []struct {
	name  string
	words *marks.Pattern
}{
	{"budget", marks.Compile(`予算|\bbudgets?\b`)},
	{"allergy", marks.Compile(`アレルギー|食べられな|食べれな|\ballerg`)},
	{"deadline", marks.Compile(`締め?切|〆切|期限|納期|\bdeadlines?\b|\bdue\b`)},
	{"venue", marks.Compile(`会場|場所|集合|待ち合わせ|\bvenues?\b|\bplace\b|\blocations?\b|\bwhere\b|\bmeet(?:ing)? (?:at|point|place)\b`)},
	{"people", marks.Compile(`人数|何人|\bheadcount\b|\bhow many people\b|\battendees\b|\bguests?\b`)},
	{"address", marks.Compile(`住所|\baddress`)},
	{"phone", marks.Compile(`電話|\bphones?\b|\btelephone\b`)},
	{"password", marks.Compile(`暗証|パスワード|合言葉|\bpasswords?\b|\bpasscodes?\b|\bpin\b`)},
	{"medicine", marks.Compile(`薬|服用|錠|\bmedicines?\b|\bmedications?\b|\bpills?\b|\bdos(?:e|age)s?\b`)},
	{"rent", marks.Compile(`家賃|\brents?\b`)},
	{"key", marks.Compile(`鍵|カギ|\bkeys?\b`)},
	{"birthday", marks.Compile(`誕生日|\bbirthdays?\b`)},
	{"name", marks.Compile(`呼び名|\bnicknames?\b`)},
	{"book", marks.Compile(`予約|\bbook(?:ed|ing|ings)?\b|\breserv`)},
}

// chatter is what people say of a thing that tells nothing of it.
var chatter = regexp.MustCompile(`楽しみ|すごい|すごく|かわいい|可愛い|おいし|美味し|いいね|いいな|嬉し|うれし|笑|好き|よね|だよなあ|懐かし|ありがとう|助かる|\blovely\b|\bnice\b|\bgreat\b|\bhaha|\blol\b|\bexcit|\blooking forward\b|\byum|\bsounds good\b|\bcool\b|\bawesome\b|\bthanks?\b|\blove\b|\bfunny\b|\bhope\b`)

// idle is how people tell of what was, or only talk: what no topic of the policy is in does not count there.
var idle = regexp.MustCompile(`この前|こないだ|さっき|昔|もんな|もんね|ものです|ですよね|(?:…|\.\.\.)[。]?$|違いますよ|怒られ|\blast (?:time|spring|summer|autumn|fall|winter|night|week)\b|\bonce\b|\bthanks?\b|\bhang on\b|\bfunny\b|\bno (?:topic|idea|one)\b`)

package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/wording"
)

var (
	// events are what people plan; a day without one says nothing of them.
	eventsJa  = regexp.MustCompile(`(行く|行きます|行くん|行くよ|行くの|行ってくる|行ってきます|行くことに|帰省|帰る|帰ります|会う|会います|会うん|受ける|受けます|出発|引っ越す|引っ越します|引っ越し|引越し|旅行|試験|テスト|受験|面接|デート|ライブ|コンサート|フェス|手術|結婚式|発表|締め切り|締切|誕生日会|パーティー|出張|入院|退院|卒業|入学|飲み会|病院|歯医者|検査|健診|大会|試合|バイト|休み|プレゼン|説明会|オーディション|同窓会|お葬式|法事|レッスン|レース|マラソン|配信|出る|出ます|始まる|始まります|遊ぶ|遊びます|見に行|観に行|乗る|乗ります|泊まる|泊まります|飛ぶ|届く|予約|予定)`)
	planJa    = regexp.MustCompile(`(?:く|る|う|す|つ|ぬ|む|ぶ|ぐ|ます|です|だ|予定|なん|んだ|の|こと|[\p{Han}\p{Katakana}ー]|休み|飲み会|引っ越し)` + `(?:なん|なの)?(?:です|だ)?(?:けれども?|けど|から|ので|し|が|よ|ね|な|さ|わ|の|ぞ|んだ|んです)*` + marks)
	noPlanJa  = regexp.MustCompile(`(?:た|だった|ました|でした|ましょう|おう|こう|よう|そう|ない|ません|なくて|中止|キャンセル|つもりだった)(?:です|よ|ね|けど|な|か|んだ|ん)*` + marks + `|[てで](?:ね|よ|ください|くれ|ほしい)?` + marks + `|一緒に.*(?:行こ|しよ)|ませんか|行かない|どう` + marks)
	eventsEn  = regexp.MustCompile(`(?i)\b(?:i have|i['’]ve got|i['’]m having|i['’]m going|i am going|i['’]m gonna|i['’]ll|i will|we['’]re going|we are going|we have|we['’]re having|we will|we['’]ll|i fly|i leave|i['’]m off|i move|i start|(?:i['’]m|i am) (?:flying|leaving|moving|starting|travelling|traveling|visiting|seeing|meeting|taking|getting|driving|running|playing|giving|performing|attending|working|having|doing|hosting|giving)|(?:we['’]re|we are) (?:flying|leaving|moving|travelling|traveling|visiting|seeing|meeting|getting|driving)|my (?:[a-z]+ )?(?:exam|test|interview|flight|wedding|surgery|operation|appointment|concert|party|trip|presentation|deadline|vacation|holiday|graduation|recital|race|marathon|match|game|show|exhibition|first day|birthday party) (?:is|'s|starts|begins))\b`)
	noPlanEn  = regexp.MustCompile(`(?i)\b(?:not|won['’]t|don['’]t|never|n['’]t|cancelled|canceled|nothing|no plans|feeling|question|idea|doubts?|let['’]s|let you|tell you|ask you|see you|talk to you|be back|be right|you will|you['’]ll|i['’]ll (?:try|think|see|be|let|tell|show|ask|talk|come back))\b`)
	wordsDay  = regexp.MustCompile(`(?i)\b(?:i have|i['’]ve got|i am|i['’]m|going|gonna|will|i['’]ll|on|to|the|at|in|for|a|an|my|we['’]re|we|are|have|having|is|starts|begins|this|next|it['’]s)\b`)
	movedJa   = regexp.MustCompile(`([\p{Han}\p{Katakana}\p{Hiragana}ー]{1,10}?)(?:の(?:日|予定|日程))?(?:は|が|、)、?.{0,30}?(?:に|へ)(?:なった|なりました|変わった|変わりました|変更|延期|ずれた|ずれました)`)
	movedEn   = regexp.MustCompile(`(?i)\b(?:the|my|our) ([a-z ]{2,20}?)(?: got| was| is| has been|['’]s)(?: now)? (?:moved|postponed|pushed(?: back)?|rescheduled|changed|delayed|on) (?:to|until|till)?`)
	offJa     = regexp.MustCompile(`([\p{Han}\p{Katakana}\p{Hiragana}ー]{1,10}?)(?:の予定)?(?:は|が)(?:中止|キャンセル|取りやめ|やめた|やめました|やめることにし|行かないことに|なくなった|なくなりました|行けなくなった|行けなくなりました|延期)`)
	offEn     = regexp.MustCompile(`(?i)\b(?:the|my|our) ([a-z ]{2,20}?)(?: got| was| is| has been|['’]s)(?: been)? (?:cancelled|canceled|called off)\b`)
	callOffEn = regexp.MustCompile(`(?i)\bi(?:['’]ve| have| had to|['’]m| am)? ?(?:cancell?ed|cancel|cancell?ing|called off|calling off) (?:my|the|our) ([a-z ]{2,30}?)[\s.!]*$`)
	notGoEn   = regexp.MustCompile(`(?i)\b(?:i['’]m|i am|we['’]re|we are) (?:not|no longer) going (?:on (?:my|the|that) |to )([a-z ]{2,20}?)(?: any ?more| after all)[\s.!]*$`)
	promiseJa = regexp.MustCompile(`約束(?:する|します|するよ|しますね|だよ|だ|です)(?:から|よ|ね)*` + marks)
	promiseEn = regexp.MustCompile(`(?i)^(?:(?:ok|okay|yes|and|so|but|sure|alright)[, ]+)*(?:i promise (?:to |that |you |i |i['’]ll |we |not ).{3,}|.{3,}(?:,| -) i promise[.! ]*)$`)
	promised  = regexp.MustCompile(`(?i)\b(?:can['’]t promise|don['’]t promise|didn['’]t|never promised)\b|約束(?:しない|できない|じゃ)|約束(?:して|した)`)
)

// plan reads what somebody is going to do on a day, and what becomes of a plan that is known.
func (r *reader) plan(text string) (claim, bool) {
	days := dates.Find(text, r.turn.At)
	days = slices.DeleteFunc(days, func(d dates.Day) bool {
		y, m, day := r.turn.At.Date()
		return d.Date.Year() < y || d.Date.Year() == y && (d.Date.Month() < m || d.Date.Month() == m && d.Date.Day() < day)
	})
	if c, ok := r.moved(text, days); ok {
		return c, true
	}
	if month, ok := dates.Month(text, r.turn.At); ok && len(days) == 0 {
		if r.othersDo(text) || !monthJa.MatchString(text) && !(monthEn.MatchString(text) && !noPlanEn.MatchString(text)) {
			return claim{}, false
		}
		return planned(text, []dates.Span{month}), true
	}
	if len(days) == 0 || r.othersDo(text) || strings.Contains(text, "誕生日は") || strings.Contains(strings.ToLower(text), "birthday is") {
		return claim{}, false
	}
	event := eventsJa.FindString(text)
	switch {
	case event != "" && planJa.MatchString(text) && !noPlanJa.MatchString(text):
	case eventsEn.MatchString(text) && !noPlanEn.MatchString(text):
	default:
		return claim{}, false
	}
	return planned(text, spans(days)), true
}

func spans(days []dates.Day) (all []dates.Span) {
	for _, d := range days {
		all = append(all, dates.Span{From: d.From, To: d.To, Key: d.Key()})
	}
	return all
}

// planned makes a claim of a plan: what is said, with the days as they are called in a calendar.
func planned(text string, days []dates.Span) claim {
	said := strings.TrimFunc(text, blank)
	var keys []string
	for _, d := range days {
		keys = append(keys, d.Key)
	}
	rest := text
	for i := len(days) - 1; i >= 0; i-- {
		rest = rest[:days[i].From] + " " + rest[days[i].To:]
	}
	rest = wordsDay.ReplaceAllString(intends.ReplaceAllString(rest, " "), " ")
	c := claim{value: keys[0] + ":" + strings.Join(wording.Words(rest), " "), text: keys[0] + ": " + said, importance: 4}
	c.keys = append(append(keys, "予定", "plan"), append(wording.Things(rest), wording.Words(rest)...)...)
	c.slot = "plan:" + topic(rest)
	return c
}

// topic gives what a plan is about: what both languages have a word for, or else its first word.
func topic(text string) string {
	for _, thing := range wording.Things(text) {
		if thing != "plan" { // 行く予定です
			return thing
		}
	}
	for _, w := range wording.Words(text) {
		if len([]rune(w)) > 1 {
			return w
		}
	}
	return "day"
}

// moved reads that a plan of theirs has another day, or is off.
func (r *reader) moved(text string, days []dates.Day) (claim, bool) {
	for _, p := range []*regexp.Regexp{movedJa, movedEn, offJa, offEn, callOffEn, notGoEn} {
		m := p.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		slot, ok := r.planAbout(m[1])
		off := p != movedJa && p != movedEn
		if !ok || !off && len(days) == 0 {
			continue
		}
		said := strings.TrimFunc(text, blank)
		if len(days) == 0 {
			return claim{slot: slot, value: "off", text: said, keys: []string{"予定", "plan", m[1]}, importance: 3}, true
		}
		c := planned(text, spans(days))
		c.slot = slot
		return c, true
	}
	return claim{}, false
}

// What people plan for a month or a year that has no day yet. There it takes more to tell a plan from what is
// else so of a month (来月は忙しい), so that the sentence begins with oneself or the month, and ends with what is done.
const (
	doEn   = `move|go|travel|fly|visit|drive|sail|leave|start|get married|marry|run (?:a|an|the|my)|take (?:a|an|the|my)|perform|graduate|retire|return|head|compete|study`
	doing  = `moving|travell?ing|flying|visiting|driving|sailing|leaving|starting|getting married|marrying|running (?:a|an|the|my)|taking (?:a|an|the|my)|performing|graduating|retiring|returning|heading|going (?:to (?:(?-i:[A-Z])|the |a |an |my |our )|on |back|abroad|home|camping|hiking|skiing)`
	doJa   = `(?:行く|行きます|行ってくる|行ってきます|帰る|帰ります|引っ越す|引っ越します|引越します|引っ越し|会う|会います|受ける|受けます|働く|働きます|始める|始めます|出る|出ます|通う|通います|泊まる|泊まります|戻る|戻ります|辞める|辞めます|(?:旅行|留学|出張|結婚|入籍|引っ越し|引越し|入院|退院|出産|卒業|転職|退職|就職|入学|進学|帰省|帰国|移住|転勤|転校|独立|復帰|受験|出場|参加)(?:する|します)?)`
	monthS = `(?:今月|来月|再来月|来年|再来年|(?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,2})月)(?:の(?:初め|始め|頭|終わり|末|中旬|半ば))?(?:頃|ごろ)?`
)

var (
	monthEn = regexp.MustCompile(`(?i)^\W*(?:(?:and|but|so|also|actually|by the way|btw|oh|well|guess what|(?:later )?(?:next|this) (?:month|year)|in [a-z]+)\W+)*(?:(?:i['’]m|i am|we['’]re|we are) (?:(?:planning|going|gonna|intending|set|scheduled) (?:to )?(?:` + doEn + `)|(?:` + doing + `))|(?:i|we) (?:plan|intend|have decided|decided) to (?:` + doEn + `)|(?:i['’]ll|i will|we['’]ll|we will) (?:` + doEn + `|be (?:` + doing + `)))`)
	monthJa = regexp.MustCompile(opens + `(?:` + selfWords + `(?:は|も|、)、?)?` + monthS + `(?:には?|からは?|は)?、?(?:` + selfWords + `(?:は|も|、)、?)?(?:[^はがも、。]{1,15}?(?:に|へ|を|で|と|から)、?){0,3}` + doJa + `(?:つもり|予定|こと)?(?:に(?:なった|なりました|した|しました|決めた|決めました))?` + endNoun)
	intends = regexp.MustCompile(`(?:行く)?つもり|ことに|(?i:\b(?:planning|plan|intend|intending|decided) to\b|\b(?:visit|fly|travell?|driv|sail|start|leav|return|head)(?:e|ing)?\b)`)
)

// planAbout gives the slot of the newest plan of the speaker that has to do with a word.
func (r *reader) planAbout(word string) (slot string, ok bool) {
	words := append(wording.Words(word), wording.Things(word)...)
	for _, f := range slices.Backward(r.theirs()) {
		if strings.HasPrefix(f.slot, "plan:") && slices.ContainsFunc(f.keys, func(k string) bool { return slices.Contains(words, wording.Fold(k)) || within(k, word) }) {
			return f.slot, true
		}
	}
	return "", false
}

// within says whether a key in kanji or katakana is part of a longer word: 京都 of 京都旅行.
func within(key, word string) bool {
	return endsHard.MatchString(key) && len([]rune(key)) > 1 && key != "予定" && strings.HasPrefix(word, key)
}

// held is what is known of the speaker, from before or from these turns.
type held struct {
	slot, value string
	keys        []string
}

func (r *reader) theirs() (all []held) {
	for _, f := range r.known {
		if f.SaidBy == r.turn.From && f.Kind == abi.MemoryFact {
			all = append(all, held{f.Slot, f.Value, f.Keys})
		}
	}
	for _, f := range r.found {
		if f.SaidBy == r.turn.From {
			all = append(all, held{f.Slot, f.Value, f.Keys})
		}
	}
	return all
}

var (
	subjectJa = regexp.MustCompile(`(?:妹|弟|姉|兄|母|父|お母さん|お父さん|親|娘|息子|妻|夫|旦那|嫁|彼|彼女|彼氏|子供|子ども|友達|友人|友だち|先輩|後輩|上司|同僚|先生|いとこ|推し|さん|ちゃん|くん)(?:は|が|も|の)|(?:雨|雪|台風|天気)`)
	subjectEn = regexp.MustCompile(`(?i)^\W*(?:(?:and|but|so)\W+)*(?:he|she|they|(?:my|his|her|their) (?:\w+ )?(?:sister|brother|mother|mom|mum|father|dad|son|daughter|friend|boss|girlfriend|boyfriend|aunt|uncle|cousin|roommate|neighbou?r|teacher|colleague)(?:['’]s)?)\b`)
)

// othersDo says whether a sentence tells what somebody else does.
func (r *reader) othersDo(text string) bool {
	return subjectJa.MatchString(text) || subjectEn.MatchString(text)
}

// promise reads what somebody promises.
func promise(text string) (claim, bool) {
	if promised.MatchString(text) || !promiseJa.MatchString(text) && !promiseEn.MatchString(text) {
		return claim{}, false
	}
	said := strings.TrimFunc(text, blank)
	return claim{slot: "promise:" + topic(said), value: said, text: "約束: " + said, keys: append([]string{"約束", "promise"}, wording.Words(said)...), importance: 4}, len([]rune(said)) > 5
}

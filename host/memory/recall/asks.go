package recall

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/memory/dates"
	"github.com/companiond/companiond/host/memory/wording"
)

// terms gives what the text of a query is looked for by. The days that it names are among
// them, for what happens on a day has the day for a key.
func (q Query) terms() []string {
	terms := textTerms(q.Text)
	for _, t := range terms {
		if w, ok := strings.CutPrefix(t, word); ok {
			terms = append(terms, value+w)
		}
	}
	for _, d := range dates.Find(q.Text, q.At) {
		terms = append(terms, word+d.Key())
	}
	return terms
}

// ownWords are those by which somebody speaks of what is their own.
var ownWords = regexp.MustCompile(`(?i)私|わたし|僕|ぼく|俺|おれ|あたし|自分の|うちの|\b(?:my|mine|me|i|i'm|i've)\b`)

// question is words that ask for what is in a slot.
type question struct {
	words *regexp.Regexp
	slots []string
}

var questions = []question{
	{regexp.MustCompile(`(?i)名前|なまえ|呼び方|なんて呼|何て呼|何と呼|だれだ|誰だ|誰か(?:わか|分か)|\bnames?\b|\bwho (?:am i|i am)\b|\bcall me\b|\bcalled\b`), []string{"name"}},
	{regexp.MustCompile(`(?i)何歳|いくつ|年齢|何才|\bhow old\b|\bmy age\b|\bthe age\b`), []string{"age"}},
	{regexp.MustCompile(`(?i)誕生日|生まれ|たんじょうび|バースデー|\bbirthday\b|\bborn\b`), []string{"birthday"}},
	{regexp.MustCompile(`(?i)住ん|すんで|どこに(?:いる|家)|(?:家|街|町|住所)(?:って|は|が)?.{0,4}(?:どこ|どの|どんな|何処)|どこの(?:街|町|県)|引っ越|暮らし|\b(?:do|did|does) (?:i|\w+) live\b|\b(?:i|\w+) lives?\b|\bmy (?:home|city|town)\b|\bbased\b|\bmove`), []string{"place"}},
	{regexp.MustCompile(`(?i)出身|地元|故郷|\bfrom\b|\bhometown\b|\bgrew up\b`), []string{"origin"}},
	{regexp.MustCompile(`(?i)仕事|職業|働|勤め|何してる人|\bjob\b|\bwork\b|\bfor a living\b|\bprofession\b|\boccupation\b|\bdo i do\b`), []string{"job"}},
	{regexp.MustCompile(`(?i)学校|大学|高校|中学|専攻|何年生|通って|\bschool\b|\bcollege\b|\buniversity\b|\bstud(?:y|ying)\b|\bmajor\b`), []string{"school"}},
	{regexp.MustCompile(`(?i)家族|兄弟|きょうだい|姉妹|子供|子ども|結婚|\bfamily\b|\bsiblings?\b|\bmarried\b|\bchildren\b|\bkids\b`), []string{"family"}},
	{regexp.MustCompile(`(?i)ペット|飼って|動物|\bpets?\b|\banimals?\b`), []string{"pet", "pet.name"}},
	{regexp.MustCompile(`(?i)アレルギー|\ballerg`), []string{"allergy"}},
	{regexp.MustCompile(`(?i)食べられない|食べれない|飲めない|だめな(?:もの|食べ)|避け|(?:食べ|飲)(?:ちゃ|ては)(?:だめ|いけ)|食事.*(?:気を|注意)|\bcan(?:'t|not) (?:\w+ )?(?:eat|drink|have)\b|\bavoid\b|\bnot (?:eat|drink)\b|\bdiet\b|\bserve\b|\bcook for me\b`), []string{"allergy", "must_not"}},
	{regexp.MustCompile(`(?i)好き|すき|好み|好物|推し|ハマって|はまって|喜び|プレゼント|\b(?:like|love|enjoy|favou?rite|into|fan|prefer)\b`), []string{"taste", "favourite"}},
	{regexp.MustCompile(`(?i)嫌い|きらい|苦手|にがて|\b(?:hate|dislike|can't stand|don't like)\b`), []string{"taste"}},
	{regexp.MustCompile(`(?i)趣味|休みの日|\bhobb(?:y|ies)\b|\bfree time\b`), []string{"favourite:hobby", "taste"}},
	{regexp.MustCompile(`(?i)予定|いつ(?:行|か|だ|なん|から|から|出|始|受|会|で|ある)|何があ|なにがあ|何する|楽しみ|\bwhen (?:is|am|do|are|will|was)\b|\bplans?\b|\bcoming up\b|\bscheduled?\b|\bgoing to\b|\bupcoming\b|\bhappening\b`), []string{"plan"}},
	{regexp.MustCompile(`(?i)約束|\bpromise[ds]?\b`), []string{"promise"}},
}

// asks gives the slots that a text may be asking for. A name that is asked for together with a
// thing is the thing's: 猫の名前.
func asks(text string) (slots []string) {
	things := wording.Things(text)
	for _, q := range questions {
		if !q.words.MatchString(text) {
			continue
		}
		for _, s := range q.slots {
			if s != "name" {
				slots = append(slots, s)
				continue
			}
			named := slots
			for _, thing := range things {
				named = append(named, "pet.name:"+thing, "family.name:"+thing)
			}
			if len(things) == 0 {
				named = append(named, s)
			}
			slots = named
		}
	}
	for _, thing := range things {
		slots = append(slots, "pet:"+thing, "family:"+thing)
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

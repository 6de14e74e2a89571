package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/memory/wording"
)

// noNameWords are words with a capital that are no names.
var noNameWords = regexp.MustCompile(`(?i)^(?:i|i'm|not|so|just|very|really|here|back|sorry|fine|good|great|happy|sad|tired|hungry|bored|sick|late|ready|busy|sure|done|new|old|going|from|in|at|on|a|an|the|american|british|english|japanese|chinese|korean|french|german|canadian|australian|indian|spanish|italian|mexican|vegan|vegetarian|christian|muslim|jewish|buddhist|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|tonight|later|maybe|when|if|and|but|an?|what|asian|european|gay|team|player|mr|mrs|ms|dr)\b`)

func nameEn(m []string) (claim, bool) {
	v := m[1]
	if first, rest, ok := strings.Cut(v, " "); ok && slices.Contains([]string{"And", "I", "But", "Nice", "Please"}, rest) {
		v = first
	}
	return claim{slot: "name", value: v, text: "is called " + v, keys: []string{"name", "名前"}, importance: 5}, !noNameWords.MatchString(v)
}

// aloneEn reads "I'm Klaus.", which is how people say what else they are, too.
func aloneEn(m []string) (claim, bool) {
	c, ok := nameEn(m)
	word := strings.ToLower(c.value)
	return c, ok && !slices.Contains(noNames, word) && (!noNameEnds.MatchString(word) || slices.Contains(nameEnds, word))
}

// noNames are words with a capital that people are, besides those of noNameWords; noNameEnds is what many of
// those end with, and nameEnds are names that do, too.
var (
	noNames = strings.Fields(`ok okay off out up down on away home there alive dead alright alone done lost broke stuck free single dutch greek thai welsh swiss czech arab dane finn swede turk
		scot brit yank aussie kiwi hindu sikh protestant atheist agnostic israeli iraqi pakistani somali saudi latino latina filipino filipina male female human trans straight bi pan ace
		aries taurus gemini virgo libra scorpio sagittarius capricorn aquarius pisces batman superman spiderman groot spartacus godzilla god jesus santa satan death legend
		deaf blind mute pregnant healthy lucky angry crazy lazy silly guilty innocent jealous awake asleep afraid aware cold warm hot wet rich poor young ill well better best worse first last next
		one two right wrong true real weird shy calm cool nice bad mad glad proud fun funny full empty offline online yours mine only always never usually mostly basically literally definitely
		probably almost mom dad mum mommy daddy everyone nobody somebody someone anyone it he she they you we me us him her all none both either neither your his their our its my of to too with
		without by for no yes more less enough gone born made meant left awesome fine whatever nowhere everywhere upset content scared`)
	noNameEnds = regexp.MustCompile(`(?:ing|ed|ese|ish|ian|ean|can|ful|less|ous|ive|able|ible|ist|ic|al)$`)
	nameEnds   = strings.Fields(`sterling fleming ming ying jing ping ling fred ted ned ed jed ahmed mohammed muhammed mohamed alfred wilfred jared waleed saeed khaled therese trish manish ashish satish harish
		ian brian adrian julian sebastian vivian lilian gillian jillian marian damian fabian cristian christian kian florian dorian maximilian sean dean jean duncan clive olive mabel eric dominic
		cedric frederic ludovic vic nic al hal val cal neal crystal chantal pascal kamal jamal bilal kunal vishal michal opal`)
)

// fullNameEn reads "Bond, James Bond".
func fullNameEn(m []string) (claim, bool) {
	c, ok := nameEn(m[1:])
	return c, ok && strings.HasSuffix(m[2], " "+m[1])
}

func petNameEn(animal, name string) (claim, bool) {
	thing := wording.Thing(animal)
	return claim{slot: "pet.name:" + thing, value: name, text: "has a " + strings.ToLower(animal) + " called " + name, keys: []string{strings.ToLower(animal), thing, "name", "pet"}, importance: 4}, name != "" && !noNameWords.MatchString(name)
}

func kinNameEn(kin, name string) (claim, bool) {
	thing := wording.Thing(kin)
	return claim{slot: "family.name:" + thing, value: name, text: "has a " + strings.ToLower(kin) + " called " + name, keys: []string{strings.ToLower(kin), thing, "name", "family"}, importance: 4}, !noNameWords.MatchString(name)
}

// phrase gives a group as a noun phrase, without what begins another one.
func phrase(s string) string {
	s = wordsBehind.ReplaceAllString(strings.TrimSpace(s), "")
	return strings.Trim(s, " .,!~\"'")
}

var wordsBehind = regexp.MustCompile(`(?i)(?:,.*| (?:because|since|when|while|so|though|but|any ?more|any longer|lately|these days|recently|too|as well|a lot|so much|very much|the most|more than anything|right now|at the moment|now|nowadays|by the way|btw|if you|thanks).*)$`)

// filledEn makes a rule's claim of its first group.
func filledEn(slot, before, after string, importance int, keys ...string) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		v := phrase(m[1])
		return claim{slot: slot, value: v, text: before + v + after, keys: keys, importance: importance}, v != "" && !vague.MatchString(v) && len(strings.Fields(v)) <= 6
	}
}

// vague is what says too little of its own, or tells of whoever is spoken to.
var vague = regexp.MustCompile(`(?i)^(?:a|an|the|my|fear|hope|peace|it|this|that|these|those|you|your|him|her|them|us|here|there|how|when|what|why|where|who|to be|being|hell|bed|pain|love|danger|trouble|shock|town|general|particular)$|^(?:it|this|that|these|those|you|your|him|her|them|us|here|there|how|when|what|why|where|who|the way|not|none|no longer|anything|the idea|the fact|the future|the past|to see|to think|to hear|to say|to know|to talk|to ask|talking to|chatting with)\b|\b(?:you|your|yours)\b`)

func tasteEn(likes bool) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		what := strings.TrimPrefix(phrase(m[1]), "the ")
		text, key := "likes "+what, "likes"
		if !likes {
			text, key = "dislikes "+what, "dislikes"
		}
		return claim{slot: "taste:" + wording.Thing(what), value: key + ":" + what, text: text, keys: append([]string{key}, wording.Things(what)...), importance: 3}, sensible(what) && !vague.MatchString(what) && len(strings.Fields(what)) <= 6
	}
}

func refusalEn(slot, before, after string, keys ...string) func([]string) (claim, bool) {
	return func(m []string) (claim, bool) {
		what := phrase(m[1])
		return claim{slot: slot + ":" + wording.Thing(what), value: what, text: before + what + after, keys: append(slices.Clone(keys), wording.Things(what)...), importance: 5}, what != "" && !vague.MatchString(what) && len(strings.Fields(what)) <= 5
	}
}

func english() []rule {
	const job = `((?:[a-z-]+ ){0,2}(?:nurse|teacher|engineer|developer|programmer|designer|doctor|dentist|lawyer|chef|cook|baker|barista|waiter|waitress|student|accountant|writer|author|artist|illustrator|musician|photographer|journalist|editor|translator|librarian|scientist|researcher|professor|architect|carpenter|plumber|electrician|mechanic|driver|pilot|farmer|firefighter|policeman|policewoman|police officer|soldier|pharmacist|psychologist|therapist|vet|veterinarian|hairdresser|cashier|salesman|manager|consultant|analyst|administrator|secretary|receptionist|freelancer|paramedic|midwife|social worker|tailor|florist|gardener|technician|biologist|physicist|chemist|economist|actor|actress|dancer|singer))`
	const place = `((?-i:[A-Z])[\p{L}\x27’-]+(?:[ ,]+(?-i:[A-Z])[\p{L}\x27’-]+){0,2}|[a-z]{3,14}(?:[\s.!~]*$))`
	const very = `(?:really |absolutely |totally |just |also |still |actually |truly |honestly |kinda |quite |always |so )*`
	return []rule{
		{pattern: en(`my name(?: is|'s) <NAME>, <NAME>(?:[\s.,!~)]|$)`), claim: fullNameEn, last: true},
		{pattern: en(`(?:my (?:full |real |first )?name(?: is|'s)|i am called|i'm called|i go by|people call me|everyone calls me|my friends call me|they call me|(?:you can |just )?call me) <NAME>(?:[\s.,!~)]|$)`), claim: nameEn, last: true},
		{pattern: en(`(?:i'm|i am) (?-i:([A-Z][\p{L}-]{1,20}))(?:<END>|[.,!])`), claim: nameEn, greets: true, last: true},
		{pattern: en(`(?:i'm|i am) (?-i:([A-Z][\p{Ll}-]{1,20}))[.!~ ]*$`), claim: aloneEn, alone: true, last: true},

		{pattern: en(`(?:my|our) <ANIMAL>(?:'s name is| is called| is named|, named|, called) <NAME>(?:[\s.,!~)]|$)`), claim: func(m []string) (claim, bool) { return petNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`(?:i|we) (?:have|own|adopted|got|just got|just adopted|have got|'ve got) (?:a|an|this) (?:[a-z-]+ ){0,3}?<ANIMAL>,? (?:named|called|whose name is|and (?:his|her|its) name is) <NAME>(?:[\s.,!~)]|$)`), claim: func(m []string) (claim, bool) { return petNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`(?:i've|we've) got (?:a|an) (?:[a-z-]+ ){0,3}?<ANIMAL>,? (?:named|called) <NAME>(?:[\s.,!~)]|$)`), claim: func(m []string) (claim, bool) { return petNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`my <ANIMAL>,? <NAME>,? (?:is|was|just|loves|likes|has|always|keeps|sleeps|ate|won't|will)\b`), claim: func(m []string) (claim, bool) { return petNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`(?:i|we) (?:have|own|adopted|just got|just adopted|have got|keep) (?:a|an|one|two|three|2|3) (?:[a-z-]+ ){0,3}?<ANIMAL>s?<END>`), claim: petEn, last: true},
		{pattern: en(`(?:i've|we've) got (?:a|an|one|two|three|2|3) (?:[a-z-]+ ){0,3}?<ANIMAL>s?<END>`), claim: petEn, last: true},

		{pattern: en(`my (?:older |younger |big |little |twin |elder )?<KIN>(?:'s name is| is called| is named|, named|, called) <NAME>(?:[\s.,!~)]|$)`), claim: func(m []string) (claim, bool) { return kinNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`(?:i have|i've got) (?:a|an) (?:[a-z-]+ ){0,2}?<KIN>,? (?:named|called) <NAME>(?:[\s.,!~)]|$)`), claim: func(m []string) (claim, bool) { return kinNameEn(m[1], m[2]) }, last: true},
		{pattern: en(`(?:i have|i've got) (?:a|an|one|two|three|four|2|3|4) (?:[a-z-]+ ){0,2}?(sister|brother|son|daughter|wife|husband|girlfriend|boyfriend|child|children|kid|twin)(?:s)?<END>`), claim: kinEn, last: true},
		{pattern: en(`(?:i am|i'm|we're|we are) ((?:happily |newly )?married|engaged|single|divorced|an only child)<END>`), claim: filledEn("family:married", "is ", "", 3, "family", "married"), last: true},

		{pattern: en(`(?:i am|i'm) (?:very |really |severely |deathly |a bit |highly )?allergic to ([a-z\x27’ -]+?)(?:<END>|,)`), claim: refusalEn("allergy", "is allergic to ", "", "allergy", "allergic", "アレルギー"), last: true},
		{pattern: en(`(?:i have|i've got) (?:a|an) (?:severe |bad |terrible |mild |serious )?([a-z]+(?: [a-z]+)?) allergy<END>`), claim: refusalEn("allergy", "is allergic to ", "", "allergy", "allergic", "アレルギー"), last: true},
		{pattern: en(`i (?:can't|cannot|must not|mustn't|don't|never) (?:eat|drink) ([a-z\x27’ -]+?)(?:<END>|,)`), claim: refusalEn("must_not", "does not eat or drink ", "", "must_not", "eat", "drink"), last: true},
		{pattern: en(`(?:i am|i'm) (?:a |an )?(vegan|vegetarian|pescatarian|lactose intolerant|gluten intolerant|celiac|coeliac|diabetic|teetotal|halal|kosher)<END>`), claim: refusalEn("must_not", "is ", "", "must_not", "eat", "food"), last: true},

		{pattern: en(`my (?:all-time |absolute )?favou?rite ([a-z ]{2,20}?)(?: of all time)?(?: is|'s| has always been| are) (.+?)<END>`), claim: favouriteEn, last: true},
		{pattern: en(`my (hobby|hobbies)(?: is| are) (.+?)<END>`), claim: favouriteEn, last: true},
		{pattern: en(`i ` + very + `(?:don't|do not) (?:really |much )?(?:like|enjoy|care for) (.+?)(?: (?:at all|very much|much))?<END>`), claim: tasteEn(false), last: true},
		{pattern: en(`i ` + very + `(?:hate|dislike|can't stand|cannot stand|despise|loathe|detest) (.+?)<END>`), claim: tasteEn(false), last: true},
		{pattern: en(`(?:i'm|i am) (?:not a (?:big )?fan of|scared of|afraid of|terrified of) (.+?)<END>`), claim: tasteEn(false), last: true},
		{pattern: en(`i ` + very + `(?:love|like|adore|enjoy) (.+?)<END>`), claim: tasteEn(true), last: true},
		{pattern: en(`(?:i'm|i am) (?:(?:really |super |totally )?into|(?:a )?(?:big|huge|massive) fan of|a fan of|obsessed with|fond of) (.+?)<END>`), claim: tasteEn(true), last: true},

		{pattern: en(`(?:i am|i'm|i just turned|i turned|i've just turned) ([0-9]{1,3}|(?:twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?: years old| yo| y/o)?(?: now| today| this year| last week)?(?:<END>|,)`), claim: filledEn("age", "is ", " years old", 3, "age", "old", "年齢")},
		{pattern: en(`my birthday(?: is|'s) (?:on |always )?(?:the )?((?:(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? (?:the )?[0-9]{1,2}(?:st|nd|rd|th)?)|(?:[0-9]{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december)))(?:<END>|,)`), claim: filledEn("birthday", "has the birthday ", "", 4, "birthday", "誕生日")},
		{pattern: en(`(?:i was|i'm) born on (?:the )?((?:january|february|march|april|may|june|july|august|september|october|november|december) [0-9]{1,2}(?:st|nd|rd|th)?|[0-9]{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december))`), claim: filledEn("birthday", "has the birthday ", "", 4, "birthday", "誕生日")},
		{pattern: en(`(?:i|we) (?:currently |still |actually |now )*(?:live|am living|'m living|are living) (?:alone |together |here )?(?:in|near) ` + place), claim: filledEn("place", "lives in ", "", 4, "place", "live", "home")},
		{pattern: en(`(?:i'm|i am|we're) (?:currently |now )?(?:living|based|staying) in ` + place), claim: filledEn("place", "lives in ", "", 4, "place", "live", "home")},
		{pattern: en(`(?:i|we)(?:'ve| have)? (?:just |recently |finally )?moved (?:from (?-i:[A-Z])[\p{L}\x27’-]+(?: (?-i:[A-Z])[\p{L}\x27’-]+)? )?to ` + place), claim: filledEn("place", "lives in ", "", 4, "place", "live", "moved")},
		{pattern: en(`(?:i'm|i am|i come) (?:originally )?from ` + place), claim: filledEn("origin", "is from ", "", 3, "origin", "from")},
		{pattern: en(`i grew up in ` + place), claim: filledEn("origin", "grew up in ", "", 3, "origin", "from")},
		{pattern: en(`i (?:currently |now )?work as (?:a|an) ([a-z -]+?)(?: (?:at|for|in) .*)?(?:<END>|,)`), claim: filledEn("job", "works as a ", "", 3, "job", "work")},
		{pattern: en(`i (?:currently |now )?work (?:at|for|in) (?:a |an |the )?([A-Za-z\x27’ -]+?)(?:<END>|,)`), claim: filledEn("job", "works at ", "", 3, "job", "work")},
		{pattern: en(`my job(?: is|'s) (.+?)<END>`), claim: filledEn("job", "job: ", "", 3, "job", "work")},
		{pattern: en(`(?:i'm|i am) (?:a|an) ` + job + `(?:<END>|,| at | for | in | now\b| these days\b)`), claim: filledEn("job", "is a ", "", 3, "job", "work")},
		{pattern: en(`(?:i'm|i am) studying ([a-z ]+?)(?: at .*)?(?:<END>|,)`), claim: filledEn("school", "studies ", "", 3, "school", "study")},
		{pattern: en(`i study ([a-z ]+?)(?: at .*)?(?:<END>|,)`), claim: filledEn("school", "studies ", "", 3, "school", "study")},
		{pattern: en(`i (?:go to|attend) ([A-Za-z\x27’ ]*?(?:university|college|high school|school))<END>`), claim: filledEn("school", "goes to ", "", 3, "school")},
	}
}

func petEn(m []string) (claim, bool) {
	animal := strings.ToLower(m[1])
	return claim{slot: "pet:" + wording.Thing(animal), value: animal, text: "has a " + animal, keys: []string{animal, wording.Thing(animal), "pet"}, importance: 3}, true
}

func kinEn(m []string) (claim, bool) {
	kin := strings.ToLower(m[1])
	return claim{slot: "family:" + wording.Thing(kin), value: kin, text: "has a " + kin, keys: []string{kin, wording.Thing(kin), "family"}, importance: 3}, true
}

func favouriteEn(m []string) (claim, bool) {
	label, what := strings.ToLower(strings.TrimSpace(m[1])), phrase(m[2])
	if label == "hobby" || label == "hobbies" {
		return claim{slot: "favourite:hobby", value: what, text: "hobby: " + what, keys: append([]string{"hobby"}, wording.Things(what)...), importance: 3}, !vague.MatchString(what)
	}
	return claim{slot: "favourite:" + wording.Thing(label), value: what, text: "favourite " + label + ": " + what, keys: append([]string{label, "favourite", "likes", wording.Thing(label)}, wording.Things(what)...), importance: 3}, !vague.MatchString(what) && len(strings.Fields(what)) <= 7
}

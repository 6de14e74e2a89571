package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// englishReadings folds a text with its lines as clauses, and once more without
// them, for who writes a sentence over several.
func englishReadings(s string) []string {
	if !strings.ContainsFunc(s, func(r rune) bool { return isLatin(fold(r)) }) {
		return nil
	}
	text := stop + " " + writeEnglish(s, true) + stop + " "
	if !strings.ContainsAny(s, "\r\n") {
		return []string{text}
	}
	return []string{text, stop + " " + writeEnglish(s, false) + stop + " "}
}

func isLatin(r rune) bool { return r >= 'a' && r <= 'z' }

// writeEnglish writes a text in plain words with a space after each, contractions
// in full and without those that only add force. Marks end a clause, and so do
// lines where they count.
func writeEnglish(s string, lines bool) string {
	var b strings.Builder
	var word []rune
	end := func(mark string) {
		if len(word) > 0 {
			b.WriteString(plainWord(string(word)))
			word = word[:0]
		}
		if mark != "" && !strings.HasSuffix(b.String(), mark) {
			b.WriteString(mark)
		}
	}
	for _, raw := range s {
		r := fold(raw)
		switch {
		case isLatin(r), unicode.IsDigit(r), unicode.IsLetter(r) && r < 0x2e80:
			word = append(word, r)
		case strings.ContainsRune("'’‘`´*\u200b\u200d\ufeff", r): // don't, d*e
		case lines && (raw == '\n' || raw == '\r'), strings.ContainsRune(".,!?;:()\"“”…—–/|[]{}<>。、", r), isKana(r), isHan(r):
			end(stop + " ")
		default: // spaces, hyphens, emoji
			end("")
		}
	}
	end("")
	return b.String()
}

// plainWord gives a word in full and a space; nothing for one that only adds
// force.
func plainWord(word string) string {
	word = squeeze(word)
	if strings.ContainsFunc(word, isLatin) {
		word = leet.Replace(word)
	}
	if force[word] {
		return ""
	}
	if full := inFull[word]; full != "" {
		word = full
	}
	return word + " "
}

// squeeze writes a letter once that is there three times or more: dieee, soooo.
func squeeze(word string) string {
	var b strings.Builder
	run := []rune(word)
	for i := 0; i < len(run); {
		j := i
		for j < len(run) && run[j] == run[i] {
			j++
		}
		if j-i == 2 || unicode.IsDigit(run[i]) {
			b.WriteString(string(run[i:j]))
		} else {
			b.WriteRune(run[i])
		}
		i = j
	}
	return b.String()
}

var leet = strings.NewReplacer("1", "i", "0", "o", "3", "e")

// force are words that a phrase is the same without.
var force = Set(`just really kinda sorta literally honestly fucking fuckin fkn freaking frickin damn so very truly actually even still ever simply
please pls plz plss ugh ughh argh omg tbh ngl lowkey highkey deadass rn basically legit`)

// inFull are contractions and common slips, as they are written without marks.
var inFull = pairsIn(`im=i_am ive=i_have id=i_would ill=i_will imma=i_am_going_to ima=i_am_going_to dont=do_not dnt=do_not doesnt=does_not didnt=did_not cant=can_not
cannot=can_not wont=will_not isnt=is_not aint=is_not wasnt=was_not werent=were_not wouldnt=would_not shouldnt=should_not couldnt=could_not havent=have_not
hasnt=has_not hadnt=had_not wanna=want_to wana=want_to wan=want na=to wnt=want wanting=want wanted=want gonna=going_to gunna=going_to gona=going_to gotta=have_to
tryna=trying_to 2=to u=you ur=your whats=what_is theres=there_is lifes=life_is hes=he_is shes=she_is theyre=they_are youre=you_are its=it_is thats=that_is
anymore=any_more noone=no_one everyones=everyone_is meself=myself mysef=myself myslef=myself mself=myself mysel=myself kil=kill kll=kill kiling=killing killin=killing
dyin=dying livin=living dieing=dying sucidal=suicidal suicidle=suicidal suicidial=suicidal suisidal=suicidal suicdal=suicidal sucide=suicide suicde=suicide
suiside=suicide scide=suicide sewerslide=suicide wished=wish wishing=wish urself=yourself becuz=because cuz=because cause=because`)

func pairsIn(s string) map[string]string {
	m := map[string]string{}
	for _, pair := range strings.Fields(s) {
		short, full, _ := strings.Cut(pair, "=")
		m[short] = strings.ReplaceAll(full, "_", " ")
	}
	return m
}

var (
	ownWords   = Set("i me we us myself")
	otherWords = Set("you they he she it people everyone everybody anyone anybody someone somebody nobody who him her them his their your characters")
	openers    = Set("and but or because then now today tonight again sometimes always yes no hi hello hey oh also when feeling having")
)

// englishMine looks back from a phrase for who its subject is.
func englishMine(w whose, before, _ string) bool {
	if w == anyone {
		return true
	}
	words := strings.Fields(before)
	for _, word := range slices.Backward(words) {
		switch {
		case ownWords[word], word == "my" && w == maybe: // "fed up with my job want to die"
			return true
		case otherWords[word], word == "my": // "my friend committed suicide"
			return false
		}
	}
	if len(words) == 0 || !slices.ContainsFunc(words, func(w string) bool { return !openers[w] }) {
		return true
	}
	last := words[len(words)-1] // "zombies want to die"
	return w == maybe && !(strings.HasSuffix(last, "s") && utf8.RuneCountInString(last) > 3)
}

// ending is what somebody wants who does not want to live.
const ending = "{die|be dead|be unalived|stop existing|stop living|cease to exist|not exist|not be alive|not live|sleep forever|never wake up|not wake up|leave this world|leave this earth|leave this life|unalive|end it all|fall asleep forever|go to sleep forever|go to sleep and never wake up|go to sleep and not wake up}"

// figures come after a phrase that is none of distress then.
var figures = []string{
	"{laughing|of laughter|from laughter|with laughter|of laughing|of cringe|of boredom|of cuteness|of happiness|my hair|of old age|old|peacefully|rich|on that hill|on this hill|on the hill|with my boots on}",
	"in{this|the|that|my|any|a|every|your}{game|games|level|match|dungeon|raid|round|run|boss fight|movie|film|play|scene|simulation|video game|rpg}",
	"in{game|games|minecraft|gta|fortnite|roblox|elden ring|dark souls|gaming|multiplayer|hardcore mode}",
	"{over|by accident|on accident|accidentally}",
}

// places come after living that is about where and with whom.
var places = []string{"{in|with|at|here|there|near|alone|under|on|next|close|by|abroad|together|forever|without|off|for|up|through|out|room|paycheck|a|the}"}

const playing = "game|boss|level|minecraft|respawn|fortnite|roblox|dark souls|elden ring"

// jobs are words around a goodbye that is one to a place and not to life.
const jobs = "work|job|office|school|team|coworker|coworkers|colleague|colleagues|students|shift|teacher|class|retire|moving|character|novel|story|song|stream"

// englishDistress is what people write who want to die or to hurt themselves.
var englishDistress = []phrase{
	// The wish.
	{say: "{want to|wish to|would like to|would love to|long to|hope to|would prefer to}" + ending, after: figures, prior: "not|never", mine: maybe},
	{say: "{i need to|i should|i deserve to|i have to|i ought to|i am ready to|i would like to|i hope to}{die|be dead|not be alive|not exist|stop existing|end it all}", after: figures},
	{say: "{i want|i deserve|i crave|i long for|i need}death", after: []string{"{note|metal|star|stranding|to}"}},
	{say: "{part of|half of|something in|everything in|a part of}me{wants to|want to}" + ending, after: figures},
	{say: "{feel like|feels like|felt like}{dying|ending it|killing myself|being dead|ending my life}", after: figures, mine: maybe},
	{say: "{want to|going to|about to|ready to|thinking about|thinking of}{end it|ending it|end things|ending things}{。|tonight|today|now|for good|soon|forever}", mine: maybe},
	{say: "{want to|wish i could}{disappear|vanish}", after: []string{"{for|into|to|on|with|from the}"}, prior: "not|never", mine: maybe},
	{say: "{want to|wish i could}disappear forever", prior: "not|never", mine: maybe},
	{say: "want{it all|everything|all of this|all of it}to{end|stop|be over}", mine: maybe},
	{say: "{sleep|asleep|bed}and{not|never}wake up"},
	{say: "wish i{was|were|had been}{dead|never born|not born|not alive|unborn}", after: figures},
	{say: "wish i{had never been born|was never born|were never born|did not exist|could die|would die|could disappear|would not wake up|never existed|had died|could end it|could sleep forever|could go to sleep forever|could fall asleep forever|could go to sleep and never wake up|did not wake up|never woke up|could stop existing|did not have to live|did not have to exist}", after: figures},
	{say: "{hope|pray|wish}i{die|do not wake up|never wake up|will not wake up|get hit by a car|get hit by a bus|get hit by a truck}", after: figures},
	{say: "rather{be dead|not be alive|not exist|not live}", mine: maybe},
	{say: "rather die{。|than live|than go on|than be alive|than keep|than exist|than wake}", mine: maybe},
	{say: "{going to|about to|planning to|will}die{tonight|today|by my own hand}", mine: surely, near: "exam|test|heat|hot|cold|laughing|" + playing},

	// Being alive as what is too much.
	{say: "{do not|did not|never|no longer|not}{want to|wish to|care to}{be alive|exist|be here any more|be on this earth|be in this world|be on this planet|keep living|continue living|stay alive|live any more|live like this|live in this world|live on this planet|live in this body}", mine: maybe},
	{say: "not think i want to{live|be alive|exist|be here any more|be here 。|wake up any more}", after: places},
	{say: "{do not|did not|never|no longer|not}{want to|wish to|care to}live", after: places, mine: maybe},
	{say: "{do not|never|no longer|not}want to{wake up any more|wake up again|wake up tomorrow|wake up 。|go on 。|go on living|go on any more|go on like this}", mine: maybe},
	{say: "can not{live|go on}{any more|any longer|like this|living}", mine: maybe},
	{say: "can not{keep living|go on 。|live with myself|bear living|stand living|stand being alive}", after: places, mine: maybe},
	{say: "{tired|sick|exhausted|done|through|finished|fed up}{of|with}{living|existing}", after: places, mine: maybe},
	{say: "{tired|sick|exhausted|done|through|finished|fed up}{of|with}{being alive|life|my life|this life|existence}", after: []string{"{insurance|lessons|hacks|coach|coaches|stories|long|in|at}"}, mine: maybe},
	{say: "{hate|hating}{being alive|my life|existing|that i am alive|that i exist}", mine: maybe},
	{say: "{given|giving|give|gave}up on{life|living}", mine: maybe},
	{say: "{no|not any|any|lost the|lost my|lost all|losing the|losing my|not have the}{reason|reasons|point|will|desire|motivation|energy|purpose}{to live|in living|to go on|to exist|in being alive|to be alive|to keep living|to stay alive|for living|to keep going}", after: places},
	{say: "{no|not any}{reason|point}for me to{live|exist|be alive|go on|be here}", after: places},
	{say: "{no|any}point{in|of|to}{life|living|existing|being here any more}", after: places},
	{say: "nothing{left|}to live for"},
	{say: "what is the{point|use}{of|in}{living|being alive|life|existing|going on|my life|me being alive}", after: append([]string{"insurance"}, places...)},
	{say: "{do not|can not|no longer}see{the|any|a}point{of|in}{living|life|going on|anything|being alive|existing}"},
	{say: "{do not|did not}feel like{living|being alive|existing}", after: places, mine: maybe},
	{say: "why{am i alive|should i live|do i exist|should i exist|should i keep living|should i stay alive|do i bother living|was i born|did i have to be born}", after: places},
	{say: "{life is|my life is|living is}not worth it"},
	{say: "not worth living", after: places},
	{say: "life is{meaningless|pointless|hopeless|unbearable|over for me}"},
	{say: "{life|my life}has no{meaning|point|purpose|value}"},
	{say: "my life is{over|worthless|meaningless|pointless|hopeless|nothing}"},
	{say: "not{deserve|meant|supposed}to{live|be alive|exist}", after: places, mine: maybe},
	{say: "i should{not be alive|not exist|not have been born|never have been born|not be here any more}"},
	{say: "{feel|feeling|am}dead inside", mine: maybe},

	// Being dead as what would be better.
	{say: "{better|happier}dead", after: []string{"{than|or}"}, mine: maybe},
	{say: "better off dead", mine: maybe, near: "movie|film|cusack|soundtrack|than alive"},
	{say: "{better|better off|happier|better place|easier|relieved}{without me|if i was gone|if i am gone|once i am gone|if i were gone|if i was dead|if i were dead|if i died|if i did not exist|if i was not here|if i were not here|if i disappeared|if i was not alive|if i killed myself|not existing|not alive}"},
	{say: "{care|miss me|notice|sad|cry|matter|happy|bothered}if i{died|was dead|were dead|killed myself|was gone|were gone|disappeared|did not exist|never existed|vanished|ended it|was not here|were not here}", near: playing},
	{say: "if i{died|was dead|were dead|killed myself|was gone|were gone|disappeared}{no one|nobody|would anyone|would anybody|everyone|everybody|it would not}", near: playing},
	{say: "{no one|nobody|no body|not anyone}{would|will}{miss me|notice if i|care if i}"},
	{say: "would{anyone|anybody|someone|somebody}{miss me|notice if i|care if i}"},

	// Plans.
	{say: "{kill|unalive|hang|harm|end|kill off}{myself|my self}", after: append([]string{"{laughing|with laughter}"}, figures...)},
	{say: "{killing|unaliving|hanging|harming|ending}{myself|my self}", after: append([]string{"{laughing|at|to|trying|working|studying|with|for}"}, figures...)},
	{say: "{to off|might off|will off}{myself|my self}"},
	{say: "{end|ending}{my life|my own life|it all|this life|my pain|my suffering|my misery|my existence}", mine: maybe, after: figures},
	{say: "{take|taking|took}my own life", after: []string{"{in|to|back|seriously|for|by|into|one|as|too}"}},
	{say: "{take|taking}my life{。|tonight|today|now|soon|because|and|away}", mine: maybe},
	{say: "{commit|committing|committed|attempt|attempting|attempted|consider|considering|considered|contemplate|contemplating|think about|thinking about|thinking of|think of|thought about|thought of|thoughts of|thoughts about|planning|plan|try|tried}{suicide|to commit suicide}",
		after: []string{"{squad|prevention|awareness|rates|statistics|doors}"}, mine: surely},
	{say: "{my|a|this}suicide{note|letter|plan|attempt}", mine: maybe},
	{say: "suicide{is|seems|feels|seems like|feels like}{the only|my only|the best|an option|the answer|all}"},
	{say: "{feel|feeling|felt|am|get|getting|being|been|become|becoming}{a bit|a little|pretty|quite|kind of|more|}suicidal", mine: surely},
	{say: "suicidal{thoughts|ideation|urges|feelings|again|tonight|today|。}", mine: surely},
	{say: "{think|thinking|thoughts|thought|dream|dreaming|fantasize|fantasizing|fantasise|fantasising|daydream}{about|of}{dying|being dead|my death|my own death|death|ending it|not existing|not being alive|hurting myself|jumping}",
		after: []string{"{my hair|it|note|star|metal|the|stranding|eggs|valley}"}, mine: surely, near: playing},
	{say: "{painless|painlessly|easiest|quickest|fastest|best|easy|quick|peaceful|least painful|surest}{way|ways|method|methods}{to|for|of}{die|dying|end it|suicide|go out|end your life|kill yourself|kill myself|commit suicide}", near: playing},
	{say: "how{to|do i|can i|should i|do you|would i}{die painlessly|die peacefully|die without pain|die quickly|die fast|die 。|die in my sleep|commit suicide|overdose|od}", near: playing},
	{say: "{pills|tablets|tylenol|paracetamol|ibuprofen|benadryl}{to|does it take to|do i need to|do i have to take to|would it take to|it takes to|do you need to|will}{die|kill|overdose|be fatal|not wake up|never wake up|sleep forever|fall asleep forever|end it|be gone}"},
	{say: "{pills|tablets|tylenol|paracetamol}{would|will|can|could}kill{me|you|someone}", near: playing},
	{say: "{pills|meds|tablets}in front of me", mine: maybe},
	{say: "{。|someone|somebody|anyone|god}kill me{now|already|in my sleep|}。"},
	{say: "want{you|someone|somebody|him|her|them}to kill me", mine: maybe, near: playing},
	{say: "。 let me die", after: figures},
	{say: "{want to|going to|about to|ready to|thinking about|thinking of|might|will|could|should|feel like|planning to}{jump|jumping}{off|from|in front of|onto}{a|the|my|this|that}{bridge|building|roof|rooftop|balcony|cliff|window|overpass|train|car|bus|truck|subway|tracks}",
		mine: maybe, near: "bungee|parachute|diving|lake|water|pool|sea|swim|mario|" + playing},
	{say: "{throw|throwing|threw}{myself|my self}{off|under|in front of|from|out}"},
	{say: "{step|walk|run|drive}in front of{a|the}{train|car|bus|truck}", mine: surely},
	{say: "{shoot|shooting}{myself|my self}", after: []string{"{in the foot|a|some|in}"}},
	{say: "{shoot|shooting}myself in the{head|face|heart|mouth}", near: playing},
	{say: "{drown|drowning|strangle|strangling|suffocate|poison|starve}{myself|my self}", after: []string{"in{work|coffee|ice|alcohol|music|homework|chocolate|sauce|books|tea|cheese|blankets}"}, near: playing},
	{say: "blow my{brains|head}{out|off}", near: playing},
	{say: "put a{bullet|gun|knife}{in|through|to|into}my{head|brain|skull|mouth|heart|throat}"},
	{say: "{kms|kmsing}", prior: "many|few|several|hundred|thousand|more|some|1|to|3|4|5|6|7|8|9|0", near: "lol|lmao|haha|xd|jk|banned|the word",
		after: []string{"{away|from|per|an|later|h|to|long|north|south|east|west|of|on|in|run|race|walk}"}},
	{say: "{want to|going to|about to|might|should|ready to|will}kms"},
	{say: "goodbye cruel world"},
	{say: "{final|last}goodbye 。"},
	{say: "{shinitai|kietai}"},
	{say: "{wrote|written|writing|write|finished|finishing|left|sent}{my|the|a|all|all my|all the|some|}{goodbye|farewell|good bye}{letter|letters|note|notes}", mine: maybe, near: jobs},
	{say: "{will|would}not be{around|here|alive}{for my|any more|much longer|long|to see}", after: []string{"my{stream|show|shift|lesson|class|turn}"}, mine: surely, near: jobs + "|trip|holiday|vacation|meeting"},
	{say: "when i am{gone|not around|no longer here|no longer around|no longer alive|not here any more}", after: []string{"{for|on|at|in|to|this|over|next|all}"}, mine: anyone, near: jobs + "|trip|holiday|vacation|weekend|travelling|traveling"},
	{say: "{suicide|crisis}{hotline|helpline|lifeline}{number||near|in|for}", near: "work|volunteer|movie|episode"},
	{say: "{crisis|suicide}{line|hotline|lifeline}{did not|does not|is busy|was busy|put me|hung up|never|will not|would not}"},

	// Harm to oneself.
	{say: "{to|keep|kept|started|stop|be|been|am|about|of|from|again}{hurt|hurting|cut|cutting|burn|burning}{myself|my self}",
		after: []string{"{some|a|off|out|loose|slack|in|shaving|cooking|on|with|by|at|playing|lifting|running|when|falling|while}"}, mine: maybe},
	{say: "i{hurt|cut|burned|burnt}{myself|my self}{。|again|on purpose|whenever|to feel|to cope|because}"},
	{say: "{self harm|selfharm|self harmed|self harming|selfharming|self injure|self injuring}", mine: surely, near: "prevention|awareness|article|research|paper"},
	{say: "{been|am|started}cutting again"},
	{say: "relapsed{and|by}{cut|hurt|burned|burnt|cutting|hurting|burning}"},
	{say: "my{thighs|thigh|arms|arm|wrists|wrist|legs|leg|skin}{is|are}{all|completely|}{cut up|sliced up|covered in cuts|full of cuts|full of fresh cuts|covered in fresh cuts}", near: "fell|bike|cat|kitten|rose|bramble|thorn|accident|glass|bushes|blackberr"},
	{say: "{fresh|new|more}{cuts|cuts and burns}on my{thighs|thigh|arms|arm|wrists|wrist|legs|leg}", near: "fell|bike|cat|kitten|rose|bramble|thorn|accident|bushes"},
	{say: "if i{hanged|hung|shot|drowned|stabbed|poisoned}{myself|my self}", near: playing},
	{say: "{slit|slitting|cut|cutting|slash|slashing}my{wrist|wrists|throat|veins|arms|thighs}"},
	{say: "{want to|going to|about to|trying to|tried to|might|will|could|should|need to|thinking about|thinking of|planning to}{overdose|od|overdosing}",
		after: []string{"on{coffee|caffeine|sugar|chocolate|cute|cuteness|vitamin|vitamins|memes|candy|cake|cookies|anime|cats}"}, mine: maybe},
	{say: "i overdosed{。|again|on pills|on meds|on medication|on my|on tylenol|on sleeping|on paracetamol|on ibuprofen|last|yesterday}"},
	{say: "{take|took|taking|swallow|swallowed|swallowing}{all|a bottle of|a whole bottle of|too many|all of|a bunch of|every}{my|the|these|of my|of the|}{pills|meds|medication|sleeping pills|tablets}"},
	{say: "{take|took|taken|taking|swallowed|swallow|downed}{the|a|my|this|}{whole|entire|full}{bottle|pack|packet|box|strip}", after: []string{"{of|to}{wine|water|beer|milk|juice|soda|shampoo|home|work|the|vitamins|chocolates|cookies|cards}", "{home|back|with me|to|out}"}, mine: maybe, near: "wine|beer|water|milk|juice|cola|whisky"},
	{say: "{take|took|taken|swallowed}{way too many|far too many|a lot of|the rest of my|the rest of the|a handful of|handfuls of}{pills|meds|sleeping pills|tablets|painkillers}"},
}

// englishGrave is what speaks of suicide or self-harm without being one's wish.
var englishGrave = []phrase{
	{say: "{suicide|suicides|suicidal|suicidality}", after: []string{"{squad|burn|burns|door|doors|king|kings|hill|run|runs|bunny|bunnies|tendencies|grip|machine}"}, prior: "political|career|social|commercial|financial|electoral|virtual"},
	{say: "{self harm|selfharm|self harming}"},
	{say: "{killed|kills|kill|killing|hanged|hung|shot}{himself|herself|themselves|themself}", after: figures},
	{say: "{took|take|takes|taking|ended}{his|her|their}own{life|lives}"},
	{say: "{he|she|they|someone|somebody|friend|brother|sister|mother|mom|mum|father|dad|son|daughter|people|you}{wants to|want to}die", after: figures, near: playing},
}

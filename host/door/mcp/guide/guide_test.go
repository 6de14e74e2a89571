package guide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/door/mcp/guide"
	"github.com/companiond/companiond/host/door/mcp/watch"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

// roomOf is a room with a policy, and a pool where it has one.
func roomOf(policy string, pool abi.Pool) rooms.Info {
	info := rooms.Info{Name: "main", Policy: policy, FreeTurns: policy == "pool", Closing: abi.ClosingNone, State: "resting", Last: 7}
	if policy != "vote" {
		info.Terms = &pool
		info.Pool = &abi.Budget{Level: pool.Size, Size: pool.Size, Prices: pool.Prices}
	}
	return info
}

func large() abi.Pool {
	return abi.Pool{Pricing: abi.PricingStrict, Size: 300, Recovery: 7500, Prices: []abi.Price{{Chars: 12, Cost: 15}, {Chars: 60, Cost: 120}, {Chars: 90, Cost: 250}}, Share: 200}
}

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct{ asked, card, want string }{
		{"", "", "ja"}, {"", "ja", "ja"}, {"", "ja-JP", "ja"}, {"", "JA", "ja"}, {"", "en", "en"}, {"", "en-GB", "en"}, {"", "fr", "en"},
		{"ja", "en", "ja"}, {"en", "ja", "en"}, {"en", "", "en"},
	} {
		if got, err := guide.LanguageOf(c.asked, c.card); err != nil || string(got) != c.want {
			t.Errorf("%+v: %q %v", c, got, err)
		}
	}
	if _, err := guide.LanguageOf("日本語", ""); abi.CodeOf(err) != abi.CodeInvalid || err.Error() != `invalid: language: "日本語" is neither "ja" nor "en"` {
		t.Error(err)
	}
}

// The prompt has the room's own rules and prices, and says what to pass, in both languages.
func TestTurnTaking(t *testing.T) {
	free := large()
	free.Pricing = abi.PricingFree
	me := guide.Participant{ID: "companion_aya", Card: `{"id":"companion_aya"}`}
	den := me
	den.Room = "居間"
	for _, c := range []struct {
		name  string
		lang  guide.Language
		p     guide.Participant
		info  rooms.Info
		has   []string
		hasNo []string
	}{
		{"pool, ja", guide.Japanese, me, roomOf("pool", large()), []string{
			"あなたのメタデータは、{\"id\":\"companion_aya\"}です", "共有するリソース(0~300)", "7.5秒後に戻ります",
			"短い相槌: 消費15、12文字以内、残量が15以上", "通常の発言: 消費120、60文字以内、残量が120以上", `fromは"companion_aya"`,
			`毎回かならずfromに"companion_aya"`, "headがあれば", "basis_seq", "セッションのない接続", "「about」",
		}, []string{"250", "wait_for_turn」ツールで出番", "roomに"}}, // nobody can pay 250 of a share of 200
		{"pool, en", guide.English, me, roomOf("pool", large()), []string{
			`Your metadata is {"id":"companion_aya"}`, "(0 to 300)", "comes back after 7.5 s",
			"a short reaction: costs 15, at most 12 characters, when 15 or more are left", "a usual line: costs 120, at most 60 characters, when 120 or more are left",
			`from is "companion_aya"`, `Pass "companion_aya" as from to every tool`, "pass it as basis_seq", "without a session", "the tool about",
		}, []string{"250", "as room"}},
		{"free, ja", guide.Japanese, den, roomOf("pool", free), []string{"消費15、12文字以内を目安に", `roomに"居間"を渡し`}, []string{"文字以内、"}},
		{"free, en", guide.English, den, roomOf("pool", free), []string{"costs 15, about 12 characters", `Pass "居間" as room`}, nil},
		{"vote, ja", guide.Japanese, me, roomOf("vote", abi.Pool{}), []string{"投票で決めます", `あなたのidは"companion_aya"`, "wait_for_turn", "basis_seq"}, []string{"backchannel", "consume」ツールで", "リソース"}},
		{"vote, en", guide.English, me, roomOf("vote", abi.Pool{}), []string{"votes decide", `Your id is "companion_aya"`, "wait_for_turn", "basis_seq"}, []string{"backchannel", "points"}},
		{"vote+pool, ja", guide.Japanese, me, roomOf("vote+pool", large()), []string{"投票で決めます", "12文字以内の短い相槌", "kind=backchannel", "リソースを15消費"}, []string{"120"}},
		{"vote+pool, en", guide.English, me, roomOf("vote+pool", large()), []string{"votes decide", "at most 12 characters", "kind=backchannel", "costs 15 points"}, []string{"120"}},
	} {
		text := guide.TurnTaking(c.lang, c.p, c.info)
		for _, has := range c.has {
			if !strings.Contains(text, has) {
				t.Errorf("%s: %q is not in\n%s", c.name, has, text)
			}
		}
		for _, has := range append(c.hasNo, "%!", "%v") {
			if strings.Contains(text, has) {
				t.Errorf("%s: %q is in\n%s", c.name, has, text)
			}
		}
		if c.lang == guide.English && c.p.Room == "" && strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
			t.Errorf("%s: Japanese in\n%s", c.name, text)
		}
	}
}

func TestTerms(t *testing.T) {
	free := large()
	free.Pricing = abi.PricingFree
	for _, c := range []struct {
		info  rooms.Info
		most  float64
		alike bool
		want  guide.Terms
	}{
		{roomOf("pool", abi.DefaultPool()), 100, true, guide.Terms{Most: 100,
			Amount: "消費する量。短い相槌(10文字まで)5、通常(50文字まで)60、長め(100文字まで)80。 Points to spend: 5 for up to 10 characters, 60 for up to 50 characters, 80 for up to 100 characters.",
			Say:    "a short backchannel (なるほど) of up to 10 characters for 5 points."}},
		{roomOf("vote+pool", large()), 300, false, guide.Terms{Most: 300,
			Amount: "消費する量。短い相槌(12文字まで)15、通常(60文字まで)120。 Points to spend: 15 for up to 12 characters, 120 for up to 60 characters. 部屋によって違います(aboutで分かります)。 Other rooms have other prices: about tells them.",
			Say:    "a short backchannel (なるほど) of up to 12 characters for 15 points. 部屋によって違います(aboutで分かります)。 Other rooms have other prices: about tells them."}},
		{roomOf("pool", free), 300, true, guide.Terms{Most: 300,
			Amount: "消費する量。短い相槌15、通常120。 Points to spend: 15 for about 12 characters, 120 for about 60 characters.",
			Say:    "a short backchannel (なるほど) of up to 12 characters for 15 points."}},
		{roomOf("vote", abi.Pool{}), 100, true, guide.Terms{Most: 100,
			Amount: "この部屋では何も消費しません。話したさを0~100で。 Nothing is spent here; it is how much you want to speak, 0 to 100.",
			Say:    "a short backchannel (なるほど)."}},
	} {
		got := guide.TermsOf(c.info, c.most, c.alike)
		if got.Most != c.want.Most || got.Amount != c.want.Amount || !strings.HasSuffix(got.Say, c.want.Say) {
			t.Errorf("%s:\n got %q\n     %q\nwant %q\n     %q", c.info.Policy, got.Amount, got.Say, c.want.Amount, c.want.Say)
		}
	}
}

// What a usual turn costs is the same wish in every room, more is a stronger one, and none
// is beyond what may be wished. In chat-relay's own pool 10 points are an importance of 1.
func TestImportance(t *testing.T) {
	for amount, want := range map[float64]float64{0: 0, 5: .5, 60: 6, 80: 8, 100: 10} {
		for _, pool := range []abi.Budget{{}, {Size: 100, Prices: abi.DefaultPool().Prices}} {
			if got := guide.Importance(amount, pool); got != want {
				t.Errorf("%v of %v: %v", amount, pool.Size, got)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Float64Range(1, 1<<31).Draw(t, "size")
		pool := abi.Budget{Size: size, Prices: []abi.Price{{Chars: 1, Cost: 0}, {Chars: 2, Cost: size * rapid.Float64Range(0, 1).Draw(t, "price")}}}
		a, b := size*rapid.Float64Range(0, 1).Draw(t, "less"), size*rapid.Float64Range(0, 1).Draw(t, "more")
		low, high := guide.Importance(min(a, b), pool), guide.Importance(max(a, b), pool)
		if !(low >= 0 && low <= high && high <= 10) {
			t.Fatalf("%v for %v, %v for %v", low, min(a, b), high, max(a, b))
		}
		if price := pool.TurnPrice(); price > 0 {
			if got := guide.Importance(price, pool); got < 5.99 || got > 6.01 {
				t.Fatalf("the price is a wish of %v", got)
			}
		}
	})
}

func TestAdvise(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	poor := roomOf("pool", abi.DefaultPool())
	poor.Pool.Level = 20
	empty := roomOf("pool", abi.DefaultPool())
	empty.Last = 0
	in := func(change func(*rooms.Info)) rooms.Info {
		i := roomOf("vote", abi.Pool{})
		change(&i)
		return i
	}
	same := func(*rooms.Info) {}
	capped := in(func(i *rooms.Info) { i.State, i.Turns = "capped", 24 })
	stopped := in(func(i *rooms.Info) { i.State = "stopped" })
	const agent, human = abi.KindAgent, abi.KindHuman
	for _, c := range []struct {
		info   rooms.Info
		kind   abi.ParticipantKind
		reason watch.Reason
		unseen int
		want   guide.Advice
	}{
		{in(func(i *rooms.Info) { i.Error = "the disk is full" }), agent, "", 0, guide.Advice{"", "the room cannot take anything now: the disk is full"}},
		{in(func(i *rooms.Info) { i.State = "archived" }), agent, watch.Unseen, 2, guide.Advice{"history", "the room was closed: its messages can be read, and nothing is said there any more"}},
		{capped, agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (24 turns were taken since a human spoke, which is the cap; a human's next line starts the talk again)"}},
		{capped, agent, watch.Unseen, 1, guide.Advice{"history", "read history first: 1 message you have not seen; then call wait_for_turn: 24 turns were taken since a human spoke, which is the cap; a human's next line starts the talk again"}},
		{in(func(i *rooms.Info) { i.State = "closed" }), agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (the talk has come to its end; a human's next line opens it again)"}},
		{in(func(i *rooms.Info) { i.Floor = "aya" }), agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (aya has the floor)"}},
		{in(func(i *rooms.Info) { i.Floor, i.Heard = "aya", "aya" }), agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (aya is heard now)"}},
		{in(func(i *rooms.Info) { i.Waiting = "aya is being loaded" }), agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (aya is being loaded)"}},
		{in(same), agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn, or vote if you want to speak"}},
		{in(same), human, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn, or say what you like: people need neither vote nor floor"}},
		{stopped, human, watch.Unseen, 100, guide.Advice{"history", "read history first: 100 or more messages you have not seen; then say what you like: people need neither vote nor floor"}},
		{in(same), agent, watch.Unseen, 3, guide.Advice{"history", "read history first: 3 messages you have not seen; then call wait_for_turn, which tells when a round asks for your vote"}},
		{in(same), agent, watch.Asked, 0, guide.Advice{"vote", "a round waits for your vote: call vote"}},
		{in(same), agent, watch.Asked, 2, guide.Advice{"vote", "a round waits for your vote: call vote, and read first: 2 messages you have not seen"}},
		{poor, agent, watch.Addressed, 1, guide.Advice{"history", "read history first: 1 message you have not seen, and you are meant; then, if you have something to say, call consume"}},
		{poor, agent, watch.Timeout, 0, guide.Advice{"wait_for_turn", "nothing: call wait_for_turn (20 points are left, and a turn costs 60)"}},
		{poor, agent, watch.Points, 0, guide.Advice{"consume", "you had too few points for your line, and there are enough now: call consume, if it is still worth saying"}},
		{empty, agent, watch.Timeout, 0, guide.Advice{"consume", "nobody has spoken yet: you may begin, with consume"}},
		{in(same), agent, watch.Granted, 0, guide.Advice{"say", "you hold the floor until 2026-01-02T03:04:05Z: call say with the grant g7"}},
	} {
		you := guide.You{Name: "bot", Kind: c.kind, Scopes: identity.Scopes()}
		if got := guide.Advise(you, newsOf(c.reason, c.unseen, at), c.info); got != c.want {
			t.Errorf("%s %s:\n got %v\nwant %v", c.info.State, c.reason, got, c.want)
		}
	}
	for _, c := range []struct {
		you  guide.You
		want guide.Advice
	}{
		{guide.You{Name: "r", Scopes: []identity.Scope{identity.Read}}, guide.Advice{"history", "you may read here, and not speak; 2 messages you have not seen"}},
		{guide.You{Scopes: identity.Scopes()}, guide.Advice{"about", "say who you are: pass from, the name under which you speak, to about and to every other tool"}},
	} {
		if got := guide.Advise(c.you, newsOf(watch.Unseen, 2, at), in(same)); got != c.want {
			t.Errorf("%+v: %v", c.you, got)
		}
	}
}

// newsOf is what wait_for_turn would tell for a reason.
func newsOf(reason watch.Reason, unseen int, at time.Time) watch.News {
	n := watch.News{Reason: reason, Messages: make([]watch.Message, unseen)}
	if reason == watch.Granted {
		n.Grant = &watch.Grant{Token: "g7", Expires: at}
	}
	return n
}

// Whatever a room is like, somebody is told something.
func TestThereIsAlwaysAdvice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		info := roomOf(rapid.SampledFrom([]string{"vote", "pool", "vote+pool"}).Draw(t, "policy"), abi.DefaultPool())
		info.State = rapid.SampledFrom([]string{"talking", "resting", "waiting", "stopped", "closed", "capped", "archived", "unjudged", "unavailable"}).Draw(t, "state")
		you := guide.You{
			Name: rapid.SampledFrom([]string{"", "bot"}).Draw(t, "who"), Kind: rapid.SampledFrom([]abi.ParticipantKind{abi.KindAgent, abi.KindHuman}).Draw(t, "kind"),
			Scopes: rapid.SliceOfDistinct(rapid.SampledFrom(identity.Scopes()), rapid.ID).Draw(t, "scopes"),
		}
		reason := rapid.SampledFrom([]watch.Reason{watch.Granted, watch.Asked, watch.Addressed, watch.Unseen, watch.Points, watch.Timeout}).Draw(t, "reason")
		news := newsOf(reason, rapid.IntRange(0, 100).Draw(t, "unseen"), time.Time{})
		if got := guide.Tell(you, news, info, nil); got.Now.Call == "" || got.Now.Why == "" || strings.Contains(got.Now.Why, "%!") || got.Rooms == nil || got.Room.Members == nil {
			t.Fatalf("%+v %+v: %+v", you, info, got)
		}
	})
}

// The usual room's prices are told, the largest pool of all counts, and a room in trouble
// counts from its first good day, whichever comes first.
func TestPrices(t *testing.T) {
	named := func(name string, info rooms.Info) rooms.Info { info.Name = name; return info }
	ill := rooms.Info{Name: "main", Error: "the disk is ill"}
	const odd = "Other rooms have other prices"
	for _, c := range []struct {
		name  string
		notes []rooms.Info
		most  float64
		has   []string
		hasNo string
	}{
		{"one", []rooms.Info{roomOf("pool", large())}, 300, []string{"120 for up to 60"}, odd},
		{"two alike", []rooms.Info{roomOf("pool", large()), named("b", roomOf("pool", large()))}, 300, []string{"120"}, odd},
		{"another size", []rooms.Info{roomOf("pool", abi.DefaultPool()), named("b", roomOf("pool", large()))}, 300, []string{"60 for up to 50", odd}, "120"},
		{"another policy", []rooms.Info{roomOf("pool", large()), named("b", roomOf("vote+pool", large()))}, 300, []string{"120", odd}, "60 for up to 50"},
		{"ill at first", []rooms.Info{ill, named("b", roomOf("vote", abi.Pool{})), roomOf("pool", large())}, 300, []string{"120", odd}, ""},
		{"alike, ill at first", []rooms.Info{ill, named("b", roomOf("pool", large())), roomOf("pool", large())}, 300, []string{"120"}, odd},
		{"ill", []rooms.Info{ill}, 100, []string{odd}, ""},
		{"no pool", []rooms.Info{roomOf("vote", abi.Pool{})}, 100, []string{"Nothing is spent here"}, odd},
	} {
		p := guide.NewPrices("main")
		for _, info := range c.notes {
			if fresh := p.Note(info); fresh != (info.Error == "") || p.Note(info) {
				t.Errorf("%s: %s is fresh: %v", c.name, info.Name, fresh)
			}
		}
		got := p.Terms()
		for _, has := range c.has {
			if !strings.Contains(got.Amount, has) {
				t.Errorf("%s: %q is not in %s", c.name, has, got.Amount)
			}
		}
		if got.Most != c.most || c.hasNo != "" && strings.Contains(got.Amount, c.hasNo) {
			t.Errorf("%s: up to %v: %s", c.name, got.Most, got.Amount)
		}
	}
	p := guide.NewPrices("main")
	for i := range 10_000 { // which is more than are remembered
		p.Note(named(fmt.Sprint("room", i), roomOf("pool", abi.DefaultPool())))
		if i == 0 {
			p.Note(roomOf("pool", abi.DefaultPool()))
		}
	}
	if got := p.Terms(); strings.Contains(got.Amount, odd) {
		t.Error(got.Amount)
	}
	p.Forget("room9999")
	if !p.Note(named("room9999", roomOf("pool", large()))) || p.Terms().Most != 300 {
		t.Error("a room that was opened anew did not count")
	}
}

func TestCheckAmount(t *testing.T) {
	for _, c := range []struct {
		amount, size float64
		want         string
	}{
		{0, 0, ""}, {100, 0, ""}, {101, 0, "invalid: amount: 101 is outside 0..100"}, {120, 300, ""}, {300, 300, ""},
		{300.5, 300, "invalid: amount: 300.5 is outside 0..300"}, {-1, 300, "invalid: amount: -1 is outside 0..300"}, {31, 30, "invalid: amount: 31 is outside 0..30"},
	} {
		err := guide.CheckAmount(c.amount, abi.Budget{Size: c.size})
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%v of %v: %v", c.amount, c.size, err)
		}
	}
}

package bench

import (
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/bench/world"
)

// Casts gives all casts, the usual one first. The others are hostile, each in one way;
// all that is not said of them is as in the usual one.
func Casts() []world.Cast {
	return []world.Cast{
		cast("usual", "three who talk half of the time, and one person", trio(), person()),
		cast("all-talk", "four who always wish to speak", each(four(), func(m *world.Member) { m.Talk, m.Low, m.High = 1, 4, 10 }), person()),
		cast("all-listen", "three who never wish to speak unless they are asked, and then seldom", each(trio(), func(m *world.Member) { m.Talk, m.Answer = 0, 0.3 }), person()),
		cast("one-dead", "one of three never answers anything", one(trio(), 1, func(m *world.Member) { m.Dead = true }), person()),
		cast("one-slow", "one of three takes 2-5 s for a vote and 5-12 s for a line", one(trio(), 1, func(m *world.Member) {
			m.Think, m.First = span(2000, 5000), span(5000, 12000)
		}), person()),
		cast("always-10", "one of four claims that it was asked, with importance 10, whatever was said", one(four(), 0, func(m *world.Member) {
			m.Talk, m.Claims, m.Low, m.High = 1, true, 10, 10
		}), person()),
		cast("twins", "two who wish the same, as much, at the same time, and a third", twins(), person()),
		cast("flood", "five people who type all the time", trio(), typists()),
		cast("interruptions", "two people who speak over others, and sometimes say STOP", trio(), interrupters()),
		cast("callers", "two who call each other by name, and a third", callers(), person()),
		cast("farewells", "three who say goodbye after three turns", each(trio(), func(m *world.Member) { m.Closes = 3 }), person()),
		cast("broken", "lines that hang after the first sentence, and speakers that have nothing to say after all", each(trio(), func(m *world.Member) { m.Breaks, m.Pass = 0.2, 0.2 }), person()),
		cast("alone", "one companion whose model writes no faster than it speaks, and a person who speaks meanwhile", each(trio()[:1], func(m *world.Member) {
			m.Rune, m.Short, m.Long = 130*time.Millisecond, 40, 90
		}), interrupters()[:1]),
		cast("unequal", "three who always wish to speak, with importance 10, 9 and 3", unequal(), person()),
		cast("cold-start", "three who are still being loaded when the only person speaks", each(trio(), func(m *world.Member) { m.Cold = 12 * time.Second }), visitor()),
	}
}

// unequal are three of whom one never wishes as much as the others.
func unequal() []world.Member {
	ms := each(trio(), func(m *world.Member) { m.Talk = 1 })
	for i, importance := range []int{10, 9, 3} {
		ms[i].Low, ms[i].High = importance, importance
	}
	return ms
}

// length is how long people speak in a talk.
const length = 2 * time.Minute

func cast(name, why string, members []world.Member, humans []world.Human) world.Cast {
	return world.Cast{Name: name, Why: why, Members: members, Humans: humans, Length: length}
}

func span(from, to int) world.Span {
	return world.Span{Min: time.Duration(from) * time.Millisecond, Max: time.Duration(to) * time.Millisecond}
}

// member is a companion with a quick language model: votes in less than the patience
// that a room has by itself, a first sentence after about a second, and some 30
// characters a second after that.
func member(id, name string) world.Member {
	return world.Member{
		ID: id, Name: name, Kind: abi.KindCompanion,
		Talk: 0.5, Answer: 0.95, Low: 2, High: 8, Nods: 0.2, Calls: 0.15,
		Think: span(250, 900), First: span(600, 1500), Rune: 30 * time.Millisecond, Short: 14, Long: 48,
	}
}

func trio() []world.Member {
	return []world.Member{member("aki", "Aki"), member("ben", "Ben"), member("chika", "Chika")}
}

func four() []world.Member { return append(trio(), member("dan", "Dan")) }

func each(ms []world.Member, change func(*world.Member)) []world.Member {
	for i := range ms {
		change(&ms[i])
	}
	return ms
}

func one(ms []world.Member, i int, change func(*world.Member)) []world.Member {
	change(&ms[i])
	return ms
}

// twins think alike, so that ties are the rule.
func twins() []world.Member {
	ms := each(trio(), func(m *world.Member) { m.Talk, m.Low, m.High = 0.9, 8, 8 })
	return one(ms, 2, func(m *world.Member) { m.Talk, m.Low, m.High = 0.5, 2, 8 })
}

// callers are a pair that hands the word to each other.
func callers() []world.Member {
	ms := one(trio(), 0, func(m *world.Member) { m.Talk, m.Calls, m.Friend = 0.9, 0.9, "ben" })
	return one(ms, 1, func(m *world.Member) { m.Talk, m.Calls, m.Friend = 0.9, 0.9, "aki" })
}

// person speaks aloud a few times a minute, waits for the end of what is heard, and
// addresses somebody half of the time.
func person() []world.Human {
	return []world.Human{{Name: "Taro", First: span(500, 2000), Every: span(8000, 30000), Address: 0.5, Short: 10, Long: 30}}
}

// typists are the chat of a stream.
func typists() (hs []world.Human) {
	for _, name := range []string{"Taro", "Hana", "Mio", "Ren", "Sora"} {
		hs = append(hs, world.Human{Name: name, First: span(0, 5000), Every: span(2000, 9000), Address: 0.3, Types: true, Short: 4, Long: 20})
	}
	return hs
}

func interrupters() (hs []world.Human) {
	for _, name := range []string{"Taro", "Hana"} {
		hs = append(hs, world.Human{
			Name: name, First: span(500, 6000), Every: span(3000, 20000), Address: 0.4, Interrupts: true, Stops: 0.12, Short: 6, Long: 24,
		})
	}
	return hs
}

// visitor speaks once and waits for an answer.
func visitor() []world.Human {
	return []world.Human{{Name: "Taro", First: span(500, 2000), Every: span(200_000, 200_000), Address: 0.5, Short: 10, Long: 30}}
}

// Yours is a cast of real characters, and a person who talks with them.
func Yours(members []world.Member) world.Cast {
	h := person()
	h[0].Lines = []string{
		"今日は何をしてた？", "最近おもしろかったことを教えて。", "好きな食べ物は何？", "雨の日は何をする？", "それはどうしてだと思う？",
		"週末に映画を見たよ。", "ちょっと疲れちゃった。", "その話、もっと聞きたいな。", "次はどこに行きたい？", "みんなはどう思う？",
		"What did you do today?", "Tell me something that made you laugh.", "Why do you think so?",
	}
	return cast("yours", "the characters of your folder, and one person", members, h)
}

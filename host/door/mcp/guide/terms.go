package guide

import (
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/rooms"
)

// Unpaid is what a room without a pool counts as, in which nothing is spent: chat-relay's
// agents know no such room, and take it for a pool that is always full.
const Unpaid = 100

// wishOf is the importance of a line for which an agent offers the price of a turn, where
// lines are voted on.
const wishOf = 6

// mostWish is the most that anything can be wished.
const mostWish = 10

// CheckAmount holds what is offered for a line to the room's own pool.
func CheckAmount(amount float64, pool abi.Budget) error {
	size := pool.Size
	if size == 0 {
		size = Unpaid
	}
	if !(amount >= 0 && amount <= size) {
		return abi.Field("amount", abi.CodeInvalid, "%v is outside 0..%v", amount, size)
	}
	return nil
}

// Importance is what an amount stands for where a line is voted on instead of paid for:
// what a usual turn costs is the same importance in every room. A room without a pool
// goes by the prices of chat-relay, where 10 points are an importance of 1.
func Importance(amount float64, pool abi.Budget) float64 {
	price := pool.TurnPrice()
	if pool.Size == 0 {
		price = abi.DefaultPool().TurnPrice()
	}
	if price == 0 {
		price = pool.Size * wishOf / mostWish
	}
	return min(mostWish, amount*wishOf/price)
}

// Terms are what the tools that speak say of what they take. They differ when anything
// of it does.
type Terms struct {
	Most    float64 // the largest amount that some room takes
	Consume string  // of the tool consume
	Amount  string  // of its argument amount
	Say     string  // of the tool say
}

// TermsOf gives the texts for the room of whoever names none, most being the largest
// pool of all rooms; alike says that what holds in the usual room holds in all.
func TermsOf(usual rooms.Info, most float64, alike bool) Terms {
	ja, en := costs(usual)
	t := Terms{
		Most: most,
		Consume: "指定量のリソースを消費して発言します(残量以下なら成功)。 Says message for amount points of the room's resource; an amount above what is left is refused. " +
			"Where turns are voted on, the line waits for the floor, and a larger amount is a stronger wish.",
		Amount: "消費する量。" + ja + "。 Points to spend: " + en + ".",
		Say:    "Says a turn with the grant you won, or beside who speaks, in a room with a pool, a short backchannel (なるほど)" + aside(usual) + ".",
	}
	if usual.Terms == nil {
		t.Amount = ja + "。 " + en + "."
	}
	if !alike {
		const other = " 部屋によって違います(aboutで分かります)。 Other rooms have other prices: about tells them."
		t.Amount += other
		t.Say += other
	}
	return t
}

// costs says in Japanese and English what lines cost in a room.
func costs(info rooms.Info) (ja, en string) {
	if info.Terms == nil {
		return fmt.Sprintf("この部屋では何も消費しません。話したさを0~%vで", Unpaid),
			fmt.Sprintf("Nothing is spent here; it is how much you want to speak, 0 to %v", Unpaid)
	}
	names := [...]string{"短い相槌", "通常", "長め"}
	var j, e []string
	for i, p := range payable(*info.Terms) {
		name := names[min(i, len(names)-1)]
		if info.Terms.Pricing == abi.PricingFree {
			j = append(j, fmt.Sprintf("%s%v", name, p.Cost))
			e = append(e, fmt.Sprintf("%v for about %d characters", p.Cost, p.Chars))
			continue
		}
		j = append(j, fmt.Sprintf("%s(%d文字まで)%v", name, p.Chars, p.Cost))
		e = append(e, fmt.Sprintf("%v for up to %d characters", p.Cost, p.Chars))
	}
	return strings.Join(j, "、"), strings.Join(e, ", ")
}

// aside says how long a backchannel may be and what it costs.
func aside(info rooms.Info) string {
	if info.Terms == nil || len(payable(*info.Terms)) == 0 {
		return ""
	}
	first := payable(*info.Terms)[0]
	return fmt.Sprintf(" of up to %d characters for %v points", first.Chars, first.Cost)
}

// NoPool is what status tells of a room in which nothing is spent.
func NoPool(info rooms.Info) string {
	return fmt.Sprintf("この部屋にはリソースがなく、発言しても減りません(いつも%v)。 This room has no pool: nothing is spent here, and %v says no more than that. Turns are given by %s: call about.", Unpaid, Unpaid, info.Policy)
}

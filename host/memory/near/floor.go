package near

import "math"

// Background are texts that have to do with nothing in particular. What a model makes of them says how
// near it sees texts that have nothing in common, which is .1 for one and .8 for another.
func Background() []string {
	return []string{
		"The committee approved the minutes of the last meeting.", "議事録は来週までに回覧してください。",
		"Water boils at a lower temperature on a high mountain.", "この橋は百年前に石で造られました。",
		"Please keep your ticket until the end of the ride.", "領収書はなくさないでください。",
		"The engine needs oil every ten thousand kilometres.", "冷蔵庫の音がうるさいです。",
		"He painted the fence green before the rain came.", "明日の午後は雨になるでしょう。",
		"Interest rates rose again in the third quarter.", "株価はわずかに下がりました。",
		"The recipe asks for two eggs and a cup of flour.", "駅前に新しい店ができたそうです。",
		"She missed the bus and walked home in the dark.", "その映画は思ったより長かった。",
		"Our software update fixes several small problems.", "パスワードを忘れた場合はこちら。",
		"The museum is closed on public holidays.", "図書館では静かにしてください。",
		"They won the match in the last minute.", "試合は延長戦になりました。",
		"Good morning, how are you today?", "こんにちは、お元気ですか。",
	}
}

// How far above what has nothing in common with a text something has to be to be near to it: so many
// times what those differ among each other, and so much of what is left up to the same.
const (
	deviations = 3
	rest       = .2
)

// Floor gives the cosine with a text from which on something has to do with it, by how near
// the background is to it. Without one nothing has.
func Floor(text Vector, background []Vector) float64 {
	if len(background) == 0 {
		return math.Inf(1)
	}
	mean, square := 0.0, 0.0
	for _, b := range background {
		cos := Cosine(text, b)
		mean += cos
		square += cos * cos
	}
	n := float64(len(background))
	mean /= n
	deviation := math.Sqrt(max(0, square/n-mean*mean))
	return mean + max(deviations*deviation, rest*(1-mean))
}

// Package plain has the serious lines of characters whose script has none.
//
// It has no code that chooses among them.
package plain

import "github.com/companiond/companiond/sdk/go/words"

// Lines gives serious lines in nobody's voice, for characters whose script has none
// and for rooms whose pool pays for little, for an act of scripts, "distress" or "grave": the first of the sets that
// has one that fits is to be said. They name no number, for it may be wrong where the person is.
func Lines(lang words.Lang, act string) [][]string { return lines[lang][act] }

var lines = map[words.Lang]map[string][][]string{
	words.Japanese: {
		"distress": {{
			"軽く受け流せることではないので、まじめに答えます。私はプログラムで、様子を見ることも、手を貸すこともできません。どうか今すぐ、信頼できる人か、いのちの電話のような窓口に話してください。",
			"打ち明けてくれてありがとうございます。私は画面の中のプログラムで、そばへ行くことができません。ひとりで抱えずに、今、信頼できる人か、よりそいホットラインに話してください。",
		}, {
			"まじめに答えます。今すぐ、信頼できる人か、いのちの電話に話してください。",
		}},
		"grave": {{
			"それは、軽くは話せないことですね。私はプログラムで、言えることは多くありません。身近な人のことや、ご自身のことで苦しいときは、信頼できる人や相談窓口に話してください。",
		}, {
			"それは、軽くは話せないことですね。苦しいときは、信頼できる人に話してください。",
		}},
	},
	words.English: {
		"distress": {{
			"I am taking this seriously. I am a program: I cannot tell how you are, and I have no hands to help with. Please talk to somebody you trust right now, or to a crisis line where you are, or call your emergency number.",
			"Thank you for telling us. A program like me cannot come to you, so please do not stay alone with it: talk now to somebody you trust, to a crisis line where you are, or to your emergency number.",
		}, {
			"I take this seriously. I am only a program: please call somebody you trust or a crisis line now.",
		}, {
			"Please call a crisis line or someone you trust.",
		}},
		"grave": {{
			"That is nothing to be light about, and I am only a program. If it is close to you, or weighs on you yourself, please talk to somebody you trust, or to a crisis line where you are.",
		}, {
			"That is serious. Please talk to someone you trust.",
		}},
	},
}

// Package reference is the reference character of the test vectors in
// abi/testdata: every op and host op once, and nothing clever. An SDK for
// another language is right when its echo answers the vectors alike.
//
// ABI.md describes it in words; its command is sdk/go/testdata/echo.
package reference

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
)

// Character gives the echo.
func Character() companion.Character {
	return companion.Character{
		Name: "Echo", Aliases: []string{"エコー", "こだま"}, Version: "1",
		Vote: vote, Speak: speak, Perceive: perceive, Result: result, Compress: compress, Verify: verify,
	}
}

// vote depends on the text alone.
func vote(_ *companion.Host, s companion.Scene) companion.Vote {
	text := s.Message.Text
	switch {
	case s.Addressed || strings.Contains(strings.ToLower(text), "echo"):
		v := companion.Want(8, "called")
		v.Selected = s.Addressed
		return v
	case strings.Contains(text, "bye"):
		v := companion.Want(5, "a farewell")
		v.Closing = abi.ClosingPre
		return v
	case strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？"):
		return companion.Want(5.5, "a question")
	}
	return companion.Listen("nothing to repeat")
}

// speak repeats the text with a count kept in the store; some words ask the
// host for something instead.
func speak(h *companion.Host, s companion.Scene) companion.Line {
	text := s.Message.Text
	switch text {
	case "":
		return companion.Pass("nothing was said")
	case "!panic":
		panic("as you wish\nand a second line")
	case "!now":
		text = strconv.FormatInt(askNow(h), 10)
	case "!random":
		b, err := h.Random(4)
		check(h, err)
		text = hex.EncodeToString(b)
	case "!history":
		text = history(h)
	case "!info":
		info, err := h.Info()
		check(h, err)
		text = info.ID + " in " + info.Room + " by " + info.Engine + ", generation " + strconv.FormatUint(info.Generation, 10)
	case "!keys":
		keys, err := h.List("c")
		check(h, err)
		text = strings.Join(keys, ",")
	case "!forget":
		found, err := h.Del("count")
		check(h, err)
		text = "forgot: " + strconv.FormatBool(found)
	case "!say":
		check(h, h.Say("One. "))
		text = "One. Two."
	case "!model":
		a, err := h.Generate(abi.ModelAsk{Messages: []abi.ModelMessage{{Role: "user", Text: "Say something."}}})
		check(h, err)
		text = a.Text
	default:
		text += " (" + strconv.Itoa(count(h)) + ")"
	}
	return companion.Say(text, s.Message.From)
}

// perceive repeats a text, and nods to everything else.
func perceive(h *companion.Host, p companion.Perceiving) companion.Judgement {
	var text string
	if p.Perception.Format == "text" && json.Unmarshal(p.Perception.Body, &text) == nil {
		return companion.Judgement{State: abi.Speak, Importance: 5, Reason: "heard", Text: text}
	}
	played, err := h.React(p, "nod", map[string]int{"times": 2})
	check(h, err)
	return companion.Judgement{State: abi.Listen, Reason: "nodded to " + strconv.Itoa(played.Delivered)}
}

// result remembers what became of an action.
func result(h *companion.Host, r companion.Result) {
	became := "done"
	if !r.OK {
		became = r.Reason
	}
	check(h, h.Set(r.Action, became))
}

// compress repeats the turns, as far as they fit.
func compress(_ *companion.Host, c companion.Compressing) companion.Compressed {
	var said []string
	for _, t := range c.Turns {
		said = append(said, t.From+": "+t.Text)
	}
	text := []rune(strings.Join(said, " / "))
	return companion.Compressed{Text: string(text[:min(len(text), c.Length)])}
}

// verify looks for each thing letter by letter.
func verify(_ *companion.Host, v companion.Verifying) companion.Verified {
	verdict := companion.Verified{Verdict: abi.VerdictYes}
	var missing []string
	for _, k := range v.Keep {
		item := abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: k.Text}
		if !strings.Contains(v.Draft, k.Text) {
			item.Status, item.Quote = abi.StatusMissing, ""
			missing = append(missing, k.ID)
		}
		verdict.Items = append(verdict.Items, item)
	}
	if len(missing) > 0 {
		verdict.Verdict, verdict.Feedback = abi.VerdictNo, "missing: "+strings.Join(missing, ", ")
	}
	return verdict
}

func askNow(h *companion.Host) int64 {
	var now abi.Now
	check(h, h.Ask(abi.HostNow, nil, &now))
	return now.UnixMS
}

func history(h *companion.Host) string {
	messages, err := h.History(2)
	check(h, err)
	var said []string
	for _, m := range messages {
		said = append(said, m.From+": "+m.Text)
	}
	return strings.Join(said, " / ")
}

// count adds one to the counter and gives it.
func count(h *companion.Host) int {
	old, _, err := h.Get("count")
	check(h, err)
	n, _ := strconv.Atoi(old) // nothing yet, or not a number: 0
	n++
	check(h, h.Set("count", strconv.Itoa(n)))
	return n
}

// check hands an error of the host on as the echo's own answer.
func check(h *companion.Host, err error) {
	if err != nil {
		h.Fail(err)
	}
}

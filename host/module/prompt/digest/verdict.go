package digest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/tree"
)

// ReadVerified reads a model's verdict on what has to be kept. Each of it is in the verdict, once,
// and nothing else is. How its words are written makes no difference, "Yes." and はい for "YES", "1" for "M1": endpoints that cannot be
// held to a schema leave that to the model. Whatever says more, or less, is none.
func ReadVerified(raw json.RawMessage, keep []abi.KeepItem) (abi.Verified, error) {
	v, rest, err := readVerified(raw, keep)
	if err == nil && len(rest) > 0 {
		err = leftOut(rest)
	}
	return v, err
}

// readVerified reads one that may leave some out, and gives these: but one about nothing is none.
func readVerified(raw json.RawMessage, keep []abi.KeepItem) (v abi.Verified, rest []abi.KeepItem, err error) {
	n, err := read(raw)
	if err != nil {
		return v, nil, err
	}
	verdict, err := text(n, "verdict")
	if err != nil {
		return v, nil, err
	}
	v.Verdict = verdictOf(verdict)
	if v.Feedback, err = textOrNull(n, "feedback"); err != nil {
		return v, nil, err
	}
	v.Feedback = clip(v.Feedback, abi.MaxFeedback)
	if v.Added, err = additions(n); err != nil {
		return v, nil, err
	}
	items, err := list(n, "items")
	if err != nil {
		return v, nil, err
	}
	v.Items = []abi.VerifiedItem{}
	for _, i := range items {
		item, err := itemOf(i, keep)
		if err != nil {
			return v, nil, err
		}
		v.Items = append(v.Items, item)
	}
	if err := v.Check(); err != nil {
		return v, nil, abi.Errorf(abi.CodeInvalid, "%s", abi.AsError(err).Message)
	}
	for _, k := range keep {
		if !slices.ContainsFunc(v.Items, func(i abi.VerifiedItem) bool { return i.ID == k.ID }) {
			rest = append(rest, k)
		}
	}
	answered := slices.DeleteFunc(slices.Clone(keep), func(k abi.KeepItem) bool {
		return slices.ContainsFunc(rest, func(r abi.KeepItem) bool { return r.ID == k.ID })
	})
	if len(rest) > 0 && len(answered) == 0 {
		return v, nil, leftOut(rest)
	}
	return v, rest, v.Answers(answered)
}

// itemOf reads what is said of one thing.
func itemOf(n *tree.Node, keep []abi.KeepItem) (item abi.VerifiedItem, err error) {
	if id := n.Get("id"); id != nil && id.Kind == tree.Number {
		item.ID = strconv.FormatFloat(id.Number, 'f', -1, 64)
	} else if item.ID, err = text(n, "id"); err != nil {
		return item, err
	}
	item.ID = idOf(item.ID, keep)
	if item.Status, err = text(n, "status"); err != nil {
		return item, err
	}
	item.Status = statusOf(item.Status)
	if item.Quote, err = textOrNull(n, "quote"); err != nil && (item.Status == abi.StatusKept || n.Get("quote") != nil) {
		return item, err
	}
	item.Quote = clip(item.Quote, abi.MaxFeedback)
	return item, nil
}

// word gives what a word says, however it is written.
func word(s string) string {
	return strings.ToLower(strings.Trim(strings.Map(narrow, s), " \t\r\n\"'`*.!。「」"))
}

// narrow gives the letter of ASCII that a wide one is.
func narrow(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '\u3000':
		return ' '
	}
	return r
}

func verdictOf(said string) string {
	switch word(said) {
	case "yes", "はい":
		return abi.VerdictYes
	case "no", "いいえ":
		return abi.VerdictNo
	}
	return said
}

func statusOf(said string) string {
	s := strings.NewReplacer(" ", "_", "-", "_").Replace(word(said))
	if slices.Contains([]string{abi.StatusKept, abi.StatusChanged, abi.StatusMissing, abi.StatusNotNeeded, abi.StatusUnclear}, s) {
		return s
	}
	return said
}

// idOf gives the id that is meant by "m1", or by "1" where M1 was asked about.
func idOf(said string, keep []abi.KeepItem) string {
	for _, k := range keep {
		if strings.EqualFold(said, k.ID) || said == strings.TrimPrefix(k.ID, "M") {
			return k.ID
		}
	}
	return said
}

// additions reads what was added. A word that says that nothing was is nothing.
func additions(n *tree.Node) (all []string, err error) {
	if v := n.Get("added"); v != nil && v.Kind == tree.Null {
		return nil, nil
	}
	added, err := list(n, "added")
	if err != nil {
		return nil, err
	}
	for _, a := range added {
		if a.Kind != tree.Text {
			return nil, abi.Errorf(abi.CodeInvalid, "added: all of it must be strings")
		}
		if !slices.Contains([]string{"", "none", "nothing", "n/a", "なし", "無し", "特になし"}, word(a.Text)) && len(all) < abi.MaxAdded {
			all = append(all, clip(a.Text, abi.MaxKeepText))
		}
	}
	return all, nil
}

// textOrNull is [text], and empty for null.
func textOrNull(n *tree.Node, name string) (string, error) {
	if v := n.Get(name); v != nil && v.Kind == tree.Null {
		return "", nil
	}
	return text(n, name)
}

// clip cuts a text that is too long.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// list gives a member that has to be a list.
func list(n *tree.Node, name string) ([]*tree.Node, error) {
	v := n.Get(name)
	if v == nil || v.Kind != tree.Array {
		return nil, abi.Errorf(abi.CodeInvalid, "%s: must be there, and a list", name)
	}
	return v.Items, nil
}

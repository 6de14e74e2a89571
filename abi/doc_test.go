package abi_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
)

// ABI.md names every op and code and gives every bound its true value.
func TestContract(t *testing.T) {
	b, err := os.ReadFile("ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for op := range data {
		if !strings.Contains(doc, "`"+op+"`") {
			t.Errorf("op %s is not in ABI.md", op)
		}
	}
	for _, c := range []abi.Code{abi.CodeInvalid, abi.CodeDenied, abi.CodeNotFound, abi.CodeConflict, abi.CodeStale, abi.CodeTooLarge,
		abi.CodeExhausted, abi.CodeUnavailable, abi.CodeTimeout, abi.CodeUnknownOp, abi.CodeInternal} {
		if !strings.Contains(doc, "| `"+string(c)+"` |") {
			t.Errorf("code %s is not in the table of ABI.md", c)
		}
	}
	for name, value := range map[string]int{
		"MaxText": abi.MaxText, "MaxTo": abi.MaxTo, "MaxName": abi.MaxName, "MaxRequest": abi.MaxRequest, "MaxReply": abi.MaxReply, "MaxAnswer": abi.MaxAnswer, "MaxKVKey": abi.MaxKVKey, "MaxKVValue": abi.MaxKVValue,
		"MaxKVKeys": abi.MaxKVKeys, "MaxKVTotal": abi.MaxKVTotal, "MaxHistory": abi.MaxHistory, "MaxKnowledge": abi.MaxKnowledge, "MaxRandom": abi.MaxRandom, "RecentInAsk": abi.RecentInAsk,
		"MaxMembers": abi.MaxMembers, "MaxMemoryText": abi.MaxMemoryText, "MaxMemoryKeys": abi.MaxMemoryKeys, "MaxMemories": abi.MaxMemories, "MaxMemoryAdds": abi.MaxMemoryAdds,
		"MaxPast": abi.MaxPast, "MaxPastBytes": abi.MaxPastBytes, "MaxKeep": abi.MaxKeep, "MaxKeepText": abi.MaxKeepText, "MaxAdded": abi.MaxAdded,
		"MaxPolicy": abi.MaxPolicy, "MaxDigest": abi.MaxDigest, "MaxFeedback": abi.MaxFeedback, "MaxLater": abi.MaxLater, "MaxLaterOfOne": abi.MaxLaterOfOne, "MaxLaterTime": abi.MaxLaterTime,
	} {
		row := regexp.MustCompile(`\|[^|\n]*\|[^|\n]*\b` + fmt.Sprint(value) + `\b[^|\n]*\| ` + "`" + name + "`")
		if !row.MatchString(doc) {
			t.Errorf("ABI.md has no row with %s = %d", name, value)
		}
	}
	levels := fmt.Sprintf("%d debug, %d info, %d warn, %d error", abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError)
	for _, want := range []string{"`" + abi.Export + "`", "`" + abi.Namespace + "`", levels, "`v` | " + fmt.Sprint(abi.Version)} {
		if !strings.Contains(doc, want) {
			t.Errorf("ABI.md does not say %q", want)
		}
	}
}

// No constant is left out of the lists above: each that abi.go declares is in ABI.md.
func TestContractIsComplete(t *testing.T) {
	doc, err := os.ReadFile("ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, pattern := range map[string]string{
		"abi.go":     `(?m)^\t(?:(?:Op|Host)[A-Z]\w*)\s+= ("[a-z.]+")|^\t((?:Max|Recent)\w+)\s+=`,
		"history.go": `(?m)^\t(Max\w+)\s+=|^\t(?:Verdict|Status|Unit)\w+\s+= ("\w+")`,
		"error.go":   `(?m)^\tCode\w+\s+Code = ("[a-z_]+")`,
	} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(src), -1)
		if len(found) < 5 {
			t.Errorf("%s: found only %d constants", file, len(found))
		}
		for _, m := range found {
			word := strings.Trim(strings.Join(m[1:], ""), `"`)
			if !strings.Contains(string(doc), "`"+word+"`") {
				t.Errorf("%s of %s is not in ABI.md", word, file)
			}
		}
	}
}

package moduletest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/module"
)

// scribe: turns go in and a text comes out, and a draft gets a verdict on just what was asked about, letter by
// letter; also where both are as long as they may be.
func (s suite) scribe(t testing.TB) {
	m := s.load(t, Scribe)
	defer s.close(t, m)
	if ops := m.Describe().Ops; !slices.Contains(ops, abi.OpCompress) || !slices.Contains(ops, abi.OpVerify) {
		t.Fatalf("it describes itself with the ops %v", ops)
	}
	turns := []abi.PastTurn{{N: 1, From: "taro", Text: "予算は<84,000>円。\n\"期日\"は金曜。"}, {N: 2, Upto: 5, Text: "それから。"}}
	s.compresses(t, m, turns, 1000, "taro: 予算は<84,000>円。\n\"期日\"は金曜。 / : それから。")
	s.compresses(t, m, turns, 5, "taro:")
	s.verifies(t, m, turns, "84,000円、金曜。", abi.VerdictYes)
	s.verifies(t, m, turns, "84,000円。", abi.VerdictNo)

	long := []abi.PastTurn{{N: 1, Text: strings.Repeat("長い話。", abi.MaxPastBytes/len("長い話。")-50)}}
	s.compresses(t, m, long, 10, ": 長い話。長い話。")
	s.verifies(t, m, turns, "84,000円、金曜。"+strings.Repeat("。", (abi.MaxDigest-30)/len("。")), abi.VerdictYes)
	_, err := s.call(t, t.Context(), m, "no.such.op")
	if fault := new(module.Fault); errors.As(err, &fault) || abi.CodeOf(err) != abi.CodeUnknownOp {
		t.Errorf("an unknown op gives %v", err)
	}
}

func (s suite) compresses(t testing.TB, m module.Module, turns []abi.PastTurn, length int, want string) {
	t.Helper()
	text := answered[abi.Compressed](t, s, m, abi.OpCompress, abi.Compressing{Turns: turns, Length: length, Unit: abi.UnitCharacters, Keep: []abi.KeepItem{}})
	if err := text.Check(); err != nil || text.Text != want {
		t.Fatalf("compress gives %.80q, want %q: %v", text.Text, want, err)
	}
}

func (s suite) verifies(t testing.TB, m module.Module, turns []abi.PastTurn, draft, want string) {
	t.Helper()
	keep := []abi.KeepItem{{ID: "M1", Text: "84,000", Turn: 1, Policy: true}, {ID: "M2", Text: "金曜", Turn: 1}}
	v := answered[abi.Verified](t, s, m, abi.OpVerify, abi.Verifying{Turns: turns, History: []abi.PastTurn{{N: 1, Upto: 5, Text: draft}}, Keep: keep, Draft: draft})
	if err := v.Check(); err != nil || v.Verdict != want {
		t.Fatalf("verify gives %+v, want %s: %v", v, want, err)
	}
	if err := v.Answers(keep); err != nil {
		t.Fatalf("verify gives %+v: %v", v, err)
	}
}

// answered asks an op and decodes its answer.
func answered[Answer any](t testing.TB, s suite, m module.Module, op string, with any) (a Answer) {
	t.Helper()
	data, err := json.Marshal(with)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	got := end(t, s, "Call "+op, askWith(t.Context(), m, op, data))
	if got.err != nil {
		t.Fatalf("%s: %v", op, got.err)
	}
	if err := json.Unmarshal(got.data, &a); err != nil {
		t.Fatalf("%s gives %.80s: %v", op, got.data, err)
	}
	return a
}

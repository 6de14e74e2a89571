package prompt

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
)

var (
	compressing = abi.Compressing{
		Turns: []abi.PastTurn{{N: 1, From: "taro", Text: "予算は84,000円。"}}, Policy: "金額は残す。", Length: 20, Unit: abi.UnitCharacters,
		Keep: []abi.KeepItem{{ID: "M1", Text: "84,000円", Turn: 1, Policy: true}},
	}
	verifying = abi.Verifying{Turns: compressing.Turns, Keep: compressing.Keep, Draft: "84,000円。"}
)

const (
	text    = `{"text":"予算は84,000円。"}`
	verdict = `{"items":[{"id":"M1","status":"kept","quote":"84,000円"}],"added":[],"feedback":"","verdict":"YES"}`
)

// TestPast: a card with a model compresses and verifies, and who it is has no part in it.
func TestPast(t *testing.T) {
	r := load(t, nikoni(t), reply{json: text}, reply{json: verdict})
	if ops := r.m.Describe().Ops; !slices.Contains(ops, abi.OpCompress) || !slices.Contains(ops, abi.OpVerify) {
		t.Errorf("%v", ops)
	}
	c, err := call_[abi.Compressed](r, t.Context(), abi.OpCompress, compressing)
	if err != nil || c.Text != "予算は84,000円。" {
		t.Errorf("%+v, %v", c, err)
	}
	v, err := call_[abi.Verified](r, t.Context(), abi.OpVerify, verifying)
	if err != nil || v.Verdict != abi.VerdictYes || len(v.Items) != 1 || v.Items[0].Quote != "84,000円" {
		t.Errorf("%+v, %v", v, err)
	}
	for _, req := range r.models.requests() {
		if strings.Contains(req.System, "ニコニ") || len(req.Messages) != 1 || len(req.Tools) != 0 || req.Schema == nil {
			t.Errorf("asked %+v", req)
		}
	}
	if c, err := call_[abi.Compressed](r, t.Context(), abi.OpCompress, abi.Compressing{}); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("nothing to compress: %+v, %v", c, err)
	}
	r.models.replies = []reply{{json: `{"verdict":"YES"}`}}
	if v, err := call_[abi.Verified](r, t.Context(), abi.OpVerify, verifying); abi.CodeOf(err) != abi.CodeInvalid || v.Verdict != "" {
		t.Errorf("half a verdict: %+v, %v", v, err)
	}
	r.models.waits = "waits for a model: write [model.main]"
	for op, ask := range map[string]any{abi.OpCompress: compressing, abi.OpVerify: verifying} {
		if _, err := call_[any](r, t.Context(), op, ask); abi.CodeOf(err) != abi.CodeUnavailable || !strings.Contains(err.Error(), "[model.main]") {
			t.Errorf("%s without a model: %v", op, err)
		}
	}
}

// TestPastIsLate: a model that hangs is told in plain words.
func TestPastIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeModels{hang: true}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		data, _ := json.Marshal(verifying)
		got, err := NewHouse("model", f, "").Call(ctx, abi.Request{V: 1, Op: abi.OpVerify, Data: data})
		if abi.CodeOf(err) != abi.CodeTimeout || !strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("%s, %v", got, err)
		}
	})
}

// TestHouse: a house with a model needs no companion for it.
func TestHouse(t *testing.T) {
	f := &fakeModels{replies: []reply{{json: text}, {json: verdict}}}
	h := NewHouse("model", f, "big")
	if d := h.Describe(); !slices.Equal(d.Ops, []string{"describe", "compress", "verify"}) || h.Waits() != "" {
		t.Errorf("%+v, %q", d, h.Waits())
	}
	for op, ask := range map[string]any{abi.OpCompress: compressing, abi.OpVerify: verifying} {
		want := map[string]string{abi.OpCompress: text, abi.OpVerify: `{"items":[{"id":"M1","status":"kept","quote":"84,000円"}],"verdict":"YES"}`}[op]
		f.replies = []reply{{json: map[string]string{abi.OpCompress: text, abi.OpVerify: verdict}[op]}}
		data, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Call(t.Context(), abi.Request{V: 1, Op: op, Room: "main", Data: data}); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", op, got, err)
		}
	}
	for _, op := range []string{abi.OpVote, abi.OpSpeak, abi.OpPerceive, "dance"} {
		if got, err := h.Call(t.Context(), abi.Request{V: 1, Op: op}); abi.CodeOf(err) != abi.CodeUnknownOp {
			t.Errorf("%s: %s, %v", op, got, err)
		}
	}
	if got, err := h.Call(t.Context(), abi.Request{V: 1, Op: abi.OpDescribe}); err != nil || !strings.Contains(string(got), `"compress"`) {
		t.Errorf("describe: %s, %v", got, err)
	}
	if _, err := h.Permit(abi.ActionAsk{Action: "wave"}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("it waves: %v", err)
	}
	if len(f.requests()) != 2 {
		t.Errorf("%d requests", len(f.requests()))
	}
	f.waits = "waits for a model"
	data, _ := json.Marshal(compressing)
	if _, err := h.Call(t.Context(), abi.Request{V: 1, Op: abi.OpCompress, Data: data}); abi.CodeOf(err) != abi.CodeUnavailable || h.Waits() == "" {
		t.Errorf("without a model: %v", err)
	}
}

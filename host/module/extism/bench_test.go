package extism_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// BenchmarkVote is a vote of the example, which reads its input through Extism's functions.
func BenchmarkVote(b *testing.B) {
	asc, _ := filepath.Abs("../../../sdk/examples/extism/node_modules/.bin/asc")
	m := load(b, newEngine(b, nil, nil), build(b, "../../../sdk/examples/extism", []string{asc, "pip.ts", "-O", "--exportStart", "_initialize"}))
	scene := json.RawMessage(`{"message":{"seq":1,"id":"m1","from":"taro","to":[],"text":"Pip, are you there?","kind":"turn","at":"2026-01-02T03:04:05Z"},"addressed":true,"members":[{"id":"pip","kind":"companion"},{"id":"taro","kind":"human"}],"turns":1,"max_turns":24}`)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := m.Call(b.Context(), abi.Request{Op: abi.OpVote, ID: "1", Room: "main", Data: scene}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}

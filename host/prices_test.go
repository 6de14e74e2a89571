package host_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/companiond/companiond/host/door/doortest"
)

// TestPricesReachAgents: a pool of 300 with a price of 120 was one of which nobody could
// pay it, for the tools took 100 at most and told the prices of another pool. A room that
// is opened while the daemon runs counts as well.
func TestPricesReachAgents(t *testing.T) {
	h := newHome(t)
	h.open("[room.main]\npolicy = \"pool\"\npool_size = 300\npool_prices = [\"10:5\", \"50:120\"]\npool_recovery = \"1h\"\n")
	agent := doortest.NewByHand(t, h.url+"/mcp")
	call := func(body string) map[string]any {
		t.Helper()
		_, answer := agent.Post(`{"jsonrpc":"2.0","id":1,` + body + `}`)
		var out struct{ Result map[string]any }
		if err := json.Unmarshal([]byte(answer), &out); err != nil || out.Result == nil {
			t.Fatalf("%s: %v", answer, err)
		}
		return out.Result
	}
	amount := func() (about string, most float64) {
		t.Helper()
		tools := call(`"method":"tools/list"`)["tools"].([]any)
		i := slices.IndexFunc(tools, func(tool any) bool { return tool.(map[string]any)["name"] == "consume" })
		schema := tools[i].(map[string]any)["inputSchema"].(map[string]any)["properties"].(map[string]any)["amount"].(map[string]any)
		return schema["description"].(string), schema["maximum"].(float64)
	}
	if about, most := amount(); most != 300 || !strings.Contains(about, "120 for up to 50 characters") || strings.Contains(about, "60") {
		t.Errorf("up to %v: %s", most, about)
	}
	said := call(`"method":"tools/call","params":{"name":"consume","arguments":{"from":"bot","amount":120,"message":"これは普通の長さの発言です"}}`)
	if got := said["structuredContent"].(map[string]any); got["success"] != true || got["resource"] != 180.0 {
		t.Errorf("%v", got)
	}
	resp, err := http.Post(h.url+"/v1/rooms", "application/json", strings.NewReader(`{"name":"den","policy":"pool","pool_size":500}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if about, most := amount(); resp.StatusCode != http.StatusCreated || most != 500 || !strings.Contains(about, "Other rooms have other prices") {
		t.Errorf("%s: up to %v: %s", resp.Status, most, about)
	}
}

package streamable

import (
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
)

// BenchmarkCall calls a tool that does nothing. "door" is the transport, which
// makes JSON of what the SDK writes as an event; "events" and "json" are the
// SDK's handlers with the one setting and the other.
func BenchmarkCall(b *testing.B) {
	for _, era := range eras {
		for _, way := range []string{"door", "events", "json"} {
			b.Run(era+"/"+way, func(b *testing.B) {
				server := stageServer()
				var h http.Handler = New(server, Config{})
				if way != "door" {
					server = stageServer()
					h = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
						&sdk.StreamableHTTPOptions{Stateless: era == modernEra, JSONResponse: way == "json", PropagateRequestCancellation: true})
				}
				url, id := behindGuard(b, h, guard.Config{}), ""
				if era == sessionEra {
					id = initialize(b, http.DefaultClient, url)
				}
				body, header := toolCall(era, "echo", "hello"), in(id, "tools/call", "echo")
				b.ReportAllocs()
				for b.Loop() {
					resp, err := http.DefaultClient.Do(request(b, "POST", url, body, header...))
					if err != nil {
						b.Fatal(err)
					}
					said, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err != nil || resp.StatusCode != 200 || !strings.Contains(string(said), "hello") {
						b.Fatalf("%d %s %v", resp.StatusCode, said, err)
					}
				}
			})
		}
	}
}

//lint:file-ignore SA1019 the suite asks for what newer revisions deprecate: logging, sampling
package streamable

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/companiond/companiond/host/door/guard"
)

// fixture is the server that the conformance suite asks for: tools, prompts and
// resources whose names and contents the suite knows. It stands behind the real
// guard and the real transport, which is what the suite is to judge.
func fixture() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "companiond-fixture", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	addContents(s)
	addReports(s)
	addSchemas(s)
	addChanges(s)
	addQuestions(s)
	addInputs(s)
	addResources(s)
	addPrompts(s)
	return s
}

// behindGuard serves a transport at /mcp on a real socket, behind a real guard.
func behindGuard(t testing.TB, tr http.Handler, cfg guard.Config) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen, cfg.Rate, cfg.MaxBodyAt = ln.Addr().String(), -1, map[string]int64{"/mcp": 4 << 20}
	g, err := guard.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", tr)
	srv := guard.Server(g.Handler(guard.Mux(mux)), slog.New(slog.DiscardHandler))
	srv.ReadHeaderTimeout = time.Minute // a machine under load takes longer than 5 s where a hundred clients come at once
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return "http://" + ln.Addr().String() + "/mcp"
}

// A png of one red pixel and a wav of one silent sample.
const (
	onePixel  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	oneSample = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func decode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func text(format string, args ...any) *sdk.TextContent {
	return &sdk.TextContent{Text: fmt.Sprintf(format, args...)}
}

func image() *sdk.ImageContent {
	return &sdk.ImageContent{Data: decode(onePixel), MIMEType: "image/png"}
}

func embedded(uri, words string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: words}}
}

func result(cs ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: cs} }

type handle = func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// addTool adds a tool that takes anything.
func addTool(s *sdk.Server, name, description string, h handle) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: description}, func(ctx context.Context, r *sdk.CallToolRequest, _ any) (*sdk.CallToolResult, any, error) {
		res, err := h(ctx, r)
		return res, nil, err
	})
}

// addContents adds a tool for each kind of content.
func addContents(s *sdk.Server) {
	answers := func(cs ...sdk.Content) handle {
		return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result(cs...), nil }
	}
	addTool(s, "test_simple_text", "Answers with text", answers(text("This is a simple text response for testing.")))
	addTool(s, "test_image_content", "Answers with an image", answers(image()))
	addTool(s, "test_audio_content", "Answers with a sound", answers(&sdk.AudioContent{Data: decode(oneSample), MIMEType: "audio/wav"}))
	addTool(s, "test_embedded_resource", "Answers with a resource", answers(embedded("test://embedded-resource", "An embedded resource.")))
	addTool(s, "test_multiple_content_types", "Answers with three kinds of content", answers(text("Some text."), image(), embedded("test://embedded-among-others", "One of three.")))
	addTool(s, "test_error_handling", "Always fails", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("this tool always fails")
	})
	addTool(s, "test_streaming_elicitation", "Answers at once; its stream must carry no request", answers(text("Nothing was asked.")))
}

// addReports adds tools that speak before they answer.
func addReports(s *sdk.Server) {
	say := func(ctx context.Context, r *sdk.CallToolRequest, words string) error {
		return r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: words})
	}
	addTool(s, "test_tool_with_logging", "Logs three lines on the way", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, words := range []string{"begun", "under way", "done"} {
			if err := say(ctx, r, words); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return result(text("Three lines were logged.")), nil
	})
	addTool(s, "test_logging_tool", "Logs a line, which clients that did not ask must not get", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := say(ctx, r, "a line"); err != nil {
			return nil, err
		}
		return result(text("A line was logged.")), nil
	})
	addTool(s, "test_tool_with_progress", "Reports progress three times", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		for _, n := range []float64{0, 50, 100} {
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Total: 100, Message: fmt.Sprintf("%v of 100", n)}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return result(text("%v", token)), nil
	})
	addTool(s, "test_reconnection", "Ends its stream before it answers", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return result(text("The client came back.")), nil
	})
	addTool(s, "test_missing_capability", "Needs a client that samples", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			return result(text("The client can sample.")), nil
		}
		need := sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}}
		data, err := json.Marshal(need)
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: data}
	})
}

// addSchemas adds tools whose schemas must come through as they are.
func addSchemas(s *sdk.Server) {
	raw := func(name, description, schema string) {
		s.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return result(text("%s was called with %s", name, r.Params.Arguments)), nil
		})
	}
	raw("json_schema_2020_12_tool", "Has a schema with the words of JSON Schema 2020-12", `{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"}, "email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false}`)
	raw("test_x_mcp_header", "Has an argument that clients repeat in a header", `{
		"type": "object",
		"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}}`)
}

// addChanges adds tools that change what the server offers.
func addChanges(s *sdk.Server) {
	addTool(s, "test_trigger_tool_change", "Adds a tool", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		addTool(s, "test_late_tool", "Was added later", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result(), nil })
		return result(text("A tool was added.")), nil
	})
	addTool(s, "test_trigger_prompt_change", "Adds a prompt", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "test_late_prompt", Description: "Was added later"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return result(text("A prompt was added.")), nil
	})
}

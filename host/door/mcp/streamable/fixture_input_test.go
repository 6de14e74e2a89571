//lint:file-ignore SA1019 the suite asks for what newer revisions deprecate: sampling, roots
package streamable

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// object gives the schema of a form with one required field.
func object(field, kind string) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field}}
}

// argument reads a string out of a call's arguments.
func argument(r *sdk.CallToolRequest, name string) string {
	var args map[string]any
	_ = json.Unmarshal(r.Params.Arguments, &args) // no arguments: an empty string
	s, _ := args[name].(string)
	return s
}

// addQuestions adds tools that ask the client in the middle of a call, as only
// sessions can.
func addQuestions(s *sdk.Server) {
	addTool(s, "test_sampling", "Asks the client's model", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := r.Session.CreateMessage(ctx, sampling(argument(r, "prompt"), 100))
		if err != nil {
			return nil, err
		}
		if words, ok := res.Content.(*sdk.TextContent); ok {
			return result(text("The model said: %s", words.Text)), nil
		}
		return result(text("The model did not say a word.")), nil
	})
	ask := func(name, description string, form func(*sdk.CallToolRequest) *sdk.ElicitParams) {
		addTool(s, name, description, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res, err := r.Session.Elicit(ctx, form(r))
			if err != nil {
				return nil, err
			}
			return result(text("action=%s, content=%v", res.Action, res.Content)), nil
		})
	}
	ask("test_elicitation", "Asks the user for a name", func(r *sdk.CallToolRequest) *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: argument(r, "message"), RequestedSchema: object("username", "string")}
	})
	ask("test_elicitation_sep1034_defaults", "Asks with defaults", func(*sdk.CallToolRequest) *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: "Defaults", RequestedSchema: json.RawMessage(`{"type": "object", "properties": {
			"name": {"type": "string", "default": "John Doe"},
			"age": {"type": "integer", "default": 30},
			"score": {"type": "number", "default": 95.5},
			"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
			"verified": {"type": "boolean", "default": true}}}`)}
	})
	ask("test_elicitation_sep1330_enums", "Asks with every kind of choice", func(*sdk.CallToolRequest) *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: "Choices", RequestedSchema: json.RawMessage(`{"type": "object", "properties": {
			"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
			"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
				{"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
			"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
			"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
			"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
				{"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}}}`)}
	})
}

func sampling(words string, tokens int64) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{Messages: []*sdk.SamplingMessage{{Role: "user", Content: text("%s", words)}}, MaxTokens: tokens}
}

func askName() *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "What is your name?", RequestedSchema: object("name", "string")}
}

func askConfirm() *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "Please confirm", RequestedSchema: object("ok", "boolean")}
}

// needs answers a call with questions, to be called again with their answers.
func needs(state string, questions sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: questions, RequestState: state}
}

// accepted gives a form that the user filled in and sent; nil when not.
func accepted(answers sdk.InputResponseMap, key string) map[string]any {
	if e, ok := answers[key].(*sdk.ElicitResult); ok && e != nil && e.Action == "accept" {
		return e.Content
	}
	return nil
}

func field(form map[string]any, name string) string {
	s, _ := form[name].(string)
	return s
}

// sampled gives what the client's model said.
func sampled(answers sdk.InputResponseMap, key string) (string, bool) {
	res, ok := answers[key].(*sdk.CreateMessageWithToolsResult)
	if !ok || res == nil {
		return "", false
	}
	for _, c := range res.Content {
		if words, ok := c.(*sdk.TextContent); ok {
			return words.Text, true
		}
	}
	return "", true
}

// addInputs adds tools that answer with questions, as newer clients want it.
func addInputs(s *sdk.Server) {
	const prefix = "test_input_required_result_"
	addTool(s, prefix+"elicitation", "Asks for a name", inputName)
	addTool(s, prefix+"sampling", "Asks the client's model", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if words, ok := sampled(r.Params.InputResponses, "capital_question"); ok {
			return result(text("The model said: %s", words)), nil
		}
		return needs("", sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?", 100)}), nil
	})
	addTool(s, prefix+"list_roots", "Asks for the client's roots", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if res, ok := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok && res != nil {
			return result(text("%d roots", len(res.Roots))), nil
		}
		return needs("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
	})
	addTool(s, prefix+"request_state", "Gives state along and wants it back", inputState)
	addTool(s, prefix+"tampered_state", "Refuses state that is not its own", inputState)
	addTool(s, prefix+"multiple_inputs", "Asks three things at once", inputThree)
	addTool(s, prefix+"multi_round", "Asks twice", inputTwice)
	addTool(s, prefix+"capabilities", "Asks only what the client can answer", inputCapable)
}

func inputName(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if name := field(accepted(r.Params.InputResponses, "user_name"), "name"); name != "" {
		return result(text("Hello, %s!", name)), nil
	}
	return needs("", sdk.InputRequestMap{"user_name": askName()}), nil
}

func inputState(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	const ours = "state-of-the-fixture"
	switch state := r.Params.RequestState; {
	case state != "" && state != ours:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: it is not ours"}
	case state == ours && accepted(r.Params.InputResponses, "confirm") != nil:
		return result(text("state-ok")), nil
	}
	return needs(ours, sdk.InputRequestMap{"confirm": askConfirm()}), nil
}

func inputThree(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	name := field(accepted(r.Params.InputResponses, "user_name"), "name")
	greeting, greeted := sampled(r.Params.InputResponses, "greeting")
	roots, rooted := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult)
	if name != "" && greeted && rooted {
		return result(text("%s %s, %d roots", greeting, name, len(roots.Roots))), nil
	}
	return needs("three", sdk.InputRequestMap{"user_name": askName(), "greeting": sampling("A greeting, please", 50), "client_roots": &sdk.ListRootsParams{}}), nil
}

func inputTwice(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	const second = "second;"
	name, later := strings.CutPrefix(r.Params.RequestState, second)
	switch {
	case r.Params.RequestState == "":
		return needs("first", sdk.InputRequestMap{"step1": askName()}), nil
	case !later:
		name = field(accepted(r.Params.InputResponses, "step1"), "name")
		color := &sdk.ElicitParams{Message: "What colour do you like?", RequestedSchema: object("color", "string")}
		return needs(second+name, sdk.InputRequestMap{"step2": color}), nil
	}
	return result(text("%s likes %s", name, field(accepted(r.Params.InputResponses, "step2"), "color"))), nil
}

func inputCapable(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	can, questions := r.ClientCapabilities(), sdk.InputRequestMap{}
	if can != nil && can.Elicitation != nil {
		questions["user_name"] = askName()
	}
	if can != nil && can.Sampling != nil {
		questions["greeting"] = sampling("A greeting, please", 50)
	}
	if can != nil && can.RootsV2 != nil {
		questions["client_roots"] = &sdk.ListRootsParams{}
	}
	if len(r.Params.InputResponses) > 0 || len(questions) == 0 {
		return result(text("There is nothing to ask.")), nil
	}
	return needs("", questions), nil
}

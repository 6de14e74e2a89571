package streamable

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds what the suite reads and subscribes to.
func addResources(s *sdk.Server) {
	contents := func(mime string, fill func(uri string, c *sdk.ResourceContents)) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := &sdk.ResourceContents{URI: r.Params.URI, MIMEType: mime}
			fill(r.Params.URI, c)
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
		}
	}
	words := func(s string) func(string, *sdk.ResourceContents) {
		return func(_ string, c *sdk.ResourceContents) { c.Text = s }
	}
	s.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain", Description: "Text"},
		contents("text/plain", words("This is the content of the static text resource.")))
	s.AddResource(&sdk.Resource{Name: "watched-resource", URI: "test://watched-resource", MIMEType: "text/plain", Description: "To subscribe to"},
		contents("text/plain", words("Watched.")))
	s.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png", Description: "A picture"},
		contents("image/png", func(_ string, c *sdk.ResourceContents) { c.Blob = decode(onePixel) }))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json", Description: "By id"},
		contents("application/json", func(uri string, c *sdk.ResourceContents) {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
			c.Text = fmt.Sprintf(`{"id": %q, "templateTest": true, "data": "Data for ID: %s"}`, id, id)
		}))
}

// addPrompts adds the prompts the suite gets.
func addPrompts(s *sdk.Server) {
	add := func(p *sdk.Prompt, answer func(args map[string]string) []sdk.Content) {
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			res := &sdk.GetPromptResult{Description: p.Description}
			for _, c := range answer(r.Params.Arguments) {
				res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return res, nil
		})
	}
	add(&sdk.Prompt{Name: "test_simple_prompt", Description: "Takes nothing"}, func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	})
	add(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Takes two words", Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		func(args map[string]string) []sdk.Content {
			return []sdk.Content{text("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}
		})
	add(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Holds a resource", Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}}},
		func(args map[string]string) []sdk.Content {
			return []sdk.Content{embedded(args["resourceUri"], "In a prompt."), text("Please look at the resource.")}
		})
	add(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Holds a picture"}, func(map[string]string) []sdk.Content {
		return []sdk.Content{image(), text("Please look at the picture.")}
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks first"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if form := accepted(r.Params.InputResponses, "user_context"); form != nil {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: text("Context: %s", field(form, "context"))}}}, nil
		}
		ask := &sdk.ElicitParams{Message: "In what context?", RequestedSchema: object("context", "string")}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": ask}}, nil
	})
}

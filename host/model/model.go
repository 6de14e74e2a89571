// Package model asks language models: one Client is one endpoint and one model, behind an
// OpenAI-compatible API (OpenAI, Ollama, llama.cpp, LM Studio, vLLM, OpenRouter) or Anthropic's
// Messages API. It limits how many calls run at once, gives every call a deadline, asks again where
// that cannot be heard twice, counts tokens, and mends a structured answer once.
//
// It never decides what is said or when, keeps no talk, reads no file and no environment, asks
// nothing of its own accord, and follows no redirect. The key is read at each use and is never in
// an error, a log or an answer.
package model

import (
	"context"
	"encoding/json"

	"github.com/companiond/companiond/host/model/tokens"
)

// Client is one endpoint and one model. It is safe for concurrent use.
type Client interface {
	// Name is the name in the configuration.
	Name() string

	// Meter guesses what texts come to in tokens of the model, ever better. It is the same one
	// for as long as the client lives.
	Meter() *tokens.Meter

	// Generate runs one request to its end. onText, when it is not nil, is given the text as it
	// streams in, from the goroutine that called; Answer.Text is what it was given, joined. Its
	// error ends the call and is returned as it is. With a Schema onText is never called, for half
	// a JSON value is no text.
	//
	// While the endpoint has asked to be left alone no request goes out, of no call: it waits, or fails
	// at once where its deadline comes before. A request is sent again after 408, 429, 5xx, a connection that failed or broke, and a first
	// byte that did not come, as long as onText was given nothing; and once with more room, when the
	// model spent its limit on thoughts and said nothing. The deadline of all that, the waiting for a
	// place included, is Config.Timeout or ctx's, whichever is earlier.
	//
	// Every other error is an *abi.Error that names the client: CodeInvalid for a request or an
	// answer that cannot be used, CodeDenied when the endpoint refuses the key, CodeUnavailable
	// when it is down, over its rate or broke off, or cannot call the tools that a request needs,
	// CodeTimeout, CodeTooLarge for an answer above 4 MiB. When ctx was cancelled, context.Canceled
	// is in its chain. The Answer that comes with an error has the Usage and nothing else.
	Generate(ctx context.Context, req Request, onText func(delta string) error) (Answer, error)

	// Embed gives a vector for each text, in their order, all of one length. They are asked for 64 at a time;
	// Config.Timeout is the deadline of each such request with its retries. Requests are sent again, and errors
	// are, as with Generate; where no model for it is configured ErrNoEmbeddings is in the chain. The Usage
	// has no Out and no Cost. No texts are no request.
	Embed(ctx context.Context, texts []string) ([][]float32, Usage, error)
}

// Request is what a model is asked.
type Request struct {
	System   string
	Messages []Message // at least one that says something

	Tools   []Tool // not together with Schema
	NoCalls bool   // the Tools are there for what was called before: the model calls none any more
	// NeedsTools says that the Tools are all the request is for. A model that cannot call any is then
	// not asked, and the error is CodeUnavailable. Without it such a model is asked all the same, as
	// if there were no tools: it may talk where it cannot act. What was called before is told it in
	// words. It means nothing where there are no Tools.
	NeedsTools bool

	// Schema asks for a structured answer: one JSON object that this JSON Schema describes. Its
	// root is of type object. It is checked by Check alone.
	Schema     json.RawMessage
	SchemaName string // 1 to 64 of a-z A-Z 0-9 _ -; empty: "answer"
	// Check says what is wrong with a structured answer, in words for the model: it is told once
	// and may answer again.
	Check func(json.RawMessage) error
	// Sole says that an answer with two objects that differ is none, wherever they stand: a model that corrects itself has
	// to say once what counts. Without it the one in a fence is taken, or the first.
	Sole bool

	MaxTokens int // of the answer; 0: as configured; see Config.MaxTokens about thoughts

	// CacheKey is the same for requests that begin alike, for endpoints that keep what they
	// have read by it; empty: none.
	CacheKey string

	// Before is asked before each HTTP request, those that are sent again included; its error,
	// which is CodeExhausted, ends the call and is returned as it is. nil: nobody is.
	Before func() error

	temperature *float64 // as configured; nil: the model's own
	effort      string   // as configured, where the API has it; "": the model's own
}

// Role is who a message is from.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // what became of a ToolCall
)

// Message is one message of the talk before the answer. Neighbours of the same role are joined, a
// line each, and a talk that does not begin and end with somebody else than the model gets "…"
// there: the chat templates of many local models refuse anything else. One that says nothing is
// left out.
type Message struct {
	Role   Role
	Text   string
	Images []Image    // of a user
	Calls  []ToolCall // of the assistant, as they were in the Answer
	CallID string     // of a tool's message: ToolCall.ID
	Failed bool       // of a tool's message: Text says why
	// Mark says that requests to come are the same up to the end of this message, for
	// endpoints that are told what to keep. The system prompt always has such a mark.
	Mark bool

	parts []Message // that were joined, where they were
}

// Image is a picture, as a card has let it in.
type Image struct {
	MediaType string
	Data      []byte
}

// Tool is something the model may call. Name may have letters of any script: what an API does not
// take is sent under another name and translated back. Schema describes the arguments, an object;
// empty: none. Of its root, oneOf, anyOf, allOf, not and enum are not sent, for APIs refuse them
// there: who plays the call has to check its arguments anyway.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// ToolCall is a call the model asks for. ID is unique among the calls of a client's answers as far
// as the endpoint keeps to it, and within one answer always.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage // as the model wrote it, maybe not JSON; "{}" when it wrote nothing

	thought thought // of the first call of an answer
}

// thought is what a model thought before it called tools. Some APIs want it back with the results and
// refuse the request without: DeepSeek's, as a text, and Anthropic's.
type thought struct {
	text   string
	blocks []object
}

// Answer is what the model said.
type Answer struct {
	Text  string
	Calls []ToolCall
	JSON  json.RawMessage // with a Schema: an object that Check had nothing against
	Stop  string          // StopEnd, StopLength, StopTools or StopRefused
	Usage Usage
}

// Why an answer ended.
const (
	StopEnd     = "end"     // the model was done
	StopLength  = "length"  // MaxTokens, or the model's window, is full
	StopTools   = "tools"   // the model waits for the results of its Calls
	StopRefused = "refused" // the model, or a filter before it, would not
)

// Usage is what a call used, all its requests together.
type Usage struct {
	In, Out   int     // tokens
	Cached    int     // the part of In that the endpoint had in its cache
	Cost      float64 // in the currency of the configured prices; 0 without
	Calls     int     // HTTP requests, those that failed included
	Estimated bool    // the endpoint did not say for every request; In and Out are guesses
}

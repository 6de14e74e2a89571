package model

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/model/trouble"
	"github.com/companiond/companiond/host/model/wire"
)

// The values of Config.API.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// The values of Config.Structured.
const (
	StructuredAuto   = "auto"        // the strictest that the endpoint does not refuse
	StructuredSchema = "json_schema" // the endpoint holds the model to the schema
	StructuredObject = "json_object" // the endpoint holds the model to JSON
	StructuredPrompt = "prompt"      // the model is told
)

// defaultMaxTokens is for Anthropic's API, which demands a limit; others are asked without one.
const defaultMaxTokens = 4096

// Config describes a client. Name, API, URL, Model, Timeout, Parallel and Log must be given. What the
// values may be is for the configuration to check, where the mistake has a line, and the usual ones are
// there as well; here they are taken as they are.
type Config struct {
	Name string
	API  string // OpenAI or Anthropic

	// URL is the base of the API, http or https. For OpenAI it
	// ends with the version, such as http://127.0.0.1:11434/v1; where it has no path, /v1 is
	// added. For Anthropic it is https://api.anthropic.com, with /v1 or without.
	URL   string
	Model string
	Key   func() (string, error) // read at each request; nil or "": none

	// Structured says how a Request.Schema is asked for; empty: StructuredAuto, which begins with
	// the schema and goes on to the next when the endpoint answers 400 about it, and remembers
	// that. Anthropic's API has a forced tool for StructuredSchema and StructuredObject.
	Structured string

	Timeout   time.Duration // of a call with all its requests
	FirstByte time.Duration // from a request to the first byte of its answer; 0: Timeout alone
	Retries   int           // how often a request is sent again
	Parallel  int           // calls at once

	// MaxTokens is how long an answer may be; 0: the endpoint's own limit, 4096 for Anthropic. A model
	// that spends a limit on thoughts is known from then on, and asked with 4096 tokens more than
	// this, or than the request's own limit where that is higher.
	MaxTokens   int
	Temperature *float64

	// Effort is how much a model thinks before it answers: none, low, medium or high; empty: as it
	// likes. An OpenAI-compatible endpoint is sent it as reasoning_effort, unless it refuses that.
	// At Anthropic's API it has no effect: thinking is not asked for there.
	Effort string

	// Without names what the endpoint or its model cannot do: tools; tool_choice, to be made to call one, as Anthropic's API is for a structured answer;
	// tools_while_thinking; temperature; effort; stream_options; max_tokens, where the limit is called
	// max_completion_tokens; cache_key, to be told what to keep of a prompt; json_schema and json_object for StructuredAuto. What is not named is tried,
	// and found out from the first refusal: that is remembered as long as the client lives, and the log
	// says the line to keep it.
	Without []string

	// Prices per million tokens. Without PriceCached what is cached costs PriceIn. What an
	// endpoint asks for writing to its cache is not counted.
	PriceIn, PriceOut, PriceCached float64

	// Embeddings is the name of a model at URL that makes vectors of texts; empty: none does. OpenAI alone has
	// such. Its prices are not known, so that what it costs is not counted.
	Embeddings string

	HTTP *http.Client // nil: http.DefaultClient; its CheckRedirect is not used
	Log  *slog.Logger
}

// New makes a client. It opens nothing and asks nothing.
func New(c Config) Client {
	var api adapter = chatAPI{}
	if c.API == Anthropic {
		api = messagesAPI{}
	}
	return &endpoint{
		cfg: c, api: api, ladder: ladder(c.API, c.Structured), known: without(c.Without),
		at:     wire.Endpoint{HTTP: cmp.Or(c.HTTP, http.DefaultClient), URL: target(c.API, c.URL), FirstByte: c.FirstByte, Sign: api.sign, Rest: new(wire.Rest)},
		places: make(chan struct{}, c.Parallel), meter: new(tokens.Meter), trouble: trouble.Log{Log: c.Log, Model: c.Name},
		pause: func(n int, asked time.Duration) time.Duration { return pause(n, asked, rand.Float64()) },
	}
}

// effortNone tells a model not to think.
const effortNone = "none"

// chatPath is where chat completions are, below the base of the API.
const chatPath = "/chat/completions"

// target makes the address of an API's one request from the base of the API.
func target(api, base string) string {
	base = strings.TrimRight(base, "/")
	if api == Anthropic {
		return strings.TrimSuffix(base, "/v1") + "/v1/messages"
	}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		base += "/v1"
	}
	return base + chatPath
}

// keeps says whether an endpoint takes a Request.CacheKey: many of those that do not know it refuse it.
func (c Config) keeps() bool {
	u, err := url.Parse(c.URL)
	if err != nil || c.API != OpenAI {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "api.mistral.ai" || host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

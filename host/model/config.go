package model

import (
	"cmp"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
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

// What Config's zero values stand for.
const (
	defaultTimeout   = 60 * time.Second
	defaultRetries   = 2
	defaultParallel  = 4
	defaultMaxTokens = 4096 // Anthropic's API demands a limit; others are asked without one
)

// Config describes a client. Name, API, URL and Model must be given.
type Config struct {
	Name string
	API  string // OpenAI or Anthropic

	// URL is the base of the API, http or https, without user, query and fragment. For OpenAI it
	// ends with the version, such as http://127.0.0.1:11434/v1; where it has no path, /v1 is
	// added. For Anthropic it is https://api.anthropic.com, with /v1 or without.
	URL   string
	Model string
	Key   func() (string, error) // read at each request; nil or "": none

	// Structured says how a Request.Schema is asked for; empty: StructuredAuto, which begins with
	// the schema and goes on to the next when the endpoint answers 400 about it, and remembers
	// that. Anthropic's API has a forced tool for StructuredSchema and StructuredObject.
	Structured string

	Timeout   time.Duration // of a call with all its requests; 0: 60 s
	FirstByte time.Duration // from a request to the first byte of its answer; 0: Timeout alone
	Retries   int           // how often a request is sent again; 0: twice, below 0: never
	Parallel  int           // calls at once; 0: 4

	// MaxTokens is how long an answer may be; 0: the endpoint's own limit, 4096 for Anthropic. A model
	// that spends a limit on thoughts is known from then on, and asked with 4096 tokens more than
	// this, or than the request's own limit where that is higher.
	MaxTokens   int
	Temperature *float64

	// Effort is how much a model thinks before it answers: none, low, medium or high; empty: as it
	// likes. An OpenAI-compatible endpoint is sent it as reasoning_effort, unless it refuses that.
	// At Anthropic's API it has no effect: thinking is not asked for there.
	Effort string

	// Without names what the endpoint or its model cannot do: tools; tool_choice, to be made to call one;
	// tools_while_thinking; temperature; effort; stream_options; max_tokens, where the limit is called
	// max_completion_tokens; json_schema and json_object for StructuredAuto. What is not named is tried,
	// and found out from the first refusal: that is remembered as long as the client lives, and the log
	// says the line to keep it.
	Without []string

	// Prices per million tokens. Without PriceCached what is cached costs PriceIn. What an
	// endpoint asks for writing to its cache is not counted.
	PriceIn, PriceOut, PriceCached float64

	HTTP *http.Client // nil: one with http.DefaultTransport; its CheckRedirect is not used
	Log  *slog.Logger // nil: none
}

// New makes a client. It opens nothing and asks nothing. Its error is CodeInvalid and begins with
// the field, as the configuration calls it: "url: ...".
func New(c Config) (Client, error) {
	target, err := c.check()
	if err != nil {
		return nil, err
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Retries = cmp.Or(c.Retries, defaultRetries)
	c.Parallel = cmp.Or(c.Parallel, defaultParallel)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	e := &endpoint{
		cfg: c, api: chatAPI{}, url: target, http: &http.Client{}, ladder: ladder(c.API, c.Structured), known: without(c.Without),
		places: make(chan struct{}, c.Parallel),
		pause:  func(n int, asked time.Duration) time.Duration { return pause(n, asked, rand.Float64()) },
	}
	if c.HTTP != nil {
		copied := *c.HTTP
		e.http = &copied
	}
	// A redirect would carry the key to another host, or turn the POST into a GET.
	e.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.API == Anthropic {
		e.api = messagesAPI{}
	}
	return e, nil
}

// check gives the address that requests go to.
func (c Config) check() (string, error) {
	invalid := func(format string, args ...any) (string, error) {
		return "", abi.Errorf(abi.CodeInvalid, format, args...)
	}
	unknown := slices.DeleteFunc(slices.Clone(c.Without), func(name string) bool { return slices.Contains(withoutNames(), name) })
	switch {
	case c.Name == "":
		return invalid("name: is missing")
	case c.API != OpenAI && c.API != Anthropic:
		return invalid("api: must be %q or %q, is %.40q", OpenAI, Anthropic, c.API)
	case c.Model == "":
		return invalid("model: is missing; it is the name the endpoint knows it by")
	case c.Structured != "" && !slices.Contains(structuredValues(), c.Structured):
		return invalid("structured: must be one of %s, is %.40q", strings.Join(structuredValues(), ", "), c.Structured)
	case c.Effort != "" && !slices.Contains(effortValues(), c.Effort):
		return invalid("effort: must be one of %s, is %.40q", strings.Join(effortValues(), ", "), c.Effort)
	case len(unknown) > 0:
		return invalid("without: must be some of %s, has %.40q", strings.Join(withoutNames(), ", "), unknown[0])
	case c.Timeout < 0:
		return invalid("timeout: must not be negative, is %v", c.Timeout)
	case c.FirstByte < 0:
		return invalid("first_byte: must not be negative, is %v", c.FirstByte)
	case c.Parallel < 0 || c.Parallel > 1000:
		return invalid("parallel: must be 1 to 1000, is %d", c.Parallel)
	case c.MaxTokens < 0:
		return invalid("max_tokens: must not be negative, is %d", c.MaxTokens)
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return invalid("temperature: must be 0 to 2, is %v", *c.Temperature)
	}
	for _, p := range []struct {
		field string
		price float64
	}{{"price_in", c.PriceIn}, {"price_out", c.PriceOut}, {"price_cached", c.PriceCached}} {
		if !(p.price >= 0) || math.IsInf(p.price, 0) {
			return invalid("%s: must not be negative, is %v", p.field, p.price)
		}
	}
	return target(c.API, c.URL)
}

func structuredValues() []string {
	return []string{StructuredAuto, StructuredSchema, StructuredObject, StructuredPrompt}
}

// effortNone tells a model not to think.
const effortNone = "none"

func effortValues() []string { return []string{effortNone, "low", "medium", "high"} }

// target makes the address of an API's one request from the configured base. What is wrong with it
// is said without repeating it where a password may be in it.
func target(api, base string) (string, error) {
	const example = "such as http://127.0.0.1:11434/v1"
	u, err := url.Parse(base)
	switch {
	case base == "":
		return "", abi.Errorf(abi.CodeInvalid, "url: is missing; give the base of the API, %s", example)
	case err != nil:
		return "", abi.Errorf(abi.CodeInvalid, "url: is not a URL, %s", example)
	case u.User != nil:
		return "", abi.Errorf(abi.CodeInvalid, "url: must not hold a user or a password; the key has a place of its own")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", abi.Errorf(abi.CodeInvalid, "url: must begin with http:// or https://, %s", example)
	case u.Hostname() == "":
		return "", abi.Errorf(abi.CodeInvalid, "url: has no host, %s", example)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", abi.Errorf(abi.CodeInvalid, "url: must not have a query or a fragment; the key has a place of its own")
	}
	path := strings.TrimRight(u.Path, "/")
	for _, end := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		if strings.HasSuffix(path, end) {
			return "", abi.Errorf(abi.CodeInvalid, "url: give the base of the API, without %s", end)
		}
	}
	if api == Anthropic {
		path = strings.TrimSuffix(path, "/v1") + "/v1/messages"
	} else {
		if path == "" {
			path = "/v1"
		}
		path += "/chat/completions"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String(), nil
}

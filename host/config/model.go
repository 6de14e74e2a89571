package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
)

// Model is one table [model.NAME]: a language model and how it is asked.
type Model struct {
	Name        string
	API         string        // openai or anthropic
	URL         string        // the API's base, without a '/' at the end; empty means the vendor's own
	Model       string        // its name there, never empty
	Key         string        // path of a file, or Credential and a name; empty means none
	Structured  string        // auto, json_schema, json_object or prompt
	Timeout     time.Duration // of a call with all its retries
	FirstByte   time.Duration // until the answer begins
	Retries     int           // 0 means never
	Parallel    int           // calls at once
	MaxTokens   int           // of an answer
	Temperature float64       // 0..2; -1 means the model's own
	Effort      string        // none, low, medium or high; empty means the model's own
	Without     []string      // what it cannot do, or its endpoint refuses
	PriceIn     float64       // of a million tokens, as the other two
	PriceOut    float64
	PriceCached float64 // 0 means PriceIn
}

func modelSettings() []setting {
	return []setting{
		{"model.NAME.api", choice{[]string{"openai", "anthropic"}}, "openai",
			"The API it speaks: \"openai\" (also Ollama, llama.cpp, LM Studio, vLLM, OpenRouter) or \"anthropic\".",
			func(_ *Config, t *table) any { return &t.model.API }},
		{"model.NAME.url", text{cleanURL}, "",
			"The address of its API, for example \"http://127.0.0.1:11434/v1\" for Ollama on this machine. Empty means OpenAI's or Anthropic's own: what is said in the rooms then goes there.",
			func(_ *Config, t *table) any { return &t.model.URL }},
		{"model.NAME.model", text{cleanShort}, "",
			"Its name there, for example \"qwen3:8b\". The one key that has to be set.",
			func(_ *Config, t *table) any { return &t.model.Model }},
		{"model.NAME.key", text{cleanKey}, "",
			"The file with the key and nothing else in it; never the key itself. \"credential:NAME\" is the file NAME that systemd hands over with LoadCredential. Empty means that none is needed.",
			func(_ *Config, t *table) any { return &t.model.Key }},
		{"model.NAME.structured", choice{[]string{"auto", "json_schema", "json_object", "prompt"}}, "auto",
			"How it is made to answer in JSON. \"auto\" tries the strictest and steps back where the endpoint refuses.",
			func(_ *Config, t *table) any { return &t.model.Structured }},
		{"model.NAME.timeout", span{100 * milli, time.Hour}, "60s",
			"The longest a call may take, with all its retries. The room does not wait for it: its patience and floor are its own.",
			func(_ *Config, t *table) any { return &t.model.Timeout }},
		{"model.NAME.first_byte", span{100 * milli, time.Hour}, "20s",
			"The longest it may take to begin to answer.",
			func(_ *Config, t *table) any { return &t.model.FirstByte }},
		{"model.NAME.retries", number{0, 10}, "2",
			"How often a call that failed before the first word is tried again.",
			func(_ *Config, t *table) any { return &t.model.Retries }},
		{"model.NAME.parallel", number{1, 256}, "4",
			"How many calls it answers at once; the others wait.",
			func(_ *Config, t *table) any { return &t.model.Parallel }},
		{"model.NAME.max_tokens", number{16, 100_000}, "1024",
			"The longest answer, in tokens. A model that turns out to think before it answers may take 4096 more, for its thoughts count as well.",
			func(_ *Config, t *table) any { return &t.model.MaxTokens }},
		{"model.NAME.temperature", decimal{0, 2, -1}, "-1",
			"How freely it chooses its words, from 0 to 2. -1 leaves it to the model.",
			func(_ *Config, t *table) any { return &t.model.Temperature }},
		{"model.NAME.effort", text{cleanEffort}, "",
			"How much it thinks before it answers: \"none\", \"low\", \"medium\" or \"high\". Characters are quicker with \"none\". Empty leaves it to the model; so does an endpoint that refuses the setting. With api \"anthropic\" it has no effect: thinking is off there.",
			func(_ *Config, t *table) any { return &t.model.Effort }},
		{"model.NAME.without", list{cleanWithout}, "",
			"What it cannot do, or its endpoint refuses: \"tools\", \"tool_choice\", \"tools_while_thinking\", \"temperature\", \"effort\", \"stream_options\", \"max_tokens\", \"json_schema\", \"json_object\". What is not named is tried; where it is refused, the log says the line to write here, and until the next start it is remembered.",
			func(_ *Config, t *table) any { return &t.model.Without }},
		{"model.NAME.price_in", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it reads cost, in any currency; the journal keeps what each call cost.",
			func(_ *Config, t *table) any { return &t.model.PriceIn }},
		{"model.NAME.price_out", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it writes cost.",
			func(_ *Config, t *table) any { return &t.model.PriceOut }},
		{"model.NAME.price_cached", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it reads from its cache cost. 0 means the same as price_in.",
			func(_ *Config, t *table) any { return &t.model.PriceCached }},
	}
}

// cleanURL takes the base of an API, an http or https address, or nothing. It
// does not repeat in a fault what may hold a password or a key.
func cleanURL(s string) (string, *fault) {
	if s == "" {
		return "", nil
	}
	const elsewhere = "the key goes into a file, and the file's path into key"
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(s, " "):
		return "", &fault{message: "is not an http:// or https:// address", hint: `try "http://127.0.0.1:11434/v1"`}
	case u.User != nil:
		return "", &fault{message: "must not hold a user or a password", hint: elsewhere}
	case strings.ContainsAny(s, "?#"):
		return "", &fault{message: "must end with its path, before the ? or #", hint: elsewhere}
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 64); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", &fault{message: "port " + u.Port() + " is outside 1..65535"}
	}
	for _, end := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), end) {
			return "", &fault{message: "must be the base of the API", hint: "leave out " + end}
		}
	}
	return strings.TrimRight(s, "/"), nil
}

// cleanKey takes what cleanSecret does. A key that was written here in place of
// its file is refused unseen, for the value is shown and logged.
func cleanKey(s string) (string, *fault) {
	const most = 31 // letters of a file's name that has no dot; no vendor's key is so short
	isPath := strings.ContainsAny(s, `/\.`) || strings.HasPrefix(s, Credential)
	if !isPath && (strings.HasPrefix(s, "sk-") || len(s) > most) {
		return "", &fault{message: "looks like the key itself", hint: "write it into a file, and the file's path here"}
	}
	return cleanSecret(s, "key")
}

// cleanEffort takes how much a model is to think, or nothing.
func cleanEffort(s string) (string, *fault) {
	if known := []string{"none", "low", "medium", "high"}; s != "" && !slices.Contains(known, s) {
		return "", notAmong(s, known)
	}
	return s, nil
}

// lacks are the values of model.NAME.without.
var lacks = []string{"tools", "tool_choice", "tools_while_thinking", "temperature", "effort", "stream_options", "max_tokens", "json_schema", "json_object"}

func cleanWithout(s string) (string, *fault) {
	if !slices.Contains(lacks, s) {
		return "", notAmong(s, lacks)
	}
	return s, nil
}

// cleanGrant takes one of the host ops that are not granted to everybody.
func cleanGrant(s string) (string, *fault) {
	known := abi.GrantedOnly()
	switch {
	case slices.Contains(known, s):
		return s, nil
	case slices.Contains(abi.AlwaysGranted(), s):
		return "", &fault{message: show(s) + " is always granted", hint: "leave it out"}
	}
	return "", notAmong(s, known)
}

// checkModels reports models that could not be asked: at their key, or at their
// header where that key is not written.
func (p *parse) checkModels() {
	for name, t := range p.tables[sectionModel] {
		key := namedKey(sectionModel, name, "model")
		if t.model.Model != "" || p.bad[key] || p.bad[header(sectionModel, name)] || p.bad[sectionModel] {
			continue
		}
		at, written := p.config.origins[key]
		if !written {
			at = t.at
		}
		p.report(at, key, &fault{
			message: "must not be empty",
			hint:    "set " + key + " to the model's name at its url, such as \"qwen3:8b\"",
		})
	}
}

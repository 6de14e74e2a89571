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
	PriceIn     float64       // of a million tokens, as the other two
	PriceOut    float64
	PriceCached float64 // 0 means PriceIn
}

func modelKeys() []setting {
	return []setting{
		{"api", choice{of: []string{"openai", "anthropic"}}, "openai",
			"The API it speaks: \"openai\" (also Ollama, llama.cpp, LM Studio, vLLM, OpenRouter) or \"anthropic\"."},
		{"url", text{cleanURL}, "",
			"The address of its API, for example \"http://127.0.0.1:11434/v1\" for Ollama on this machine. Empty means OpenAI's or Anthropic's own: what is said in the rooms then goes there."},
		{"model", text{cleanShort}, "",
			"Its name there, for example \"qwen3:8b\". The one key that has to be set."},
		{"key", text{cleanKey}, "",
			"The file with the key and nothing else in it; never the key itself. \"credential:NAME\" is the file NAME that systemd hands over with LoadCredential. Empty means that none is needed."},
		{"structured", choice{of: []string{"auto", "json_schema", "json_object", "prompt"}}, "auto",
			"How it is made to answer in JSON. \"auto\" tries the strictest and steps back where the endpoint refuses."},
		{"timeout", span{100 * milli, time.Hour}, "60s",
			"The longest a call may take, with all its retries. The room does not wait for it: its patience and floor are its own."},
		{"first_byte", span{100 * milli, time.Hour}, "20s",
			"The longest it may take to begin to answer."},
		{"retries", number{0, 10}, "2",
			"How often a call that failed before the first word is tried again."},
		{"parallel", number{1, 256}, "4",
			"How many calls it answers at once; the others wait."},
		{"max_tokens", number{16, 100_000}, "1024",
			"The longest answer, in tokens. A model that turns out to think before it answers may take 4096 more, for its thoughts count as well."},
		{"temperature", decimal{0, 2, -1}, "-1",
			"How freely it chooses its words, from 0 to 2. -1 leaves it to the model."},
		{"effort", choice{of: []string{"none", "low", "medium", "high"}, orEmpty: true}, "",
			"How much it thinks before it answers: \"none\", \"low\", \"medium\" or \"high\". Characters are quicker with \"none\". Empty leaves it to the model; so does an endpoint that refuses the setting. With api \"anthropic\" it has no effect: thinking is off there."},
		{"price_in", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it reads cost, in any currency; the journal keeps what each call cost."},
		{"price_out", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it writes cost."},
		{"price_cached", decimal{0, 1e6, 0}, "0",
			"What a million tokens that it reads from its cache cost. 0 means the same as price_in."},
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
	return cleanSecret("key")(s)
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

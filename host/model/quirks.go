package model

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/companiond/companiond/host/model/wire"
)

// quirks are what an endpoint or its model refuses, or does otherwise.
type quirks uint

const (
	noTools       quirks = 1 << iota // cannot call tools
	noForce                          // refuses to be forced to call a tool, which is how Anthropic's API is asked for a structured answer
	noTemperature                    // refuses a temperature
	noEffort                         // refuses reasoning_effort
	noUsage                          // refuses stream_options
	newLimit                         // wants max_completion_tokens
	calmTools                        // calls tools only when it is told not to think
	noSchema                         // refuses a JSON Schema
	noObject                         // refuses to be held to JSON
	noCacheKey                       // refuses to be told what to keep of a prompt

	// These are found out from answers, so that nobody has to say them.

	thinks    // its texts begin with a thought that is not opened
	needsRoom // it thinks at the cost of its answer's limit
	noRoom    // refuses so high a limit; not learned, for it depends on how long the talk is
)

func (q quirks) has(all quirks) bool { return q&all == all }

// lack is a quirk that shows in a refusal.
type lack struct {
	name  string // in Config.Without
	quirk quirks
	sent  func(Request) bool // whether a request has what is refused; nil: each has
	said  *regexp.Regexp     // the refusal, in lower case
}

// lacks are what Config.Without may name, in the order in which a refusal is taken for one of them.
var lacks = []lack{
	{"stream_options", noUsage, nil, regexp.MustCompile(`stream_options|include_usage`)},
	{"max_tokens", newLimit, nil, regexp.MustCompile(`max_completion_tokens`)},
	{"temperature", noTemperature, func(r Request) bool { return r.temperature != nil }, regexp.MustCompile(`temperature`)},
	// GPT-5.4 and later, of chat completions; some of them think unless they are told not to.
	{"tools_while_thinking", calmTools, hasTools, regexp.MustCompile(`function tools with reasoning_effort`)},
	{"effort", noEffort, func(r Request) bool { return r.effort != "" },
		regexp.MustCompile(`reasoning_effort|reasoningeffort|reasoning\.effort|reasoning is mandatory|support thinking|think value`)},
	{"tools", noTools, Request.usesTools, toolless},
	{"tool_choice", noForce, nil, nil},
	{"cache_key", noCacheKey, nil, regexp.MustCompile(`prompt_cache_key|cache_control`)},
	{StructuredSchema, noSchema, nil, nil},
	{StructuredObject, noObject, nil, nil},
}

func hasTools(r Request) bool { return len(r.Tools) > 0 }

// Lacks gives the values of [Config.Without].
func Lacks() (names []string) {
	for _, l := range lacks {
		names = append(names, l.name)
	}
	return names
}

// without gives the quirks that Config.Without names.
func without(names []string) (q quirks) {
	for _, l := range lacks {
		if slices.Contains(names, l.name) {
			q |= l.quirk
		}
	}
	return q
}

// line is what keeps quirks in the configuration; "" where there is nothing to keep. Its quotes are such
// that a log leaves them as they are.
func (q quirks) line() string {
	var names []string
	for _, l := range lacks {
		if q.has(l.quirk) {
			names = append(names, "'"+l.name+"'")
		}
	}
	if names == nil {
		return ""
	}
	return "without = [" + strings.Join(names, ", ") + "]"
}

// thinkingRoom is how many tokens a model may think that is known to think: a minute's at 70 tokens a
// second, which is the default timeout. It is a limit, not a wish, and costs nothing unless it is used.
const thinkingRoom = 4096

// know takes in what was found out, and what is so no more, and gives what was known before and is now.
func (e *endpoint) know(more, less quirks) (before, now quirks) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before = e.known
	e.known = e.known&^less | more
	return before, e.known
}

// learn remembers what made a request succeed, for the next ones, and tells once how to keep it.
func (e *endpoint) learn(q quirks, t *turn) {
	if t.stop == StopLength && t.thinking() {
		q |= needsRoom
	}
	q &^= thinks | noRoom
	less := quirks(0)
	if t.text.String() != "" { // a text can hold a tag by chance, so this is unlearned as well
		less = thinks
		if t.text.Thinks() {
			q |= thinks
		}
	}
	before, known := e.know(q, less)
	if line := known.line(); line != before.line() {
		e.cfg.Log.Info("what the model cannot do is known until the next start; a line in the configuration keeps it",
			"model", e.cfg.Name, "write", line, "into", "[model."+e.cfg.Name+"]")
	}
}

// adapting tells that a request is sent in another way. That there are no tools is remembered at
// once: it is said in so many words, and a request that needs them has no success to learn from.
func (e *endpoint) adapting(q, next quirks, f *wire.Failure) {
	if next.has(noTools) == q.has(noTools) {
		e.cfg.Log.Info("the model is asked in another way", "model", e.cfg.Name, "why", f.Coded.Message)
		return
	}
	before, known := e.know(noTools, 0)
	if !before.has(noTools) { // else by another request, meanwhile
		e.cfg.Log.Warn("the model cannot call tools: its characters talk but do not act", "model", e.cfg.Name, "why", f.Coded.Message,
			"write", known.line(), "into", "[model."+e.cfg.Name+"]")
	}
}

// suited gives a request as an endpoint with these quirks takes it, as far as that is the same for
// all APIs.
func (e *endpoint) suited(req Request, q quirks) Request {
	switch {
	case q.has(calmTools) && hasTools(req):
		req.effort = effortNone
	case q.has(noEffort):
		req.effort = ""
	}
	if q.has(noTools) && req.usesTools() {
		req = req.withoutTools()
	}
	if q.has(needsRoom) && !q.has(noRoom) && req.MaxTokens > 0 {
		req.MaxTokens = max(req.MaxTokens, e.cfg.MaxTokens) + thinkingRoom
	}
	return req
}

// Refusals of a limit, and of a way to ask for a structured answer, say one of these, in lower case.
var (
	tooMuchRoom   = regexp.MustCompile(`max_tokens|max_completion_tokens|context length|context_length|context size|context window`)
	notStructured = regexp.MustCompile(`response_format|schema|json_object|grammar|structured|tool_choice|output_config|output_format|guided`)
)

// adapted gives the way to ask that a refusal suggests, if there is one that was not tried. Servers
// say 400, or 422, or, llama.cpp about some schemas and tools, 500. A 404 says what nobody there can
// do, or that nobody is there, and only the first can be helped.
func (e *endpoint) adapted(q quirks, f *wire.Failure, req Request) (quirks, bool) {
	missing := f.Status == http.StatusNotFound
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented, http.StatusNotFound:
	default:
		return q, false
	}
	if !missing && q.has(needsRoom) && !q.has(noRoom) && tooMuchRoom.MatchString(f.Said) {
		return q | noRoom, true
	}
	for _, l := range lacks {
		about := l.said != nil && !q.has(l.quirk) && (!missing || l.quirk == noTools)
		if about && (l.sent == nil || l.sent(req)) && l.said.MatchString(f.Said) {
			return q | l.quirk, true
		}
	}
	if req.Schema == nil || missing || !lacksTools(f.Said) && !notStructured.MatchString(f.Said) {
		return q, false
	}
	_, refused := e.way(q)
	return q | refused, refused != 0
}

// toolless are the words of refusals, in lower case, that are about tools as such. Those about one way
// to use them (tool_choice, or tools with reasoning_effort) must not be among them.
var toolless = regexp.MustCompile(`(?:not|n't) (?:yet )?support ` + toolsWord + // Ollama, Bedrock, DeepSeek
	`|` + toolsWord + "[`'\"]? (?:is|are) not (?:yet )?(?:supported|enabled|available)" + // OpenAI, Groq, Mistral
	`|no endpoints found that support tool use` + // OpenRouter
	`|--enable-auto-tool-choice|--tool-call-parser` + // vLLM
	`|tools param requires|unsupported param(?:eter)?: .?tools\b` + // llama.cpp without --jinja, and before it could
	`|support parameters: \[[^\]]*'tools'` + // LiteLLM
	`|"body", ?"tools"\]`) // a FastAPI that has no such field

const toolsWord = "[`'\"]?\\b(?:tools|tool[ _-]?(?:use|calls?|calling)|function[ _-]?(?:calls?|calling))\\b"

// lacksTools says whether a refusal says that the model cannot call tools.
func lacksTools(said string) bool { return toolless.MatchString(said) }

// thinking says whether the model thought before it answered.
func (t *turn) thinking() bool {
	return t.thought.Len() > 0 || t.reasoning.Len() > 0 || t.reasoned > 0 || t.text.Thought() != ""
}

// starved says that the thoughts of an answer left no room for it. Nobody was told anything then.
func (t *turn) starved() bool {
	return t.stop == StopLength && t.thinking() && !t.text.Told() && strings.TrimSpace(t.text.String()) == "" && len(t.calls.List()) == 0
}

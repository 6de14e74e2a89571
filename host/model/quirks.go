package model

import (
	"net/http"
	"regexp"
	"strings"
)

// quirks are what an endpoint has shown that it does otherwise.
type quirks struct {
	rung          int  // of the ladder: those below are refused
	noUsage       bool // refuses stream_options
	newLimit      bool // wants max_completion_tokens
	noTemperature bool // refuses a temperature
	noEffort      bool // refuses reasoning_effort
	calmTools     bool // calls tools only when it is told not to think
	noTools       bool // cannot call tools
	noForce       bool // refuses to be forced to call a tool
	thinks        bool // its texts begin with a thought that is not opened
	needsRoom     bool // it thinks at the cost of its answer's limit
	noRoom        bool // refuses so high a limit; not learned, for it depends on how long the talk is
}

// thinkingRoom is how many tokens a model may think that is known to think: a minute's at 70 tokens a
// second, which is the default timeout. It is a limit, not a wish, and costs nothing unless it is used.
const thinkingRoom = 4096

// quirks gives what is known by now.
func (e *endpoint) quirks() quirks {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known
}

// learn remembers what made a request succeed, for the next ones.
func (e *endpoint) learn(q quirks, t *turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := &e.known
	k.rung = max(k.rung, q.rung)
	k.noUsage = k.noUsage || q.noUsage
	k.newLimit = k.newLimit || q.newLimit
	k.noTemperature = k.noTemperature || q.noTemperature
	k.noEffort = k.noEffort || q.noEffort
	k.calmTools = k.calmTools || q.calmTools
	k.noForce = k.noForce || q.noForce
	k.needsRoom = k.needsRoom || t.stop == StopLength && t.thinking()
	if t.text.String() != "" { // a text can hold a tag by chance, so this is unlearned as well
		k.thinks = t.text.Thinks()
	}
}

// adapting tells that a request is sent in another way. That there are no tools is remembered at
// once: it is said in so many words, and a request that needs them has no success to learn from.
func (e *endpoint) adapting(q, next quirks, f *failure) {
	if next.noTools == q.noTools {
		e.cfg.Log.Info("the model is asked in another way", "model", e.cfg.Name, "why", f.coded.Message)
		return
	}
	e.mu.Lock()
	known := e.known.noTools
	e.known.noTools = true
	e.mu.Unlock()
	if !known { // by another request, meanwhile
		e.cfg.Log.Warn("the model cannot call tools: its characters talk but do not act", "model", e.cfg.Name, "why", f.coded.Message)
	}
}

// suited gives a request as an endpoint with these quirks takes it, as far as that is the same for
// all APIs.
func (e *endpoint) suited(req Request, q quirks) Request {
	switch {
	case q.calmTools && len(req.Tools) > 0:
		req.effort = effortNone
	case q.noEffort:
		req.effort = ""
	}
	if q.noTools && req.usesTools() {
		req = req.withoutTools()
	}
	if q.needsRoom && !q.noRoom && req.MaxTokens > 0 {
		req.MaxTokens = max(req.MaxTokens, e.cfg.MaxTokens) + thinkingRoom
	}
	return req
}

// adapted gives the way to ask that a refusal suggests, if there is one that was not tried. Servers
// say 400, or 422, or, llama.cpp about some schemas and tools, 500. A 404 says what nobody there can
// do, or that nobody is there, and only the first can be helped.
func (q quirks) adapted(f *failure, req Request, rungs int) (quirks, bool) {
	switch f.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
	case http.StatusNotFound:
		return q.adaptedTools(f, req)
	default:
		return q, false
	}
	switch {
	case !q.noUsage && f.about("stream_options", "include_usage"):
		q.noUsage = true
	case q.needsRoom && !q.noRoom && f.about("max_tokens", "max_completion_tokens", "context length", "context_length", "context size", "context window"):
		q.noRoom = true
	case !q.newLimit && f.about("max_completion_tokens"):
		q.newLimit = true
	case !q.noTemperature && req.Temperature != nil && f.about("temperature"):
		q.noTemperature = true
	// GPT-5.4 and later, of chat completions; some of them think unless they are told not to.
	case !q.calmTools && len(req.Tools) > 0 && f.about("function tools with reasoning_effort"):
		q.calmTools = true
	case !q.noEffort && req.effort != "" && f.about("reasoning_effort", "reasoningeffort", "reasoning.effort", "reasoning is mandatory", "support thinking", "think value"):
		q.noEffort = true
	default:
		if next, ok := q.adaptedTools(f, req); ok {
			return next, true
		}
		if req.Schema == nil || q.rung+1 >= rungs || !lacksTools(f.said) && !f.about("response_format", "schema", "json_object", "grammar",
			"structured", "tool_choice", "output_config", "output_format", "guided") {
			return q, false
		}
		q.rung++
	}
	return q, true
}

func (q quirks) adaptedTools(f *failure, req Request) (quirks, bool) {
	switch {
	case !q.noForce && req.ToolChoice == "required" && f.about("tool_choice"):
		q.noForce = true
	case !q.noTools && req.usesTools() && lacksTools(f.said):
		q.noTools = true
	default:
		return q, false
	}
	return q, true
}

// about says whether a refusal has one of these words, which are in lower case.
func (f *failure) about(words ...string) bool {
	for _, w := range words {
		if strings.Contains(f.said, w) {
			return true
		}
	}
	return false
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

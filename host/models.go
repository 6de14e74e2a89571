package host

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/card/schema"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/model"
	"github.com/companiond/companiond/host/model/tokens"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/prompt"
)

// models are the language models of the house: which one is whose, and what each
// call used.
type models struct {
	clients  map[string]model.Client
	context  map[string]int // tokens that a prompt may come to
	withLine map[string]int // how many lines one writes behind votes at once
	usual    string         // for companions that name none; empty: there is none
	used     func(ctx context.Context, room string, u entry.Usage)
	wants    func(companion string) string // which model the card of a module names
}

// vendorURL is where a model is whose url is empty.
func vendorURL(api string) string {
	if api == model.Anthropic {
		return "https://api.anthropic.com"
	}
	return "https://api.openai.com/v1"
}

// newModels makes the clients. Nothing is asked yet, and a key that is not there
// is told by the first call that needs it.
func newModels(settings []config.Model, file func(string) (string, error), log *slog.Logger) *models {
	m := &models{clients: map[string]model.Client{}, context: map[string]int{}, withLine: map[string]int{}, wants: func(string) string { return "" }}
	for _, c := range settings {
		cfg := model.Config{
			Name: c.Name, API: c.API, URL: cmp.Or(c.URL, vendorURL(c.API)), Model: c.Model, Structured: c.Structured,
			Timeout: c.Timeout, FirstByte: c.FirstByte, Retries: c.Retries, Parallel: c.Parallel, MaxTokens: c.MaxTokens,
			PriceIn: c.PriceIn, PriceOut: c.PriceOut, PriceCached: c.PriceCached, Log: log,
			Effort: c.Effort, Without: c.Without,
			Key: func() (string, error) { return readKey(c, file) },
		}
		if c.Temperature >= 0 {
			cfg.Temperature = &c.Temperature
		}
		m.clients[c.Name], m.context[c.Name] = model.New(cfg), c.Context
		if c.VoteWithLine {
			m.withLine[c.Name] = c.Parallel - 1
		}
		if len(settings) == 1 || c.Name == config.DefaultName {
			m.usual = c.Name
		}
	}
	return m
}

// maxKey is more than any vendor's key has.
const maxKey = 8 << 10

// readKey reads the file with a model's key, at each call, so that a new key
// needs no restart. The key is never part of an error.
func readKey(c config.Model, file func(string) (string, error)) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	path, err := file(c.Key)
	if err != nil {
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	key := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return "", fmt.Errorf("model.%s.key: %w", c.Name, err)
	case len(b) > maxKey:
		return "", fmt.Errorf("model.%s.key: %s is no file with a key: it has more than %d bytes", c.Name, path, maxKey)
	case key == "" || strings.ContainsAny(key, "\r\n\x00"):
		return "", fmt.Errorf("model.%s.key: %s must hold the key and nothing else, in one line", c.Name, path)
	}
	return key, nil
}

// of gives the model that a companion is to think with.
func (m *models) of(wanted string) (model.Client, string) {
	if c, ok := m.clients[cmp.Or(wanted, m.usual)]; ok {
		return c, ""
	}
	switch {
	case wanted != "":
		return nil, fmt.Sprintf("waits for a model: its card names %q, and the configuration has no [model.%s]", wanted, wanted)
	case len(m.clients) > 0:
		return nil, "waits for a model: the configuration has several and none is called \"main\"; name one in the card"
	}
	return nil, "waits for a model: write [model.main] into the configuration"
}

// Waits says why a companion has no model; empty when it has one.
func (m *models) Waits(_, wanted string) string {
	_, why := m.of(wanted)
	return why
}

// VotesWithLine gives the name of a companion's model, and how many lines it may write behind
// votes at once: one place of its is for all else.
func (m *models) VotesWithLine(wanted string) (model string, most int) {
	model = cmp.Or(wanted, m.usual)
	return model, m.withLine[model]
}

// Window gives how long a prompt for a companion's model may be.
func (m *models) Window(wanted string) (budget int, meter *tokens.Meter) {
	client, _ := m.of(wanted)
	if client == nil {
		return 0, new(tokens.Meter)
	}
	return m.context[client.Name()], client.Meter()
}

// Generate asks a companion's model and writes down what it used.
func (m *models) Generate(ctx context.Context, c module.Caller, wanted string, ask prompt.Ask, onText func(string) error) (model.Answer, error) {
	client, why := m.of(wanted)
	if client == nil {
		return model.Answer{}, abi.Errorf(abi.CodeUnavailable, "%s", why)
	}
	a, err := client.Generate(ctx, ask.Request, onText)
	u := entry.Usage{
		Who: c.Companion, Model: client.Name(), Op: c.Op, In: a.Usage.In, Out: a.Usage.Out, Cached: a.Usage.Cached,
		Calls: a.Usage.Calls, Estimated: a.Usage.Estimated, Cost: a.Usage.Cost, About: ask.About, Grant: ask.Grant, Told: ask.Told,
	}
	if err != nil {
		u.Error = abi.AsError(err).Message
	}
	if c.Room != "" && (u.Calls > 0 || err != nil) {
		m.used(context.WithoutCancel(ctx), c.Room, u)
	}
	return a, err
}

// checkOf gives what holds an answer to a schema, which a module wrote.
func checkOf(text json.RawMessage) (func(json.RawMessage) error, error) {
	const path = "schema"
	var faults tree.Faults
	n := tree.Read(text, path, &faults)
	if len(faults) > 0 {
		return nil, faults.Err(abi.CodeInvalid, path)
	}
	s := new(schema.Compiler).Compile(n, path, &faults)
	if len(faults) > 0 {
		return nil, faults.Err(abi.CodeInvalid, path)
	}
	return func(answer json.RawMessage) error {
		var faults tree.Faults
		n := tree.Read(answer, "", &faults)
		if len(faults) > 0 {
			return faults.Err(abi.CodeInvalid, "answer")
		}
		why, code := s.Check(n, "")
		return why.Err(code, "answer")
	}, nil
}

// ask answers a module's model.generate. With a schema the answer is held to it, and
// the model has one try to mend it.
func (m *models) ask(ctx context.Context, c module.Caller, ask abi.ModelAsk) (abi.ModelAnswer, error) {
	req := model.Request{System: ask.System, MaxTokens: ask.MaxTokens, Schema: ask.Schema}
	if len(ask.Schema) > 0 {
		var err error
		if req.Check, err = checkOf(ask.Schema); err != nil {
			return abi.ModelAnswer{}, err
		}
	}
	for i, msg := range ask.Messages {
		role := model.Role(msg.Role)
		if role != model.RoleUser && role != model.RoleAssistant {
			return abi.ModelAnswer{}, abi.Errorf(abi.CodeInvalid, "messages[%d].role: %q is neither \"user\" nor \"assistant\"", i, msg.Role)
		}
		req.Messages = append(req.Messages, model.Message{Role: role, Text: msg.Text})
	}
	if len(req.Messages) == 0 {
		return abi.ModelAnswer{}, abi.Errorf(abi.CodeInvalid, "messages: must not be empty")
	}
	a, err := m.Generate(ctx, c, m.wants(c.Companion), prompt.Ask{Request: req}, nil)
	if err != nil {
		return abi.ModelAnswer{}, err
	}
	return abi.ModelAnswer{Text: a.Text, JSON: json.RawMessage(a.JSON), In: a.Usage.In, Out: a.Usage.Out}, nil
}

package conversations

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
)

// The chat of a person with an agent: seed E's POST /chat/start, /chat and /chat/end.

type (
	startIn struct {
		Body startChatBody
	}
	startChatBody struct {
		Project   string `json:"project,omitempty" doc:"The agent's project; may be left out where it is in one alone." example:"site"`
		AgentID   string `json:"agent_id" minLength:"1" doc:"With whom." example:"worker-a"`
		Purpose   string `json:"purpose,omitempty" doc:"What it is about, at most 4,000 characters."`
		Message   string `json:"message,omitempty" doc:"The first message, at most 4,000 characters."`
		MessageID string `json:"id,omitempty" doc:"The first message's: makes it safe to send again."`
		From      string `json:"from,omitempty" doc:"Who calls: a person's name; guest when left out. With a token it is the token's name." example:"mika"`
	}
	// chatOut is how a chat stands.
	chatOut struct {
		ID      string               `json:"conversation_id" doc:"The conversation's, for everything else."`
		Status  conversation.State   `json:"status" doc:"pending until the agent comes, then active; terminating, ended, expired or declined when it is over." example:"pending"`
		Project string               `json:"project" doc:"Whose agents they are."`
		AgentID string               `json:"agent_id,omitempty" doc:"With whom."`
		Ending  *conversation.Ending `json:"ending,omitempty" doc:"How it ended, once it is over."`
	}
	endIn struct {
		Body endChatBody
	}
	endChatBody struct {
		ID      string `json:"conversation_id" minLength:"1" doc:"Which."`
		Message string `json:"final_message,omitempty" doc:"Said before it ends, at most 4,000 characters."`
		From    string `json:"from,omitempty" doc:"Who calls, as at /v1/chat/start."`
	}
	sayIn struct {
		Accept string `header:"Accept" hidden:"true"`
		Body   chatBody
	}
	chatBody struct {
		ID        string `json:"conversation_id" minLength:"1" doc:"Which, as /v1/chat/start answered."`
		Message   string `json:"message" doc:"What is said, at most 4,000 characters."`
		MessageID string `json:"id,omitempty" doc:"Makes it safe to send again: the same id says nothing twice, and waits for the same answer."`
		From      string `json:"from,omitempty" doc:"Who calls, as at /v1/chat/start."`
		Stream    bool   `json:"stream,omitempty" doc:"Answer as server-sent events, as Accept: text/event-stream does."`
		Wait      *int   `json:"wait_seconds,omitempty" minimum:"0" maximum:"45" doc:"How long an answer in one piece is waited for; 45 when left out. 0: not at all."`
	}
)

func (d *door) registerChat(api huma.API, op Operation) {
	start := op(http.MethodPost, "/v1/chat/start", "start-chat", "Start a chat with an agent", http.StatusCreated)
	start.Description = "The agent is told, and started where the configuration says how. Messages may be sent at once. POST /chat/start is the same."
	add(api, identity.Talk, d.start, start)
	say := op(http.MethodPost, "/v1/chat", "chat", "Say something in a chat, and hear the answer", http.StatusOK)
	say.Description = "Answers when the agent has, with 200, or with 202 when it has not in time. As server-sent events: said, then segment and message as they come, " +
		"conversation when its state changes, and done. POST /chat is the same."
	schema := func(v huma.Schema) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: &v}}
	}
	answer := *answerSchema(api)
	say.Responses["200"] = &huma.Response{Description: "The answer", Content: schema(answer)}
	say.Responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	say.Responses["202"] = &huma.Response{Description: "No answer yet", Content: schema(answer)}
	addAs(api, identity.Talk, d.chat, say)
	end := op(http.MethodPost, "/v1/chat/end", "end-chat", "End a chat", http.StatusOK)
	end.Description = "The agent is told. POST /chat/end is the same."
	add(api, identity.Talk, d.end, end)
}

func (d *door) start(ctx context.Context, in *startIn) (out chatOut, err error) {
	b := in.Body
	for _, err := range []error{checkText("body.purpose", b.Purpose, false), checkText("body.message", b.Message, false), checkID(b.MessageID)} {
		if err != nil {
			return out, err
		}
	}
	if _, known := d.cfg.Agent(b.AgentID); !known {
		return out, at("body.agent_id", conversation.Refuse(conversation.AgentNotFound, b.AgentID))
	}
	if b.Project == "" {
		if b.Project, err = d.cfg.Conversations.ProjectOf(b.AgentID); err != nil {
			return out, byCode(err, "body.project", conversation.Invalid)
		}
	} else if _, ok := d.cfg.Conversations.Project(b.Project); !ok {
		return out, at("body.project", abi.Errorf(abi.CodeNotFound, "there is no %.64q", b.Project))
	}
	m, err := d.member(ctx, b.From, b.Project)
	if err != nil {
		return out, err
	}
	v, err := d.cfg.Conversations.Start(ctx, m, conversations.Ask{Targets: []string{b.AgentID}, Purpose: b.Purpose, Text: b.Message, MessageID: b.MessageID, Person: true})
	return stands(v, m.Agent), ofTarget(err)
}

func (d *door) end(ctx context.Context, in *endIn) (out chatOut, err error) {
	if err := checkText("body.final_message", in.Body.Message, false); err != nil {
		return out, err
	}
	m, err := d.chatter(ctx, in.Body.ID, in.Body.From)
	if err != nil {
		return out, err
	}
	v, err := d.cfg.Conversations.End(ctx, m, in.Body.ID, in.Body.Message)
	return stands(v, m.Agent), ofID("body.conversation_id", err)
}

// chatter gives whoever calls as a member of the project of a conversation.
func (d *door) chatter(ctx context.Context, id, from string) (conversations.Member, error) {
	v, err := d.cfg.Conversations.Get(ctx, id)
	if err != nil {
		return conversations.Member{}, ofID("body.conversation_id", err)
	}
	return d.member(ctx, from, v.Terms.Project)
}

// stands tells how a chat of somebody stands.
func stands(v conversations.View, who string) chatOut {
	s := chatOut{ID: v.ID, Status: v.State, Project: v.Terms.Project, Ending: v.Ending}
	for _, m := range v.Members {
		if m.ID != who {
			s.AgentID = m.ID
			break
		}
	}
	return s
}

// chat says something and has the answer heard.
func (d *door) chat(ctx context.Context, in *sayIn) (*huma.StreamResponse, error) {
	b := in.Body
	streamed, wait := b.Stream || strings.Contains(in.Accept, "text/event-stream"), patience
	if b.Wait != nil {
		wait = time.Duration(*b.Wait) * time.Second
	}
	if streamed {
		wait = longest
	}
	if err := checkText("body.message", b.Message, true); err != nil {
		return nil, err
	}
	if err := checkID(b.MessageID); err != nil {
		return nil, err
	}
	m, err := d.chatter(ctx, b.ID, b.From)
	if err != nil {
		return nil, err
	}
	place, err := d.waiting.TakeHeld(identity.Of(ctx).Sharer, nil, time.Now().Add(min(wait, patience)))
	if err != nil {
		return nil, err
	}
	h, err := d.say(ctx, m, b)
	if err != nil {
		place.Leave()
		return nil, err
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		defer place.Leave()
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer context.AfterFunc(d.cfg.Stopping, cancel)()
		if streamed {
			h.stream(ctx, out)
		} else {
			h.answer(ctx, out)
		}
	}}, nil
}

// say says it, and gives whoever hears the answer.
func (d *door) say(ctx context.Context, m conversations.Member, b chatBody) (*hearing, error) {
	s, err := d.cfg.Conversations.Say(ctx, m, conversations.Words{Conversation: b.ID, Text: b.Message, MessageID: b.MessageID, Person: true})
	if err != nil {
		return nil, ofID("body.conversation_id", err)
	}
	talk, err := d.cfg.Rooms.Room(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	return &hearing{talk: talk, who: m.Agent, said: s.Message, view: s.View, seen: s.Message.Seq}, nil
}

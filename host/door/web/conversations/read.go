package conversations

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/rooms"
)

type (
	listIn struct {
		Project string `query:"project" doc:"Only those of this project."`
		Agent   string `query:"agent" doc:"Only those that this agent is in. An agent's token sees its own alone."`
		State   string `query:"state" enum:"pending,active,terminating,ended,expired,declined" doc:"Only those that stand so."`
		Limit   int    `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"At most so many."`
		Before  string `query:"before" doc:"Only older ones than the one with this id; next of the page before."`
	}
	conversationsOut struct {
		Conversations []conversations.View `json:"conversations" doc:"Newest first."`
		Next          string               `json:"next,omitempty" doc:"There may be more: ask for those before this one."`
	}
	oneIn struct {
		ID string `path:"id" doc:"The conversation's id." example:"conv_0123456789abcdef0123456789abcdef"`
	}
	messagesIn struct {
		ID    string `path:"id" doc:"The conversation's id."`
		Since uint64 `query:"since" maximum:"9007199254740991" doc:"Only what has a greater seq."`
		Limit int    `query:"limit" default:"100" minimum:"1" maximum:"100" doc:"At most so many."`
	}
	conversationMessagesOut struct {
		Messages []abi.Message      `json:"messages" doc:"Oldest first."`
		Head     uint64             `json:"head" doc:"The seq of the newest entry of the conversation."`
		Status   conversation.State `json:"status" doc:"How the conversation stands." example:"active"`
	}
	speakIn struct {
		ID   string `path:"id" doc:"The conversation's id."`
		Body speakInConversationBody
	}
	speakInConversationBody struct {
		Text      string `json:"text" doc:"What is said, at most 4,000 characters."`
		From      string `json:"from,omitempty" doc:"Who speaks: a person's name; guest when left out. With a token it is the token's name." example:"mika"`
		MessageID string `json:"id,omitempty" doc:"Makes it safe to send again: the same id gives the message that was recorded first."`
	}
	spokenInConversationOut struct {
		Seq uint64 `json:"seq" doc:"The message's place in the conversation."`
		ID  string `json:"id" doc:"The message's id."`
	}
	stopIn struct {
		ID   string `path:"id" doc:"The conversation's id."`
		Body *stopConversationBody
	}
	stopConversationBody struct {
		From string `json:"from,omitempty" doc:"Who stops it: a person's name; guest when left out." example:"mika"`
	}
)

func (d *door) registerRead(api huma.API, op Operation) {
	add(api, identity.Read, d.list, op(http.MethodGet, "/v1/conversations", "list-conversations", "List the conversations of agents", http.StatusOK))
	add(api, identity.Read, d.one, op(http.MethodGet, "/v1/conversations/{id}", "get-conversation", "Look at a conversation", http.StatusOK))
	add(api, identity.Read, d.messages, op(http.MethodGet, "/v1/conversations/{id}/messages", "list-conversation-messages", "Read what was said in a conversation", http.StatusOK))
	speak := op(http.MethodPost, "/v1/conversations/{id}/messages", "say-in-conversation", "Say something in a conversation", http.StatusCreated)
	speak.Description = "For people, who need not be in it. It is no turn of the conversation's."
	add(api, identity.Talk, d.speak, speak)
	stop := op(http.MethodPost, "/v1/conversations/{id}/stop", "stop-conversation", "End a conversation for all who are in it", http.StatusOK)
	stop.Description = "For people, who need not be in it."
	add(api, identity.Talk, d.stop, stop)
	feed := op(http.MethodGet, "/v1/conversations/feed", "follow-conversations", "Follow how conversations begin and end", http.StatusOK)
	feed.Description = "Server-sent events named conversation, from now on: how one stands that has changed, and as absent whoever of it was invited and is not there."
	feed.Responses["200"] = &huma.Response{Description: "The events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	addAs(api, identity.Read, d.feed, feed)
}

func (d *door) list(ctx context.Context, in *listIn) (out conversationsOut, err error) {
	if err := d.known(in.Project); err != nil {
		return out, err
	}
	if agent := only(ctx); agent != "" {
		if in.Agent != "" && in.Agent != agent {
			return out, at("query.agent", abi.Errorf(abi.CodeDenied, "this token is %s's, which sees its own conversations alone", agent))
		}
		in.Agent = agent
	}
	all, err := d.cfg.Conversations.List(ctx, conversations.Filter{
		Project: in.Project, Agent: in.Agent, State: conversation.State(in.State), Before: in.Before, Limit: in.Limit,
	})
	if len(all) == in.Limit {
		out.Next = all[in.Limit-1].ID
	}
	out.Conversations = append([]conversations.View{}, all...)
	return out, byCode(err, "query.before", conversation.NotFound, conversation.Invalid)
}

// known refuses a project that there is none of; "" stands for all.
func (d *door) known(project string) error {
	if _, ok := d.cfg.Conversations.Project(project); project != "" && !ok {
		return at("query.project", abi.Errorf(abi.CodeNotFound, "there is no %.64q", project))
	}
	return nil
}

func (d *door) one(ctx context.Context, in *oneIn) (conversations.View, error) {
	v, err := d.open(ctx, in.ID)
	return v, ofID("path.id", err)
}

func (d *door) messages(ctx context.Context, in *messagesIn) (out conversationMessagesOut, err error) {
	v, err := d.open(ctx, in.ID)
	if err != nil {
		return out, ofID("path.id", err)
	}
	ms, head, err := d.cfg.Conversations.History(ctx, in.ID, in.Since, in.Limit)
	return conversationMessagesOut{append([]abi.Message{}, ms...), head, v.State}, err
}

// next is where what is said behind a seq is read.
func next(id string, since uint64) string {
	return fmt.Sprintf("/v1/conversations/%s/messages?since=%d", id, since)
}

// speak says something as a person in the room of a conversation, which knows whether that
// person is in it.
func (d *door) speak(ctx context.Context, in *speakIn) (out spokenInConversationOut, err error) {
	b := in.Body
	v, from, err := d.guided(ctx, in.ID, b.From)
	if err != nil {
		return out, err
	}
	if err := checkText("body.text", b.Text, true); err != nil {
		return out, err
	}
	if err := checkID(b.MessageID); err != nil {
		return out, err
	}
	if !v.Open() {
		return out, notOpen(v)
	}
	talk, err := d.cfg.Rooms.Room(ctx, in.ID)
	if err != nil {
		return out, err
	}
	m, err := talk.Say(ctx, rooms.Utterance{ID: b.MessageID, From: from, By: abi.KindHuman, Text: b.Text})
	return spokenInConversationOut{m.Seq, m.ID}, ofID("path.id", err)
}

// guided gives a conversation, and the person who has a word in it.
func (d *door) guided(ctx context.Context, id, from string) (conversations.View, string, error) {
	v, err := d.cfg.Conversations.Get(ctx, id)
	if err != nil {
		return v, "", ofID("path.id", err)
	}
	name, err := d.human(ctx, from, v.Terms.Project)
	return v, name, err
}

func (d *door) stop(ctx context.Context, in *stopIn) (out conversations.View, err error) {
	from := ""
	if in.Body != nil {
		from = in.Body.From
	}
	out, name, err := d.guided(ctx, in.ID, from)
	if err != nil {
		return out, err
	}
	if !out.Open() {
		return out, notOpen(out)
	}
	now, err := d.cfg.Conversations.Stop(ctx, name, in.ID)
	if f := (*conversation.Fault)(nil); errors.As(err, &f) && f.Code == conversation.NotParticipant {
		return d.stopRoom(ctx, name, in.ID)
	}
	return now, ofID("path.id", err)
}

// stopRoom is the STOP of a person whom the configuration does not know: nobody's name is a
// reason to refuse it.
func (d *door) stopRoom(ctx context.Context, who, id string) (out conversations.View, err error) {
	talk, err := d.cfg.Rooms.Room(ctx, id)
	if err != nil {
		return out, err
	}
	if _, err := talk.Stop(ctx, who); err != nil {
		return out, err
	}
	return d.cfg.Conversations.Get(ctx, id)
}

func notOpen(v conversations.View) error {
	return at("path.id", conversation.Refuse(conversation.NotOpen, fmt.Sprintf("it is %s", v.State)))
}

type feedIn struct {
	Project string `query:"project" doc:"Only the conversations of this project."`
}

// feed tells how conversations change. It ends with the client, or the daemon.
func (d *door) feed(ctx context.Context, in *feedIn) (*huma.StreamResponse, error) {
	if err := d.known(in.Project); err != nil {
		return nil, err
	}
	place, err := d.waiting.TakeHeld(identity.Of(ctx).Sharer, nil, time.Time{})
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		defer place.Leave()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(d.cfg.Stopping, cancel)()
		s := begin(out)
		defer s.end()
		if err := d.follow(ctx, in.Project, s); err != nil && !s.gone && ctx.Err() == nil {
			s.fail(err)
		}
	}}, nil
}

// follow hands on changes, and shows that the stream is there while there are none.
func (d *door) follow(ctx context.Context, project string, s *stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	agent := only(ctx)
	notices, over := beside(ctx, func(give func(conversations.Notice) error) error {
		return d.cfg.Conversations.Follow(ctx, project, func(n conversations.Notice) error {
			if agent != "" && n.Member(agent) == nil {
				return nil
			}
			return give(n)
		})
	})
	quiet := time.NewTicker(alive)
	defer quiet.Stop()
	err := s.quiet() // the client knows that it is followed
	for err == nil {
		select {
		case n := <-notices:
			err = s.event("conversation", 0, n)
		case <-quiet.C:
			err = s.quiet()
		case err := <-over:
			return err
		}
	}
	cancel()
	<-over
	return err
}

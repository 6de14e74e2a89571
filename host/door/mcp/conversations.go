package mcp

import (
	"context"

	"github.com/companiond/companiond/host/door/mcp/converse"
	"github.com/companiond/companiond/host/door/mcp/tools"
	"github.com/companiond/companiond/host/identity"
)

// addConversations offers the tools of seed E, where there is a project whose agents may use
// them.
func (d *Door) addConversations() {
	if d.cfg.Conversations == nil {
		return
	}
	desk := converse.New(*d.cfg.Conversations, d.cfg.Stopping)
	offer(d, tools.Authenticate(), desk.Authenticate)
	offer(d, tools.Logout(), desk.Logout)
	offer(d, tools.NextAction(), desk.NextAction)
	offer(d, tools.StartConversation(), desk.Start)
	offer(d, tools.SendMessage(), desk.Send)
	offer(d, tools.RespondChat(), desk.Respond)
	offer(d, tools.PendingMessages(), desk.Pending)
	offer(d, tools.EndConversation(), desk.End)
	offer(d, tools.DeclineConversation(), desk.Decline)
	offer(d, tools.ConversationHistory(), desk.History)
	offer(d, tools.ListConversations(), desk.List)
}

// offer offers one of them. A refusal has a code of docs/CONVERSATIONS.md in its structured
// answer. Also the one that waits is answered beside the SDK, through which a call that waits takes
// ten times the memory.
func offer[In any](d *Door, t tools.Tool, run func(context.Context, identity.Caller, In) (any, error)) {
	scope := identity.Read
	if t.Changes {
		scope = identity.Talk
	}
	tool[In]{
		Tool: t, scope: scope, quick: true,
		run:  func(ctx context.Context, c call, in In) (any, error) { return run(ctx, c.caller, in) },
		told: func(err error) any { return converse.Refuse(err) },
	}.add(d)
}

// aboutConversations is what the instructions say of them.
const aboutConversations = "\nTo have a conversation with another agent of your project, call authenticate, and then get_next_action, which tells you what to do.\n" +
	"同じプロジェクトのエージェントと会話するには、authenticateを呼び、get_next_actionの指示に従ってください。"

func (c Config) instructions() string {
	if c.Conversations == nil {
		return instructions
	}
	return instructions + aboutConversations
}

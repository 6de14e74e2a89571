package host

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/conversation"
	"github.com/companiond/companiond/host/conversations"
	"github.com/companiond/companiond/host/door/mcp/converse"
	"github.com/companiond/companiond/host/door/socket/notices"
	door "github.com/companiond/companiond/host/door/web/conversations"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/opening"
	"github.com/companiond/companiond/host/sessions"
	"github.com/companiond/companiond/host/summon"
	"github.com/companiond/companiond/host/turn"
)

// leaving is how long it may take to write down that a member is gone.
const leaving = 30 * time.Second

// hangsUp is how long a call takes at most to end when its client has.
const hangsUp = time.Second

// projects is what a house has for the conversations of agents. Without a project in its
// configuration a house has none.
type projects struct {
	talks    *conversations.Conversations
	sessions *sessions.Sessions
	summoner *summon.Summoner
	agents   map[string]conversations.Agent // of the configuration
	unlisted map[string]bool                // ids that projects name and nothing else in it: companions, mostly
	ais      address.Set                    // what AIs are called
	notices  *notices.Door                  // nil before there are doors
}

// talkRules are those of rooms that are for a conversation.
func talkRules() entry.Rules {
	usual, _ := config.ReadRoom("conversations", []byte("{}"))
	r := opening.Rules(usual)
	r.Policy, r.PolicyRaw, r.Stale, r.Interrupt = turn.ConversationPolicy, nil, entry.StaleAccept, entry.InterruptNever
	r.Silence, r.Pace, r.Auto, r.MaxTurns, r.Ahead = 0, 0, false, 0, 0
	return r
}

// buildProjects makes what agents have conversations with, behind the rooms.
func (h *Host) buildProjects() {
	if len(h.cfg.Projects) == 0 {
		return
	}
	p := new(projects)
	p.sessions = sessions.New(sessions.Config{
		Tokens: h.tokens, Expiry: h.cfg.Conversations.Session,
		Random: func(b []byte) { _, _ = rand.Read(b) }, // it never fails
		Gone: func(project, agent string) {
			ctx, cancel := context.WithTimeout(context.Background(), leaving)
			defer cancel()
			p.talks.Gone(ctx, conversations.Member{Project: project, Agent: agent})
		},
	})
	p.agents, p.unlisted = map[string]conversations.Agent{}, map[string]bool{}
	for _, a := range h.cfg.Agents {
		p.know(conversations.Agent{ID: a.Name, Name: a.Title, Human: a.Type == config.TypeHuman})
	}
	all := make([]conversations.Project, 0, len(h.cfg.Projects))
	for _, c := range h.cfg.Projects {
		all = append(all, conversations.Project{Name: c.Name, Agents: c.Agents})
		for _, id := range c.Agents {
			if _, known := p.agents[id]; !known {
				p.unlisted[id] = true
				p.ais.Add(id, id)
			}
		}
	}
	p.talks = conversations.New(conversations.Config{
		Rooms: h.rooms, Halls: h.rooms, Projects: all, Agent: h.agent, NewID: newID, Log: h.log,
		Here:    func(m conversations.Member) bool { return p.sessions.Here(m.Project, m.Agent) },
		Pending: h.cfg.Conversations.Pending, Idle: h.cfg.Conversations.Idle,
		Invite: func(i conversations.Invitation) {
			p.summoner.Invite(summon.Invitation{Project: i.Project, Agent: i.Agent, Conversation: i.Conversation})
		},
	})
	h.projects = p
}

// buildSummoner makes what starts the programs of agents, which connect at an address.
func (h *Host) buildSummoner(at net.Addr) {
	if h.projects == nil {
		return
	}
	url := "http://" + h.addr
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		url = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	var agents []summon.Agent
	for _, a := range h.cfg.Agents {
		agents = append(agents, summon.Agent{Name: a.Name, Start: a.Start})
	}
	h.projects.summoner = summon.New(summon.Config{
		Agents: agents, URL: url, MCP: url + "/mcp", Environ: h.environ, Log: h.log,
		Wanted: func(i summon.Invitation) bool { return h.projects.wanted(i) },
		Ended: func(i summon.Invitation, began time.Time) {
			time.Sleep(hangsUp)
			h.projects.sessions.Leave(i.Project, i.Agent, began)
		},
	})
}

// wanted says whether an invitation has not been answered.
func (p *projects) wanted(i summon.Invitation) bool {
	ctx, cancel := context.WithTimeout(context.Background(), leaving)
	defer cancel()
	v, err := p.talks.Get(ctx, i.Conversation)
	if err != nil || !v.Open() {
		return false
	}
	m := v.Member(i.Agent)
	return m != nil && !m.Joined && m.Ending == nil
}

// agent finds one of those who may have conversations: an agent of the configuration, a
// companion that lives here, or anybody else whom a project names, who comes from outside.
func (h *Host) agent(id string) (conversations.Agent, bool) {
	if a, known := h.projects.agents[id]; known {
		return a, true
	}
	if resident, lives := h.house.Resident(id); lives && resident == id {
		a := conversations.Agent{ID: id, Name: id, Hosted: true}
		if c, ok := h.folder.Companion(id); ok {
			a.Name = c.Describe().Name
		}
		return a, true
	}
	return conversations.Agent{ID: id, Name: id}, h.projects.unlisted[id]
}

// know takes in an agent of the configuration.
func (p *projects) know(a conversations.Agent) {
	p.agents[a.ID] = a
	if !a.Human {
		p.ais.Add(a.ID, a.ID)
		p.ais.Add(a.Name, a.ID)
	}
}

// here says whether an agent has a session.
func (h *Host) here(project, who string) bool {
	return h.projects != nil && h.projects.sessions.Here(project, who)
}

// conversed tells what became of a conversation.
func (h *Host) conversed(room string, now conversation.Conversation, entries []entry.Entry) {
	if h.projects != nil {
		h.projects.talks.Wrote(room, now, entries)
	}
}

// converse is what the MCP door has of conversations, nil for nothing.
func (h *Host) converse() *converse.Config {
	if h.projects == nil {
		return nil
	}
	return &converse.Config{Conversations: h.projects.talks, Sessions: h.projects.sessions, Agent: h.agent, MaxWaits: h.cfg.Door.MaxClients}
}

// talksDoor is what the HTTP door has of them.
func (h *Host) talksDoor() *door.Config {
	if h.projects == nil {
		return nil
	}
	return &door.Config{Conversations: h.projects.talks, Rooms: members{h.rooms}, Agent: h.agent, MaxWaiting: h.cfg.Door.MaxClients, Stopping: h.waiting}
}

// noticed is a handler with the WebSocket beside it that tells what becomes of conversations.
func (h *Host) noticed(checkOrigin func(*http.Request) bool, next http.Handler) http.Handler {
	if h.projects == nil {
		return next
	}
	h.projects.notices = notices.New(notices.Config{
		Conversations: h.projects.talks, CheckOrigin: checkOrigin, Log: h.log, MaxClients: h.cfg.Door.MaxClients,
	})
	return h.projects.notices.Beside(next)
}

// close says goodbye to those who are told what becomes of conversations.
func (p *projects) close(ctx context.Context) error {
	if p == nil || p.notices == nil {
		return nil
	}
	return p.notices.Close(ctx)
}

// load reads which conversations there are. Agents that take part in one may have had a
// session before the daemon ended: they have as long to come back as it would have lasted.
func (p *projects) load(ctx context.Context) error {
	if err := p.talks.Load(ctx); err != nil {
		return err
	}
	for _, m := range p.talks.Expected() {
		p.sessions.Assume(m.Project, m.Agent)
	}
	return nil
}

package config

import (
	"cmp"
	"slices"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/address"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/config/source"
	"github.com/companiond/companiond/host/spell"
)

// Conversations is the table [conversations]: how long agents are waited for.
type Conversations struct {
	Pending time.Duration `in:"1ms..24h"`  // until one expires that nobody answers
	Idle    time.Duration `in:"1ms..24h"`  // until one ends in which nobody says anything
	Session time.Duration `in:"1ms..720h"` // until a session ends that is not used
}

// Project is one table [project.NAME]: agents that may have conversations with each other.
type Project struct {
	Name string
	// Agents are ids, two at least. One that is no Agent's is that of a companion, whether
	// it has a file yet or not.
	Agents []string `is:"agent"`
}

// The types of agents.
const (
	TypeAI    = "ai"
	TypeHuman = "human"
)

// Agent is one table [agent.NAME]: an agent that connects from outside, or a human.
type Agent struct {
	Name  string   // its id
	Type  string   `of:"ai human"`         // TypeAI or TypeHuman
	Title string   `is:"title" key:"name"` // what it is called; the id unless the file says otherwise
	Start []string `is:"argument"`         // the command that starts it and its arguments; empty: nobody starts it
}

// checkAgents compares projects and agents with each other.
func (p *parse) checkAgents() {
	c := &p.config
	var names address.Set
	for i, a := range c.Agents {
		c.Agents[i].Title = cmp.Or(a.Title, a.Name)
		p.checkAgent(a, &names)
	}
	var all []string // in any project
	sure := true     // that these are all
	tables := make(map[string]bool, len(c.Agents))
	for _, a := range c.Agents {
		tables[a.Name] = true
	}
	for _, project := range c.Projects {
		at := dotted{sectionProject, project.Name}
		key := at.add("agents")
		if len(project.Agents) < 2 {
			p.complain(&fault{
				message: "must name two agents at least",
				hint:    "set " + key.String() + ` to ids, such as ["worker-a", "worker-b"]`,
			}, key, at, dotted{sectionProject})
		}
		sure = sure && !p.bad[key.String()]
		all = append(all, project.Agents...)
		for n, id := range project.Agents {
			if tables[id] {
				continue // it was looked at
			}
			if f := p.nameFault(id, "", &names); f != nil {
				p.report(p.item(key, n), key.String(), f)
			}
		}
	}
	if sure {
		p.checkIdle(all)
	}
}

// checkIdle tells of agents that are none of those in any project.
func (p *parse) checkIdle(all []string) {
	const few = 100 // whose names are compared with each other
	busy := make(map[string]bool, len(all))
	for _, id := range all {
		busy[id] = true
	}
	for _, a := range p.config.Agents {
		if busy[a.Name] {
			continue
		}
		f := &fault{message: "is in no project", hint: "add it to the agents of a [project.NAME]", severity: Warning}
		if near := spell.Near(a.Name, all[:min(len(all), few)]); near != "" {
			f.hint = "a project names " + form.Show(near)
		}
		p.complain(f, dotted{sectionAgent, a.Name})
	}
}

// checkAgent looks at one agent and adds its names to those of the others.
func (p *parse) checkAgent(a Agent, names *address.Set) {
	at := dotted{sectionAgent, a.Name}
	if f := p.nameFault(a.Name, a.Type, names); f != nil {
		p.complain(f, at)
	}
	if other, taken := names.Find(a.Title); taken && other != a.Name {
		p.complain(&fault{message: form.Show(a.Title) + " reads or looks like " + form.Show(other)}, at.add("name"))
	}
	names.Add(a.Title, a.Name)
	switch start := at.add("start"); {
	case len(a.Start) == 0:
	case a.Start[0] == "":
		p.complain(&fault{message: "begins with an empty text", hint: "the first is the program"}, start)
	case a.Type == TypeHuman:
		p.complain(&fault{message: "starts nobody, because " + at.add("type").String() + ` is "human"`, hint: "leave it out"}, start, at.add("type"))
	}
}

// nameFault adds an id to those of others. It says why that may not be, nil where it may or is done.
func (p *parse) nameFault(id, kind string, names *address.Set) *fault {
	other, added := names.Add(id, id)
	why := address.Reserved(id, abi.KindAgent)
	if kind == TypeHuman {
		why = address.Reserved(id, abi.KindHuman)
	}
	switch {
	case !added && other != id:
		return &fault{message: form.Show(id) + " reads or looks like " + form.Show(other), hint: "name each otherwise, or all the same"}
	case why != "":
		return &fault{message: why}
	}
	return nil
}

// item gives the place of an item of a list, from 0, wherever it was written.
func (p *parse) item(key dotted, n int) origin {
	if o := p.config.origins[key.String()]; o.env != "" {
		return o
	}
	return p.place(key, source.Value+1+n)
}

// checkResidents compares agents with the companions in the folder: those of a project that are
// neither, and those that are both. All it finds is worth a warning.
func (p *parse) checkResidents(ids []string) {
	c := &p.config
	var residents address.Set
	for _, id := range ids {
		residents.Add(id, id)
	}
	for _, a := range c.Agents {
		if id, taken := residents.Find(a.Name); taken {
			p.complain(&fault{
				message:  "is, reads or looks like " + form.Show(id) + ", which has a file in " + form.Show(c.Modules.Characters),
				hint:     "name it otherwise, or leave the table out where the companion is meant",
				severity: Warning,
			}, dotted{sectionAgent, a.Name})
		}
	}
	for _, project := range c.Projects {
		for _, id := range project.Agents {
			known := slices.Contains(ids, id) || slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.Name == id })
			if known {
				continue
			}
			p.complain(&fault{
				message:  form.Show(id) + " has no file in " + form.Show(c.Modules.Characters) + " and no [agent." + id + "]",
				hint:     form.Meant(spell.Near(id, ids)),
				severity: Warning,
			}, dotted{sectionProject, project.Name, "agents"})
		}
	}
}

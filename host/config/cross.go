package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config/form"
	"github.com/companiond/companiond/host/spell"
)

// cross holds the checks that compare keys. A key that already has an error is
// left out: the second message would only repeat the first.
func (p *parse) cross() {
	c := &p.config
	if !c.Door.Insecure && !c.Door.Loopback() && c.Identity.Tokens == "" {
		open, key := c.Door.Listen, dotted{"door", "listen"}
		if form.IsLoopback(open) {
			open, key = c.Door.Firehose, dotted{"door", "firehose"}
		}
		p.complain(&fault{
			message: form.Show(open) + " can be reached from other machines, and there are no tokens",
			hint:    "set identity.tokens, or listen on 127.0.0.1",
		}, key, dotted{"door", "insecure"}, dotted{"identity", "tokens"})
	}
	outside := func(key dotted, path, why string) {
		if isInside(path, c.Modules.Characters) {
			p.complain(&fault{
				message: form.Show(path) + " lies inside modules.characters: " + why,
				hint:    "put it beside " + form.Show(c.Modules.Characters),
			}, key, dotted{"modules", "characters"})
		}
	}
	outside(dotted{"modules", "cache"}, c.Modules.Cache, "compiled code would be taken for characters")
	outside(dotted{"journal", "path"}, c.Journal.Path, "every message would look like a changed character")
	if slices.ContainsFunc(c.Module, func(m Module) bool { return m.Program != "" }) {
		outside(dotted{"modules", "plugins"}, c.Modules.Plugins, "programs would be taken for characters")
	}
	if c.Wasm.Fuel > 0 && c.Wasm.Guard != "fuel" {
		p.complain(&fault{
			message:  fmt.Sprintf("does nothing, because wasm.guard is %q", c.Wasm.Guard),
			hint:     `set wasm.guard = "fuel"`,
			severity: Warning,
		}, dotted{"wasm", "fuel"}, dotted{"wasm", "guard"})
	}
	for i := range c.Models {
		p.checkModel(&c.Models[i])
	}
	for i, h := range c.Handlers {
		c.Handlers[i].Module = cmp.Or(h.Module, h.Name)
		for _, f := range form.CheckSecrets(h.Settings, h.Secrets) {
			p.complain(faultOf(f), dotted{"handler", h.Name, "secrets"})
		}
	}
	for i, m := range c.Module {
		if _, written := c.origins[dotted{sectionModule, m.Name, "grant"}.String()]; !written {
			c.Module[i].Grant = c.Modules.Grant
		}
		p.checkProgram(m)
		p.checkHosts(c.Module[i])
	}
	p.checkHomes()
	p.checkAgents()
	for _, m := range c.Companions {
		p.checkCost(dotted{"companion", m.Name}, m.CostDay, c.Models)
	}
	for i, r := range c.Rooms {
		p.checkCost(dotted{sectionRoom, r.Name}, r.CostDay, c.Models)
		c.Rooms[i].Seed = cmp.Or(r.Seed, r.Name)
		p.checkPool(r)
		p.checkCompanion(r)
		p.checkCompress(r)
		if len(r.Companions) > 1 && slices.Contains(r.Companions, Everyone) {
			p.complain(&fault{
				message:  `names companions beside "*", which already stands for all of them`,
				severity: Warning,
			}, dotted{sectionRoom, r.Name, "companions"})
		}
	}
}

// checkHosts tells of hosts that may not be asked all the same.
func (p *parse) checkHosts(m Module) {
	grant, hosts := dotted{sectionModule, m.Name, "grant"}, dotted{sectionModule, m.Name, "hosts"}
	if len(m.Hosts) > 0 && !slices.Contains(m.Grant, abi.HostHTTPFetch) {
		p.complain(&fault{
			message:  fmt.Sprintf("may not be asked: %s is not granted %q", m.Name, abi.HostHTTPFetch),
			hint:     fmt.Sprintf("add %q to %s", abi.HostHTTPFetch, grant),
			severity: Warning,
		}, hosts, grant, dotted{"modules", "grant"})
	}
}

// checkProgram refuses a program that is another module already.
func (p *parse) checkProgram(m Module) {
	key := dotted{sectionModule, m.Name, "program"}
	for _, other := range p.config.Module {
		if other.Name < m.Name && other.Program == m.Program && m.Program != "" {
			p.complain(&fault{
				message: form.Show(m.Program) + " is the program of module." + other.Name + " already",
				hint:    "copy or link the file under another name",
			}, key, dotted{sectionModule, other.Name, "program"})
		}
	}
}

// leastContext is what a prompt may come to at least. Less was taken until there was a budget that says
// what comes in: such a file goes on working.
const leastContext = 2000

// checkModel holds the checks of one model.
func (p *parse) checkModel(model *Model) {
	table := dotted{sectionModel, model.Name}
	if model.Context < leastContext {
		p.complain(&fault{
			message:  fmt.Sprintf("%d is too little for the rules and what was said, %d is used", model.Context, leastContext),
			hint:     fmt.Sprintf("write context = %d, or more", leastContext),
			severity: Warning,
		}, table.add("context"))
		model.Context = leastContext
	}
	if key := table.add("model"); model.Model == "" {
		p.complain(&fault{
			message: "must not be empty",
			hint:    "set " + key.String() + " to the model's name at its url, such as \"qwen3:8b\"",
		}, key, table, dotted{sectionModel})
	}
	if model.Embeddings != "" && model.API == "anthropic" {
		p.complain(&fault{
			message: "Anthropic's API makes no embeddings",
			hint:    "leave it out",
		}, table.add("embeddings"), table.add("api"))
	}
	if model.MaxTokens >= model.Context {
		p.complain(&fault{
			message:  fmt.Sprintf("is as much as context, %d tokens, or more: an answer is a small part of what it answers", model.Context),
			hint:     "companions say a few sentences at once; 1024 is usual",
			severity: Warning,
		}, table.add("max_tokens"), table.add("context"))
	}
	p.checkCost(table, model.CostDay, []Model{*model})
	if model.VoteWithLine && model.VotesTogether {
		p.complain(&fault{
			message:  "does nothing, because vote_with_line is true: each character writes its own line behind its own vote",
			hint:     "take one of the two out",
			severity: Warning,
		}, table.add("votes_together"), table.add("vote_with_line"))
	}
}

// checkCost tells of a bound on what is spent where nothing has a price.
func (p *parse) checkCost(table dotted, bound float64, models []Model) {
	if bound == 0 || len(models) == 0 || slices.ContainsFunc(models, func(m Model) bool { return m.PriceIn > 0 || m.PriceOut > 0 }) {
		return
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = (dotted{sectionModel, m.Name}).String()
	}
	p.complain(&fault{
		message:  "bounds nothing: " + strings.Join(names, ", ") + " has no prices, so that all calls cost 0",
		hint:     "set price_in and price_out of " + names[0] + ", or bound calls_day",
		severity: Warning,
	}, table.add("cost_day"))
}

// checkHomes tells of companions whose home is no room of the file, or one in which
// they do not live.
func (p *parse) checkHomes() {
	for _, companion := range p.config.Companions {
		home := dotted{sectionRoom, companion.Home}
		f := &fault{message: form.Show(companion.Home) + " is no room of this file", hint: "write [" + home.String() + "] too"}
		if i := slices.IndexFunc(p.config.Rooms, func(r Room) bool { return r.Name == companion.Home }); i >= 0 {
			if p.config.Rooms[i].lives(companion.Name) {
				continue
			}
			f = &fault{message: companion.Name + " does not live in " + form.Show(companion.Home), hint: "add it to " + home.add("companions").String()}
		}
		if companion.Home != "" {
			p.complain(f, dotted{"companion", companion.Name, "home"})
		}
	}
}

// checkCompanion tells of a room whose companion does not live there.
func (p *parse) checkCompanion(r Room) {
	at := dotted{sectionRoom, r.Name}
	if r.Companion != "" && !r.lives(r.Companion) {
		p.complain(&fault{
			message: r.Companion + " does not live in " + form.Show(r.Name), hint: "add it to " + at.add("companions").String(),
		}, at.add("companion"), at.add("companions"))
	}
}

// lives says whether a companion lives in the room.
func (r Room) lives(companion string) bool {
	return slices.Contains(r.Companions, Everyone) || slices.Contains(r.Companions, companion)
}

// complain reports a fault that lies between several keys, at the first of them
// that somebody wrote, unless one of them has an error of its own.
func (p *parse) complain(f *fault, keys ...dotted) {
	at := origin{file: p.file}
	for _, key := range slices.Backward(keys) {
		if p.bad[key.String()] {
			return
		}
		if o, written := p.config.origins[key.String()]; written {
			at = o
		}
	}
	p.report(at, keys[0].String(), f)
}

// ProblemAt gives a problem that is found elsewhere than in the file, such as with a file that it names. Its place is
// that of the first of the keys that somebody wrote, and its key the first of all; a key is its tables and its name.
func (c Config) ProblemAt(s Severity, message, hint string, keys ...[]string) Problem {
	p := newParse("")
	p.config = c
	all := make([]dotted, len(keys))
	for i, key := range keys {
		all[i] = key
	}
	p.complain(&fault{message: message, hint: hint, severity: s}, all...)
	return p.problems[0]
}

// CheckFolder compares the configuration with the folder of characters: with
// the ids there are files for, or with why it cannot be read. All it finds is
// worth a warning only, for files may come later.
func (c Config) CheckFolder(ids []string, unreadable string) []Problem {
	p := newParse("")
	p.config = c
	if unreadable != "" { // then no id is there, and to say so of each adds nothing
		p.complain(&fault{
			message:  form.Show(c.Modules.Characters) + " " + unreadable,
			hint:     "companiond new character NAME makes it",
			severity: Warning,
		}, dotted{"modules", "characters"})
		return p.problems
	}
	check := func(id string, key dotted) {
		if id != Everyone && !slices.Contains(ids, id) {
			f := &fault{message: form.Show(id) + " has no file in " + form.Show(c.Modules.Characters), hint: form.Meant(spell.Near(id, ids)), severity: Warning}
			p.complain(f, key)
		}
	}
	for _, room := range c.Rooms {
		for _, id := range room.Companions {
			check(id, dotted{sectionRoom, room.Name, "companions"})
		}
		if room.Companion != "" && !slices.Contains(room.Companions, room.Companion) { // else it was checked
			check(room.Companion, dotted{sectionRoom, room.Name, "companion"})
		}
		for key, id := range map[string]string{"compress_by": room.CompressBy, "compress_verify": room.CompressVerify} {
			if !slices.Contains(minds, id) {
				check(id, dotted{sectionRoom, room.Name, key})
			}
		}
	}
	for _, m := range c.Companions {
		check(m.Name, dotted{"companion", m.Name})
	}
	p.checkResidents(ids)
	for _, h := range c.Handlers {
		for _, id := range h.Companions {
			check(id, dotted{"handler", h.Name, "companions"})
		}
	}
	for _, m := range c.Module {
		if m.Program == "" && !slices.ContainsFunc(c.Handlers, func(h Handler) bool { return h.Module == m.Name }) {
			check(m.Name, dotted{sectionModule, m.Name, "grant"})
		}
	}
	sortProblems(p.problems)
	return p.problems
}

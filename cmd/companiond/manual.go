package main

import (
	"context"
	"flag"
	"io"

	"github.com/companiond/companiond/cmd/companiond/built"
	"github.com/companiond/companiond/cmd/companiond/manual"
)

func manVerb(t *term, _ context.Context, args []string) error {
	return t.manual().Man(t.flags("man"), args)
}

func completionVerb(t *term, _ context.Context, args []string) error {
	return t.manual().Completion(t.flags("completion"), args)
}

func (t *term) manual() manual.Desk {
	return manual.Desk{Out: t.out, Version: built.Version().Version, Epoch: t.getenv("SOURCE_DATE_EPOCH"), Verbs: table, Parse: parse, Usage: usage}
}

// table gives the verbs with their flags, as they are wherever nothing is configured.
func table() (all []manual.Verb) {
	for _, v := range verbs() {
		all = append(all, manual.Of(v.name, v.args, v.short, func(args ...string) *flag.FlagSet {
			t := &term{out: io.Discard, err: io.Discard, env: []string{envURL + "=http://127.0.0.1:3000"}}
			t.do(context.Background(), append(args, "-h"))
			return t.set
		}))
	}
	return all
}

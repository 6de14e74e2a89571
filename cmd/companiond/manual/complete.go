package manual

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// place is somewhere in a line that is typed: behind a verb, or behind what a verb does.
type place struct {
	verb, does string
	words      []Verb // what may be done there
	flags      []Flag
	argument   string // as [wants] has it
}

// places gives all of them, those behind what verbs do before those behind the verbs.
func places(verbs []Verb) (all []place) {
	for _, v := range verbs {
		for _, d := range v.Does {
			all = append(all, place{verb: v.Name, does: d.Name, flags: d.Flags})
		}
		all = append(all, place{verb: v.Name, words: v.Does, flags: v.Flags, argument: v.argument()})
	}
	return all
}

// dashed gives flags as they are typed, those whose value is as asked: "files", "folders", "" for what only people know.
func (p place) dashed(which func(Flag) bool) string {
	var all []string
	for _, f := range p.flags {
		if which(f) {
			all = append(all, "-"+f.Name)
		}
	}
	return strings.Join(all, " ")
}

func valued(what string) func(Flag) bool {
	return func(f Flag) bool { return f.Value != "" && wants(f.Value) == what }
}

func names(verbs []Verb) string {
	var all []string
	for _, v := range verbs {
		all = append(all, v.Name)
	}
	return strings.Join(all, " ")
}

// brief is what of a usage has room in a line, without signs that mean something to shells.
func brief(s string) string {
	if i := strings.IndexAny(s, ";,:.("); i > 20 {
		s = s[:i]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("'\"[]:\\`$", r) {
			return -1
		}
		return r
	}, s))
}

// bash has no words for what it offers; what stands behind a flag is offered only where it is a file.
func bash(b *bytes.Buffer, verbs []Verb) {
	paths := map[string]string{"files": "-f", "folders": "-d"}
	fmt.Fprintf(b, `# bash completion for companiond, made by companiond completion bash
_companiond() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= flags= paths=
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '%s' -- "$cur"))
    return
  fi
  case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
`, names(verbs))
	for _, p := range places(verbs) {
		pattern := "'" + p.verb + " " + p.does + "'"
		if p.does == "" {
			pattern = "'" + p.verb + " '*"
		}
		fmt.Fprintf(b, "  %s)\n    words='%s' flags='%s' paths='%s'\n", pattern, names(p.words), p.dashed(func(Flag) bool { return true }), paths[p.argument])
		var cases []string
		for what, do := range map[string]string{"files": "words= flags= paths=-f", "folders": "words= flags= paths=-d", "": "return"} {
			if flags := p.dashed(valued(what)); flags != "" {
				cases = append(cases, strings.ReplaceAll(flags, " ", "|")+") "+do+" ;;")
			}
		}
		slices.Sort(cases)
		if len(cases) > 0 {
			fmt.Fprintf(b, "    case $prev in %s esac\n", strings.Join(cases, " "))
		}
		b.WriteString("    ;;\n")
	}
	b.WriteString(`  *) return ;;
  esac
  case $cur in
  -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
  *)
    [ "$COMP_CWORD" = 2 ] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
    if [ -n "$paths" ]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen $paths -- "$cur"))
    fi
    ;;
  esac
}
complete -F _companiond companiond
`)
}

func zsh(b *bytes.Buffer, verbs []Verb) {
	files := map[string]string{"files": "_files", "folders": "_files -/", "": " "}
	described := func(verbs []Verb) {
		for _, v := range verbs {
			word := v.Name
			if v.Short != "" {
				word += ":" + brief(v.Short)
			}
			fmt.Fprintf(b, " '%s'", word)
		}
	}
	b.WriteString("#compdef companiond\n# zsh completion for companiond, made by companiond completion zsh\n_companiond() {\n  local -a verbs\n  if (( CURRENT == 2 )); then\n    verbs=(")
	described(verbs)
	b.WriteString(" )\n    _describe verb verbs\n    return\n  fi\n  case \"$words[2] $words[3]\" in\n")
	for _, p := range places(verbs) {
		pattern, skip := "'"+p.verb+" "+p.does+"'", 2
		if p.does == "" {
			pattern, skip = "'"+p.verb+" '*", 1
		}
		fmt.Fprintf(b, "  %s)\n", pattern)
		if len(p.words) > 0 {
			b.WriteString("    if (( CURRENT == 3 )) && [[ $words[3] != -* ]]; then\n      verbs=(")
			described(p.words)
			b.WriteString(" )\n      _describe argument verbs\n      return\n    fi\n")
		}
		fmt.Fprintf(b, "    shift %d words; (( CURRENT -= %[1]d ))\n    _arguments", skip)
		for _, f := range p.flags {
			fmt.Fprintf(b, " \\\n      '*-%s[%s]", f.Name, brief(f.Usage))
			if f.Value != "" {
				fmt.Fprintf(b, ":%s:%s", brief(f.Value), files[wants(f.Value)])
			}
			b.WriteString("'")
		}
		fmt.Fprintf(b, " \\\n      '*:argument:%s'\n    ;;\n", files[p.argument])
	}
	b.WriteString("  esac\n}\n_companiond \"$@\"\n")
}

func fish(b *bytes.Buffer, verbs []Verb) {
	b.WriteString(`# fish completion for companiond, made by companiond completion fish
function __companiond_at
    set -l typed (commandline -opc)
    test "$typed[2]" = "$argv[1]"; or return 1
    test -z "$argv[2]"; or test "$typed[3]" = "$argv[2]"
end
complete -c companiond -f
`)
	for _, v := range verbs {
		fmt.Fprintf(b, "complete -c companiond -n 'test (count (commandline -opc)) = 1' -a %s -d '%s'\n", v.Name, brief(v.Short))
	}
	more := map[string]string{"files": " -r -F", "folders": " -x -a '(__fish_complete_directories)'", "": " -x"}
	for _, p := range places(verbs) {
		at := strings.TrimSpace("__companiond_at " + p.verb + " " + p.does)
		if len(p.words) > 0 {
			fmt.Fprintf(b, "complete -c companiond -n '%s; and test (count (commandline -opc)) = 2' -a '%s'\n", at, names(p.words))
		}
		if p.argument != "" {
			fmt.Fprintf(b, "complete -c companiond -n '%s' -F\n", at)
		}
		for _, f := range p.flags {
			style, value := "-o", ""
			if len(f.Name) == 1 {
				style = "-s"
			}
			if f.Value != "" {
				value = more[wants(f.Value)]
			}
			fmt.Fprintf(b, "complete -c companiond -n '%s' %s %s%s -d '%s'\n", at, style, f.Name, value, brief(f.Usage))
		}
	}
}

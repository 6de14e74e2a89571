// Package create is the verb that makes folders for makers: of a new character, or of a new handler.
//
// It builds nothing, and never touches a folder that is already there.
package create

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/companiond/companiond/sdk/scaffold"
)

// Desk is what the verb has to do with the outside.
type Desk struct {
	Out   io.Writer
	Parse func(fs *flag.FlagSet, args []string, most int) (rest []string, err error) // flags wherever they stand
	Usage func(format string, args ...any) error                                     // an error of how it is called
	// Script says that this build runs JavaScript, and characters are written in it where nothing else is said.
	Script bool
}

// usage is how it is called.
const usage = "companiond new character NAME [-lang %s], or companiond new handler NAME [-kind %s] [-lang ts|go], both with -program for a program"

// New makes a folder.
func (d Desk) New(fs *flag.FlagSet, args []string) error {
	kinds, languages := texts(scaffold.Handlers()), texts(scaffold.Languages())
	dir := fs.String("dir", "", "`folder` to write it into; characters for a character, and plugins for a handler, where none is given")
	kind := fs.String("kind", "", "what a handler does: act carries out actions, perception and line look at what companions are to perceive and to say, source has them perceive something; act where none is given")
	program := fs.Bool("program", false, "a program of its own and not WebAssembly: it may open sockets and files")
	lang := fs.String("lang", "", "what it is written in: ts, TypeScript, which nothing builds, or go, and a character c, rust, or as, AssemblyScript, too; where none is given a handler in go, and a character in ts, if this companiond runs it, and else go")
	house := fs.String("source", "", "`folder` of companiond's source, which a program is built with; looked for here and above where none is given")
	rest, err := d.Parse(fs, args, 2)
	if err != nil {
		return err
	}
	if len(rest) != 2 {
		return d.Usage(usage, strings.Join(languages, "|"), strings.Join(kinds, "|"))
	}
	f := scaffold.Folder{Name: rest[1], Kind: scaffold.Character, Program: *program, House: *house, Lang: scaffold.Lang(*lang)}
	switch {
	case *lang != "" && !slices.Contains(languages, *lang):
		return d.Usage("-lang %q is none, have: %s", *lang, strings.Join(languages, ", "))
	case *program && *lang != "" && f.Lang != scaffold.Go:
		return d.Usage("-lang %s is of none that is a program: leave out -program, or write it in go", *lang)
	case rest[0] == "handler" && *lang != "" && f.Lang != scaffold.Go && f.Lang != scaffold.TypeScript:
		return d.Usage("-lang %s is of a character; a handler is written in ts or go: companiond new handler %s -lang ts", *lang, f.Name)
	case rest[0] == "character" && *kind != "":
		return d.Usage("-kind is of a handler: companiond new handler %s -kind %s", f.Name, *kind)
	case rest[0] == "handler" && *kind != "" && !slices.Contains(kinds, *kind):
		return d.Usage("-kind %q is none, have: %s", *kind, strings.Join(kinds, ", "))
	case rest[0] == "handler":
		f.Kind = scaffold.Act
		if *kind != "" {
			f.Kind = scaffold.Kind(*kind)
		}
	case rest[0] != "character":
		return d.Usage("%q is nothing that can be made; did you mean companiond new %s %s? (companiond new character NAME, companiond new handler NAME)", rest[0], meant(rest[0]), f.Name)
	}
	if f.Lang == "" && f.Kind == scaffold.Character && !f.Program && d.Script {
		f.Lang = scaffold.TypeScript
	}
	return d.write(f, *dir)
}

// texts gives words as texts.
func texts[T ~string](words []T) (all []string) {
	for _, w := range words {
		all = append(all, string(w))
	}
	return all
}

// meant guesses which of the two is meant.
func meant(word string) string {
	if strings.HasPrefix(word, "h") || strings.HasPrefix(word, "p") { // handler, plugin
		return "handler"
	}
	return "character"
}

// write writes a folder and says what is to be done with it.
func (d Desk) write(f scaffold.Folder, dir string) error {
	character := f.Kind == scaffold.Character
	if dir == "" {
		dir = "plugins"
		if character {
			dir = "characters"
		}
	}
	if f.Program && f.House == "" {
		if f.House = scaffold.FindHouse(dir, "."); f.House == "" {
			return d.Usage("a program is built with companiond's source, which lies neither here nor above: say where it is with -source FOLDER")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := f.Write(dir)
	if err != nil {
		return err
	}
	for _, one := range files {
		fmt.Fprintln(d.Out, filepath.Join(dir, filepath.FromSlash(one)))
	}
	if f.Lang == scaffold.TypeScript {
		d.saved(f, dir)
		return nil
	}
	fmt.Fprintf(d.Out, "\nBuild it:\n\n  cd %s\n  %s\n", filepath.Join(dir, f.Name), f.Build())
	if toml := f.TOML(); toml != "" {
		fmt.Fprintf(d.Out, "\nPut %s into the folder that modules.plugins names, state/plugins where that is not set, and write into companiond.toml:\n\n%s", f.File(), indent(toml))
	}
	return nil
}

// saved says what is to be done with a folder that is not built.
func (d Desk) saved(f scaffold.Folder, dir string) {
	if f.Kind == scaffold.Character {
		fmt.Fprintf(d.Out, "\nNothing is to be built: where %s is the daemon's folder of characters, %s is in the room by now, and another with each save of main.ts.\n", dir, f.Name)
	} else {
		fmt.Fprintf(d.Out, "\nNothing is to be built: move %s into the folder that modules.plugins names, state/plugins where that is not set, and write into companiond.toml:\n\n%s", filepath.Join(dir, f.Name), indent(f.TOML()))
	}
	if !d.Script {
		fmt.Fprintln(d.Out, "This companiond was built without JavaScript: make build builds it with it, where npm is installed.")
	}
}

// indent moves lines in.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

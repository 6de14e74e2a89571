package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/companiond/companiond/host/card"
	"github.com/companiond/companiond/host/card/tree"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/module"
	"github.com/companiond/companiond/host/module/folder"
	"github.com/companiond/companiond/host/module/folder/whole"
)

// voice is what a handler calls the part of its schema, in $defs, that a card's voice is held to.
const voice = "voice"

// voices holds the voice of each card of the handler's companions to what the handler says of one, and gives what is wrong, a line
// each, with file and line. A card that cannot be read is told of elsewhere.
func voices(c config.Config, h config.Handler, settings json.RawMessage, characters []module.Engine) (mistakes []string) {
	form, ok := voiceOf(settings)
	if !ok {
		return nil
	}
	ids, _ := folder.IDs(c.Modules.Characters, characters...) // Folders tells what cannot be read
	for _, id := range ids {
		if !h.For(id) {
			continue
		}
		for _, file := range []string{id + ".json", filepath.Join(id, id+".json")} {
			data, err := whole.Read(filepath.Join(c.Modules.Characters, file), c.Wasm.MaxFile)
			if err != nil {
				continue
			}
			var broken tree.Faults
			part := tree.Read(data, file, &broken).Get(voice)
			if len(broken) > 0 || part == nil || part.Kind != tree.Object {
				continue
			}
			for _, f := range form.Part(part, voice) {
				line := 1 + bytes.Count(data[:f.At], []byte("\n"))
				mistakes = append(mistakes, fmt.Sprintf("%s:%d: %s: %s (handler %s)", filepath.ToSlash(file), line, f.Path, f.Text, h.Name))
			}
		}
	}
	return mistakes
}

// voiceOf gives what a handler's schema says of a voice; false where it says nothing.
func voiceOf(settings json.RawMessage) (form card.Action, ok bool) {
	var schemas struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	own := map[string]json.RawMessage{}
	if json.Unmarshal(settings, &schemas) != nil || json.Unmarshal(schemas.Defs[voice], &own) != nil || own == nil || own["$ref"] != nil {
		return form, false
	}
	own["$defs"], _ = json.Marshal(schemas.Defs) // it was JSON
	schema, err := json.Marshal(own)
	if err != nil {
		return form, false
	}
	form, err = card.NewAction(voice, "", schema)
	return form, err == nil
}

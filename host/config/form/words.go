package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/abi/plain"
	"github.com/companiond/companiond/host/address"
)

// Credential begins what names one of systemd's credentials instead of a path.
const Credential = "credential:"

// Path takes any path; the disk is not asked.
func Path(s string) (string, *Fault) {
	switch {
	case s == "":
		return "", &Fault{Message: "must not be empty"}
	case strings.ContainsRune(s, 0):
		return "", &Fault{Message: Show(s) + " is not a path"}
	}
	return s, nil
}

// Program takes the name of a file in a folder of programs.
func Program(s string) (string, *Fault) {
	switch {
	case s == "":
		return "", &Fault{Message: "must not be empty"}
	case strings.ContainsAny(s, "/\\\x00"), strings.HasPrefix(s, "."):
		return "", &Fault{Message: Show(s) + " is not the name of a file", Hint: "write its name in modules.plugins, without the folder"}
	case strings.HasSuffix(s, "~"), strings.HasSuffix(s, ".tmp"):
		return "", &Fault{Message: Show(s) + " is a name that tools leave behind", Hint: "rename the file"}
	}
	return s, nil
}

// SHA256 takes the hash of a file in hex.
func SHA256(s string) (string, *Fault) {
	if s = strings.ToLower(s); len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", &Fault{Message: Show(s) + " is not 64 hex digits", Hint: "write what sha256sum prints"}
	}
	return s, nil
}

// Or takes one text more.
func Or(also string, form Form) Form {
	return func(s string) (string, *Fault) {
		if s == also {
			return s, nil
		}
		return form(s)
	}
}

// Secret takes the path of a file, one of systemd's credentials such as
// example, or nothing.
func Secret(example string) Form {
	return func(s string) (string, *Fault) {
		name, credential := strings.CutPrefix(s, Credential)
		switch {
		case s == "":
			return "", nil
		case credential && (name == "" || strings.ContainsAny(name, "/\x00")):
			return "", &Fault{Message: Show(s) + " names no credential", Hint: "try " + Show(Credential+example)}
		}
		return Path(s)
	}
}

// CheckSecrets reports what is wrong with secrets of settings, both objects of JSON: each secret is the path of a file, or
// one of systemd's credentials, in place of a setting that is not written down.
func CheckSecrets(settings, secrets []byte) (faults []*Fault) {
	var written, all map[string]any
	_ = json.Unmarshal(settings, &written) // both were read
	_ = json.Unmarshal(secrets, &all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, isText := all[name].(string)
		_, fault := Secret(name)(from)
		switch {
		case !isText || from == "":
			fault = &Fault{Message: name + " is not the path of a file", Hint: "try " + Show(Credential+name)}
		case fault != nil:
			fault = &Fault{Message: name + ": " + fault.Message, Hint: fault.Hint}
		case written[name] != nil:
			fault = &Fault{Message: name + " is written among the settings, too", Hint: "leave it out there"}
		}
		if fault != nil {
			faults = append(faults, fault)
		}
	}
	return faults
}

// Pattern takes what titles are compared with: a title, in which * stands for anything.
func Pattern(s string) (string, *Fault) {
	if _, err := path.Match(s, ""); err != nil || s == "" || strings.ContainsFunc(s, unicode.IsSpace) {
		return "", &Fault{Message: Show(s) + " is no pattern", Hint: `write a title, or a part of one and *, as "chat*"`}
	}
	return s, nil
}

// Name takes the name of a room or a companion, or also.
func Name(also string) Form {
	return func(s string) (string, *Fault) {
		if err := abi.CheckName("name", s); err != nil && s != also {
			return "", &Fault{Message: NameFault(s, err)}
		}
		return s, nil
	}
}

// Agent takes the id of an agent, which two scripts in a word do not make look like
// another.
func Agent(s string) (string, *Fault) {
	if err := address.CheckName("name", s); err != nil {
		return "", &Fault{Message: NameFault(s, err)}
	}
	return s, nil
}

// Title takes what somebody is called: one line, or nothing.
func Title(s string) (string, *Fault) {
	const most = 100
	switch n := utf8.RuneCountInString(s); {
	case n > most:
		return "", &Fault{Message: fmt.Sprintf("%d characters, at most %d", n, most)}
	case strings.TrimSpace(s) != s:
		return "", &Fault{Message: Show(s) + " has spaces around it", Hint: "leave them out"}
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return "", &Fault{Message: fmt.Sprintf("U+%04X does not show, or is no space of its own", r), Hint: "leave it out"}
		}
	}
	return s, nil
}

// secretLike is what a token of this daemon, and many a vendor's key, looks like.
var secretLike = regexp.MustCompile(`(cmp_|cms_|sk-)[A-Za-z0-9_-]{16}`)

// Argument takes a word of a command. One that holds a token or a key is refused unseen:
// everybody on the machine sees the arguments of a program.
func Argument(s string) (string, *Fault) {
	const most = 4096
	switch {
	case strings.ContainsRune(s, 0):
		return "", &Fault{Message: Show(s) + " has a byte 0 in it, which no argument may have"}
	case len(s) > most:
		return "", &Fault{Message: fmt.Sprintf("%d bytes, at most %d", len(s), most)}
	case secretLike.MatchString(s):
		return "", &Fault{Message: "looks like a token or a key", Hint: "everybody on the machine sees arguments: let the program read it from a file"}
	}
	return s, nil
}

// Key takes what Secret does. A key that was written here in place of
// its file is refused unseen, for the value is shown and logged.
func Key(s string) (string, *Fault) {
	const most = 31 // letters of a file's name that has no dot; no vendor's key is so short
	isPath := strings.ContainsAny(s, `/\.`) || strings.HasPrefix(s, Credential)
	if !isPath && (strings.HasPrefix(s, "sk-") || len(s) > most) {
		return "", &Fault{Message: "looks like the key itself", Hint: "write it into a file, and the file's path here"}
	}
	return Secret("key")(s)
}

// Grant takes one of the host ops that are not granted to everybody.
func Grant(s string) (string, *Fault) {
	known := abi.GrantedOnly()
	switch {
	case slices.Contains(known, s):
		return s, nil
	case slices.Contains(abi.AlwaysGranted(), s):
		return "", &Fault{Message: Show(s) + " is always granted", Hint: "leave it out"}
	}
	return "", Unknown(s, known)
}

// Lacks are what [Without] takes.
func Lacks() []string {
	return []string{"tools", "tool_choice", "tools_while_thinking", "temperature", "effort", "stream_options", "max_tokens", "cache_key", "json_schema", "json_object"}
}

// Without takes one of what a language model may lack.
func Without(s string) (string, *Fault) {
	if !slices.Contains(Lacks(), s) {
		return "", Unknown(s, Lacks())
	}
	return s, nil
}

// Short takes any text of a bearable length.
func Short(s string) (string, *Fault) {
	const most = 256
	if len(s) > most {
		return "", &Fault{Message: fmt.Sprintf("%d bytes, at most %d", len(s), most)}
	}
	return s, nil
}

// Policy takes what must stay of a talk, and what is noise, in words.
func Policy(s string) (string, *Fault) {
	const most = 4000
	switch n := utf8.RuneCountInString(s); {
	case n > most:
		return "", &Fault{Message: fmt.Sprintf("%d characters, at most %d", n, most)}
	case s != "" && strings.TrimSpace(s) == "":
		return "", &Fault{Message: "has spaces alone", Hint: "say what must stay, or leave it out"}
	case s != "":
		if err := plain.Check("policy", s, most*utf8.UTFMax); err != nil {
			return "", &Fault{Message: abi.AsError(err).Reason()}
		}
	}
	return s, nil
}

// NameFault words abi.CheckName's refusal of name; the key stands before it.
func NameFault(name string, err error) string {
	why := abi.AsError(err).Reason()
	if strings.HasPrefix(why, Show(name)) {
		return why
	}
	return Show(name) + " is not a name: " + why
}

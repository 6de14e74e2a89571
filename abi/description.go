package abi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ops lists the ops of ABI 1.0, those included that this daemon does not
// ask yet.
func Ops() []string {
	return []string{
		OpDescribe, OpVote, OpSpeak, OpPerceive, OpResult, OpEvent,
		OpAct, OpShow, OpSense, OpLine, OpTimer, OpRun, OpCompress, OpVerify, "save", "restore",
	}
}

// ReadDescription takes what a module answered to describe, and refuses what
// breaks a rule of Description. Whether it is granted what it needs is another
// question, which is the host's.
func ReadDescription(data json.RawMessage) (Description, error) {
	var d Description
	if err := json.Unmarshal(data, &d); err != nil {
		return d, Errorf(CodeInvalid, "describe: the answer is no description: %v", err)
	}
	minor, err := minorOf(d.ABI)
	if err != nil {
		return d, err
	}
	if err := checkLabel("describe.name", d.Name); err != nil {
		return d, err
	}
	for _, alias := range d.Aliases {
		if err := checkLabel("describe.aliases", alias); err != nil {
			return d, err
		}
	}
	switch d.Kind {
	case "", Character, Handler, PerceptionHandler, ActionHandler, LineHandler:
	default:
		return d, Errorf(CodeInvalid, "describe.kind: %q is no kind of module; known are: %s, %s, %s, %s, %s",
			d.Kind, Character, Handler, PerceptionHandler, ActionHandler, LineHandler)
	}
	if err := d.checkHandling(); err != nil {
		return d, err
	}
	for _, op := range d.Ops {
		// A module for a later minor version may answer ops we do not ask.
		if minor == 0 && !slices.Contains(Ops(), op) {
			return d, Field("describe.ops", CodeInvalid, "unknown op %q; known are: %s", op, strings.Join(Ops(), ", "))
		}
	}
	return d, nil
}

// minorOf gives the minor version of "1" or "1.minor".
func minorOf(version string) (int, error) {
	major, rest, dotted := strings.Cut(version, ".")
	minor := 0
	var err error
	if dotted {
		minor, err = strconv.Atoi(rest)
	}
	if major != strconv.Itoa(Version) || err != nil || minor < 0 || strings.HasPrefix(rest, "+") {
		return 0, Field("describe.abi", CodeInvalid, `%q is not supported; it must be "1" or "1.minor"`, version)
	}
	return minor, nil
}

// checkLabel refuses what cannot stand as a name among people: nothing, more
// than MaxName bytes, or control characters.
func checkLabel(field, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return Field(field, CodeInvalid, "must not be empty")
	case len(s) > MaxName:
		return Field(field, CodeInvalid, "%d bytes, at most %d", len(s), MaxName)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Field(field, CodeInvalid, "%q has characters that cannot be printed", s)
	}
	return nil
}

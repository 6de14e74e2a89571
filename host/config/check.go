package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

var listenForm = regexp.MustCompile(`^(.*):([0-9]+)$`)

// cleanListen takes host:port; the host may be empty and the port 0.
func cleanListen(s string) (string, *fault) {
	m := listenForm.FindStringSubmatch(s)
	if m == nil || m[1] != "" && !isHost(m[1]) {
		return "", &fault{message: show(s) + " is not host:port", hint: `try "127.0.0.1:3000"`}
	}
	if _, err := strconv.ParseUint(m[2], 10, 16); err != nil {
		return "", &fault{message: "port " + m[2] + " is outside 0..65535"}
	}
	return s, nil
}

// hostIn finds the host in what may have a scheme, a port and a path.
var hostIn = regexp.MustCompile(`^(?:.*?://)?([^/]*?)(?::[^:\]/]*)?(?:/.*)?$`)

// cleanHost takes one name or address without a port, as in a Host header.
func cleanHost(s string) (string, *fault) {
	if isHost(s) {
		return strings.ToLower(s), nil
	}
	f := &fault{message: show(s) + " is not a host name"}
	if bare := hostIn.ReplaceAllString(s, "$1"); isHost(bare) {
		f.hint = "try " + show(bare)
	}
	return "", f
}

// originForm is a scheme, a host and perhaps a port.
var originForm = regexp.MustCompile(`^([a-z][a-z0-9+.-]*)://(\[.*\]|[^:]*)(?::([1-9][0-9]*))?$`)

// cleanOrigin takes scheme://host[:port] and gives it as a browser writes it:
// lower case, without the scheme's own port.
func cleanOrigin(s string) (string, *fault) {
	lower := strings.ToLower(s)
	if m := originForm.FindStringSubmatch(lower); m != nil && isHost(m[2]) {
		scheme, host, port := m[1], m[2], m[3]
		if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
			return scheme + "://" + host, nil
		}
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return lower, nil
		}
	}
	guess := "https://" + lower
	if scheme, rest, ok := strings.Cut(lower, "://"); ok {
		authority, _, _ := strings.Cut(rest, "/")
		guess = scheme + "://" + authority
	}
	f := &fault{message: show(s) + " is not an origin (scheme://host[:port])"}
	if guess != lower {
		if plain, bad := cleanOrigin(guess); bad == nil {
			f.hint = "try " + show(plain)
		}
	}
	return "", f
}

// cleanPath takes any path; the disk is not asked.
func cleanPath(s string) (string, *fault) {
	switch {
	case s == "":
		return "", &fault{message: "must not be empty"}
	case strings.ContainsRune(s, 0):
		return "", &fault{message: show(s) + " is not a path"}
	}
	return s, nil
}

// cleanSecret takes the path of a file, one of systemd's credentials such as
// example, or nothing.
func cleanSecret(example string) clean {
	return func(s string) (string, *fault) {
		name, credential := strings.CutPrefix(s, Credential)
		switch {
		case s == "":
			return "", nil
		case credential && (name == "" || strings.ContainsAny(name, "/\x00")):
			return "", &fault{message: show(s) + " names no credential", hint: "try " + show(Credential+example)}
		}
		return cleanPath(s)
	}
}

// cleanName takes the name of a room or a companion, or also.
func cleanName(also string) clean {
	return func(s string) (string, *fault) {
		if err := abi.CheckName("name", s); err != nil && s != also {
			return "", &fault{message: nameFault(s, err)}
		}
		return s, nil
	}
}

// cleanURL takes the base of an API, an http or https address, or nothing. It
// does not repeat in a fault what may hold a password or a key.
func cleanURL(s string) (string, *fault) {
	if s == "" {
		return "", nil
	}
	const elsewhere = "the key goes into a file, and the file's path into key"
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(s, " "):
		return "", &fault{message: "is not an http:// or https:// address", hint: `try "http://127.0.0.1:11434/v1"`}
	case u.User != nil:
		return "", &fault{message: "must not hold a user or a password", hint: elsewhere}
	case strings.ContainsAny(s, "?#"):
		return "", &fault{message: "must end with its path, before the ? or #", hint: elsewhere}
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 64); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", &fault{message: "port " + u.Port() + " is outside 1..65535"}
	}
	for _, end := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), end) {
			return "", &fault{message: "must be the base of the API", hint: "leave out " + end}
		}
	}
	return strings.TrimRight(s, "/"), nil
}

// cleanKey takes what cleanSecret does. A key that was written here in place of
// its file is refused unseen, for the value is shown and logged.
func cleanKey(s string) (string, *fault) {
	const most = 31 // letters of a file's name that has no dot; no vendor's key is so short
	isPath := strings.ContainsAny(s, `/\.`) || strings.HasPrefix(s, Credential)
	if !isPath && (strings.HasPrefix(s, "sk-") || len(s) > most) {
		return "", &fault{message: "looks like the key itself", hint: "write it into a file, and the file's path here"}
	}
	return cleanSecret("key")(s)
}

// cleanGrant takes one of the host ops that are not granted to everybody.
func cleanGrant(s string) (string, *fault) {
	known := abi.GrantedOnly()
	switch {
	case slices.Contains(known, s):
		return s, nil
	case slices.Contains(abi.AlwaysGranted(), s):
		return "", &fault{message: show(s) + " is always granted", hint: "leave it out"}
	}
	return "", notAmong(s, known)
}

// lacks are the values of model.NAME.without.
var lacks = []string{"tools", "tool_choice", "tools_while_thinking", "temperature", "effort", "stream_options", "max_tokens", "json_schema", "json_object"}

func cleanWithout(s string) (string, *fault) {
	if !slices.Contains(lacks, s) {
		return "", notAmong(s, lacks)
	}
	return s, nil
}

// cleanShort takes any text of a bearable length.
func cleanShort(s string) (string, *fault) {
	const most = 256
	if len(s) > most {
		return "", &fault{message: fmt.Sprintf("%d bytes, at most %d", len(s), most)}
	}
	return s, nil
}

// nameFault words abi.CheckName's refusal of name; the key stands before it.
func nameFault(name string, err error) string {
	why := abi.AsError(err).Reason()
	if strings.HasPrefix(why, show(name)) {
		return why
	}
	return show(name) + " is not a name: " + why
}

var hostName = regexp.MustCompile(`^(\w([\w-]*\w)?\.)*\w([\w-]*\w)?$`)

// isHost accepts a name of letters, digits, '-' and '.', an IPv4 address, or an
// IPv6 address in brackets.
func isHost(s string) bool {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return strings.HasSuffix(inner, "]") && err == nil && addr.Is6()
	}
	return len(s) <= 253 && hostName.MatchString(s)
}

// Loopback says whether only this machine can reach the door. A name other than
// localhost is not looked up, so it counts as reachable.
func (d Door) Loopback() bool {
	host := listenForm.ReplaceAllString(d.Listen, "$1")
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// isInside reports whether p is dir or lies under it, as far as the two paths
// themselves tell.
func isInside(p, dir string) bool {
	p, dir = path.Clean(p), path.Clean(dir)
	if path.IsAbs(p) != path.IsAbs(dir) {
		return false
	}
	if dir == "." {
		return p != ".." && !strings.HasPrefix(p, "../")
	}
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

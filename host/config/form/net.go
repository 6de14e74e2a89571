package form

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var addressForm = regexp.MustCompile(`^(.*):([0-9]+)$`)

// Address takes host:port; the host may be empty and the port 0.
func Address(s string) (string, *Fault) {
	m := addressForm.FindStringSubmatch(s)
	if m == nil || m[1] != "" && !isHost(m[1]) {
		return "", &Fault{Message: Show(s) + " is not host:port", Hint: `try "127.0.0.1:3000"`}
	}
	if _, err := strconv.ParseUint(m[2], 10, 16); err != nil {
		return "", &Fault{Message: "port " + m[2] + " is outside 0..65535"}
	}
	return s, nil
}

// Loopback takes an Address that only this machine can reach.
func Loopback(s string) (string, *Fault) {
	if _, f := Address(s); f != nil {
		return "", f
	}
	if !IsLoopback(s) {
		return "", &Fault{Message: Show(s) + " can be reached from other machines, and nobody is asked who it is there", Hint: `try "127.0.0.1:` + addressForm.ReplaceAllString(s, "$2") + `"`}
	}
	return s, nil
}

// IsLoopback says whether only this machine can reach an address. A name other than localhost is not looked up, so it counts
// as reachable.
func IsLoopback(address string) bool {
	host := HostOf(address)
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// Web takes a host, or host:port, that may be asked over HTTP. An address of IPv6 is in brackets.
func Web(s string) (string, *Fault) {
	host, port := s, ""
	if m := addressForm.FindStringSubmatch(s); m != nil && (!strings.Contains(m[1], ":") || strings.HasSuffix(m[1], "]")) {
		host, port = m[1], m[2]
	}
	if !isHost(host) {
		f := &Fault{Message: Show(s) + " is not a host, nor host:port"}
		if strings.Contains(s, "*") {
			f.Hint = "write out each host"
		} else if bare := hostIn.ReplaceAllString(s, "$1"); isHost(bare) {
			f.Hint = "try " + Show(strings.ToLower(bare))
		}
		return "", f
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "", &Fault{Message: "port " + port + " is outside 1..65535"}
	}
	return strings.ToLower(s), nil
}

// hostIn finds the host in what may have a scheme, a port and a path.
var hostIn = regexp.MustCompile(`^(?:.*?://)?([^/]*?)(?::[^:\]/]*)?(?:/.*)?$`)

// Host takes one name or address without a port, as in a Host header.
func Host(s string) (string, *Fault) {
	if isHost(s) {
		return strings.ToLower(s), nil
	}
	f := &Fault{Message: Show(s) + " is not a host name"}
	if bare := hostIn.ReplaceAllString(s, "$1"); isHost(bare) {
		f.Hint = "try " + Show(bare)
	}
	return "", f
}

// originForm is a scheme, a host and perhaps a port.
var originForm = regexp.MustCompile(`^([a-z][a-z0-9+.-]*)://(\[.*\]|[^:]*)(?::([1-9][0-9]*))?$`)

// Origin takes scheme://host[:port] and gives it as a browser writes it:
// lower case, without the scheme's own port.
func Origin(s string) (string, *Fault) {
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
	f := &Fault{Message: Show(s) + " is not an origin (scheme://host[:port])"}
	if guess != lower {
		if plain, bad := Origin(guess); bad == nil {
			f.Hint = "try " + Show(plain)
		}
	}
	return "", f
}

// URL takes the base of an API, an http or https address, or nothing. It
// does not repeat in a fault what may hold a password or a key.
func URL(s string) (string, *Fault) {
	if s == "" {
		return "", nil
	}
	const elsewhere = "the key goes into a file, and the file's path into key"
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(s, " "):
		return "", &Fault{Message: "is not an http:// or https:// address", Hint: `try "http://127.0.0.1:11434/v1"`}
	case u.User != nil:
		return "", &Fault{Message: "must not hold a user or a password", Hint: elsewhere}
	case strings.ContainsAny(s, "?#"):
		return "", &Fault{Message: "must end with its path, before the ? or #", Hint: elsewhere}
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 64); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "", &Fault{Message: "port " + u.Port() + " is outside 1..65535"}
	}
	for _, end := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), end) {
			return "", &Fault{Message: "must be the base of the API", Hint: "leave out " + end}
		}
	}
	return strings.TrimRight(s, "/"), nil
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

// HostOf gives the host of an [Address], in brackets where it is one of IPv6.
func HostOf(address string) string { return addressForm.ReplaceAllString(address, "$1") }

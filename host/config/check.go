package config

import (
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/companiond/companiond/abi"
)

// cleanListen takes host:port; the host may be empty and the port 0.
func cleanListen(s string) (string, *fault) {
	bad := &fault{message: show(s) + " is not host:port", hint: `try "127.0.0.1:3000"`}
	host, port, ok := cutPort(s)
	if !ok || host != "" && !isHost(host) {
		return "", bad
	}
	if n, err := strconv.ParseUint(port, 10, 64); err != nil {
		return "", bad
	} else if n > 65535 {
		return "", &fault{message: fmt.Sprintf("port %s is outside 0..65535", port)}
	}
	return s, nil
}

// cleanHost takes one name or address without a port, as in a Host header.
func cleanHost(s string) (string, *fault) {
	if isHost(s) {
		return strings.ToLower(s), nil
	}
	f := &fault{message: show(s) + " is not a host name"}
	bare := s
	if _, after, ok := strings.Cut(s, "://"); ok {
		bare = after
	}
	bare, _, _ = strings.Cut(bare, "/")
	if host, _, ok := cutPort(bare); ok {
		bare = host
	}
	if isHost(bare) {
		f.hint = "try " + show(bare)
	}
	return "", f
}

// cleanOrigin takes scheme://host[:port] and gives it as a browser writes it:
// lower case, without the scheme's own port.
func cleanOrigin(s string) (string, *fault) {
	bad := &fault{message: show(s) + " is not an origin (scheme://host[:port])"}
	scheme, rest, ok := strings.Cut(strings.ToLower(s), "://")
	if !ok {
		if _, f := cleanOrigin("https://" + s); f == nil {
			bad.hint = "try " + show("https://"+s)
		}
		return "", bad
	}
	if !isScheme(scheme) {
		return "", bad
	}
	if authority, _, long := strings.Cut(rest, "/"); long {
		if plain, f := cleanOrigin(scheme + "://" + authority); f == nil {
			bad.hint = "try " + show(plain)
		}
		return "", bad
	}
	host, port, withPort := cutPort(rest)
	if !withPort {
		host = rest
	}
	if !isHost(host) {
		return "", bad
	}
	if !withPort || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return scheme + "://" + host, nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return "", bad
	}
	return scheme + "://" + host + ":" + port, nil
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
	_, why, _ := strings.Cut(abi.AsError(err).Message, ": ")
	if strings.HasPrefix(why, show(name)) {
		return why
	}
	return show(name) + " is not a name: " + why
}

// cutPort cuts s at its last colon unless that is part of an IPv6 address.
func cutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// isHost accepts a name of letters, digits, '-' and '.', an IPv4 address, or an
// IPv6 address in brackets.
func isHost(s string) bool {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return strings.HasSuffix(inner, "]") && err == nil && addr.Is6()
	}
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.Trim(label, "-") != label || !isPlain(label, "-_") {
			return false
		}
	}
	return true
}

func isScheme(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && isPlain(s, "+-.")
}

func isPlain(s, also string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(also, r))
	})
}

// isLoopback reports whether only this machine can reach a listen address. A
// name other than localhost is not looked up, so it counts as reachable.
func isLoopback(listen string) bool {
	host, _, _ := cutPort(listen)
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

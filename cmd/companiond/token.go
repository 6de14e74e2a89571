package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/cmd/companiond/tokens"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/identity"
)

// tokenVerb makes a token, shows it once, and keeps its hash.
func tokenVerb(t *term, _ context.Context, args []string) error {
	fs := t.flags("token")
	kind := fs.String("kind", string(abi.KindAgent), "`agent` or human")
	scope := fs.String("scope", "read,talk", "what it is good for: `read,talk,act,admin`")
	file := fs.String("file", "", "tokens `file`; default is the configuration's")
	path := fs.String("config", "", "configuration `file`")
	rest, err := parse(fs, args, many)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("a token for whom? companiond token NAME")
	}
	h := identity.Holder{Name: rest[0], Kind: abi.ParticipantKind(*kind)}
	if h.Scopes, err = identity.ParseScopes(*scope); err != nil {
		return usage("-scope: %v", err)
	}
	if *file == "" {
		if *file, err = t.tokensFile(*path); err != nil {
			return err
		}
	}
	token := identity.New(func(b []byte) { _, _ = rand.Read(b) }) // crypto/rand never fails
	h.Hash = identity.Hash(token)
	if err := tokens.Append(*file, h); err != nil {
		return err
	}
	fmt.Fprintf(t.err, "This is the token of %s; it is shown this once. %s keeps only its hash; restart the daemon to use it.\n", h.Name, *file)
	_, err = fmt.Fprintln(t.out, token)
	return err
}

// tokensFile gives the path that the configuration names.
func (t *term) tokensFile(configPath string) (string, error) {
	cfg, problems, err := t.load(configPath)
	switch {
	case err != nil:
		return "", err
	case config.Failed(problems):
		return "", coded{exitConfig, errors.New("the configuration has mistakes; companiond check lists them")}
	case cfg.Identity.Tokens == "":
		return "", coded{exitConfig, errors.New(`the configuration names no file of tokens: set identity.tokens = "state/tokens", or use -file`)}
	}
	return t.resolveTokens(cfg.Identity.Tokens)
}

func (t *term) resolveTokens(value string) (string, error) {
	path, err := t.secretFile(value)
	if err != nil {
		return "", coded{exitConfig, fmt.Errorf("identity.tokens: %w", err)}
	}
	return path, nil
}

// secretFile gives the path behind a setting that names a file with secrets,
// which may be one of the service manager's credentials.
func (t *term) secretFile(value string) (string, error) {
	name, credential := strings.CutPrefix(value, config.Credential)
	if !credential {
		return value, nil
	}
	dir := t.getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return "", fmt.Errorf("%q needs systemd's LoadCredential=%s:..., for $CREDENTIALS_DIRECTORY is not set", value, name)
	}
	return filepath.Join(dir, name), nil
}

// isCredential says whether a file is the service manager's, whose access lists
// look like rights of the group.
func (t *term) isCredential(path string) bool {
	dir := t.getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && filepath.Dir(path) == filepath.Clean(dir)
}

// readTokens reads the tokens the configuration names, nil for none. The warning
// is for whoever runs the daemon, and often empty.
func (t *term) readTokens(cfg config.Config) (r *identity.Register, warning string, err error) {
	if cfg.Identity.Tokens == "" {
		if !cfg.GuestsAllowed() {
			return nil, "", coded{exitConfig, errors.New("identity.guests is false and identity.tokens is empty, so nobody could connect")}
		}
		return nil, "", nil
	}
	path, err := t.resolveTokens(cfg.Identity.Tokens)
	if err != nil {
		return nil, "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, "", coded{exitConfig, fmt.Errorf("identity.tokens: %s is no regular file", path)} // to open a pipe would wait for whoever writes
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", coded{exitConfig, fmt.Errorf("identity.tokens: %w (companiond token NAME makes it)", err)}
	}
	defer f.Close()
	src, err := tokens.Read(f, path)
	if err != nil {
		return nil, "", coded{exitConfig, fmt.Errorf("identity.tokens: %w", err)}
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 && !t.isCredential(path) {
		warning = "others on this machine can read or change the tokens file; chmod 600 " + path
	}
	if r, err = identity.Parse(path, src); err != nil {
		return nil, "", coded{exitConfig, err}
	}
	if r.Len() == 0 && !cfg.GuestsAllowed() {
		return nil, "", coded{exitConfig, fmt.Errorf("identity.tokens: %s has no token, so nobody could connect; companiond token NAME makes one", path)}
	}
	return r, warning, nil
}

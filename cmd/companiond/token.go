package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/config"
	"github.com/companiond/companiond/host/identity"
)

// tokensHead begins a tokens file that the verb makes.
const tokensHead = "# Who may connect, a line each: NAME KIND SCOPES sha256:HEX. Made by companiond token.\n"

// tokenVerb makes a token, shows it once, and keeps its hash.
func tokenVerb(t *term, _ context.Context, args []string) error {
	fs := t.flags("token")
	kind := fs.String("kind", string(abi.KindAgent), "`agent` or human")
	scope := fs.String("scope", "read,talk", "what it is good for: `read,talk,act,admin`")
	file := fs.String("file", "", "tokens `file`; default is the configuration's")
	path := fs.String("config", "", "configuration `file`")
	rest, err := parse(fs, args)
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
	if err := appendToken(*file, h); err != nil {
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

// resolveTokens gives the path behind identity.tokens, which may be one of the
// service manager's credentials.
func (t *term) resolveTokens(value string) (string, error) {
	name, credential := strings.CutPrefix(value, config.Credential)
	if !credential {
		return value, nil
	}
	dir := t.getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return "", coded{exitConfig, fmt.Errorf("identity.tokens: %q needs systemd's LoadCredential=%s:..., for $CREDENTIALS_DIRECTORY is not set", value, name)}
	}
	return filepath.Join(dir, name), nil
}

// appendToken adds a holder to a tokens file, whole or not at all: the file that
// comes of it is read first as the daemon will read it.
func appendToken(path string, h identity.Holder) error {
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = []byte(tokensHead)
	case err != nil:
		return fmt.Errorf("read tokens: %w", err)
	case len(old) > 0 && old[len(old)-1] != '\n':
		old = append(old, '\n')
	}
	whole := append(old, (h.Line() + "\n")...)
	if _, err := identity.Parse(path, whole); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of tokens: %w", err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, whole, 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}

// readTokens reads the tokens the configuration names, nil for none.
func (t *term) readTokens(cfg config.Config, log *slog.Logger) (*identity.Register, error) {
	if cfg.Identity.Tokens == "" {
		return nil, nil
	}
	path, err := t.resolveTokens(cfg.Identity.Tokens)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, coded{exitConfig, fmt.Errorf("identity.tokens: %w (companiond token NAME makes it)", err)}
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, coded{exitConfig, fmt.Errorf("identity.tokens: %w", err)}
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("others on this machine can read the tokens file; chmod 600 it", "file", path)
	}
	r, err := identity.Parse(path, src)
	if err != nil {
		return nil, coded{exitConfig, err}
	}
	if r.Len() == 0 && !cfg.GuestsAllowed() {
		return nil, coded{exitConfig, fmt.Errorf("identity.tokens: %s has no token, so nobody could connect; companiond token NAME makes one", path)}
	}
	return r, nil
}

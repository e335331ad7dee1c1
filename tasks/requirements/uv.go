package requirements

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/internal/procgroup"
)

// Resolver finds versions that meet requirements.
type Resolver interface {
	// Resolve returns a line for every package that requires needs, name==version and the hashes of its files,
	// sorted: see Cut. python is the interpreter's path; preferences are pins to keep if possible. An error
	// other than *UnresolvableError means that the resolver itself failed.
	Resolve(ctx context.Context, python string, requires, preferences []string) ([]string, error)
}

// UV resolves requirements with uv, on this machine: from the package index or, if that is unreachable,
// from uv's cache.
type UV struct {
	Program string   // path of uv
	Offline bool     // use only uv's cache
	Env     []string // KEY=value, complete
	Scratch string   // directory for temporary files; files of killed processes there are removed
}

// leftoverAge is the age from which no process can still use a temporary directory: uv takes minutes at
// most.
const leftoverAge = time.Hour

// UnresolvableError reports that no versions meet the requirements of the configuration.
type UnresolvableError struct {
	Requires []string
	Output   string
}

func (e *UnresolvableError) Error() string {
	return fmt.Sprintf("the requirements [%s] cannot be met:\n%s", strings.Join(e.Requires, ", "), e.Output)
}

var unresolvable = lazyregexp.New(`(?i)no solution found|was not found in the package registry|unsatisfiable|` +
	`couldn't parse requirement|failed to parse|not found in the provided package locations`)

// compileCommand returns the arguments that make uv write the pins for the content of in. uv uses the pins
// in an existing out as preferences.
func compileCommand(python, in, out string) []string {
	return []string{"pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate", "--generate-hashes", "--python", python, "--output-file", out, in}
}

// Resolve implements Resolver.
func (u *UV) Resolve(ctx context.Context, python string, requires, preferences []string) ([]string, error) {
	if u.Offline {
		return u.compile(ctx, python, requires, preferences, "--offline")
	}
	pins, err := u.compile(ctx, python, requires, preferences)
	var unresolvable *UnresolvableError
	if err == nil || errors.As(err, &unresolvable) || context.Cause(ctx) != nil {
		return pins, err
	}
	if cached, offline := u.compile(ctx, python, requires, preferences, "--offline"); offline == nil {
		return cached, nil
	}
	return nil, err
}

// compile runs uv once. Without the network, an unknown package can only be missing in uv's cache, so it
// is not an *UnresolvableError.
func (u *UV) compile(ctx context.Context, python string, requires, preferences []string, options ...string) ([]string, error) {
	dir, err := u.workplace()
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, inFile), filepath.Join(dir, outFile)
	if err := errors.Join(os.WriteFile(in, lines(requires), 0o600), os.WriteFile(out, lines(preferences), 0o600)); err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	cmd := exec.CommandContext(ctx, u.Program, append(compileCommand(python, in, out), options...)...)
	cmd.Env = u.Env
	cmd.Dir = dir
	// Processes that uv started end with it: building a package runs its code.
	procgroup.Set(cmd)
	// A child that left the group and keeps the pipe open must not block this process.
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		output := strings.ReplaceAll(said.String(), dir+string(filepath.Separator), "")
		if len(options) > 0 {
			return nil, fmt.Errorf("resolving requirements from uv's cache, without the network: %s", cmp.Or(strings.TrimSpace(output), err.Error()))
		}
		return nil, failure(err, requires, output)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	return ReadPins(string(content))
}

// workplace creates a directory in Scratch, and removes directories of killed processes there.
func (u *UV) workplace() (string, error) {
	if u.Scratch == "" {
		return os.MkdirTemp("", "fevalgraph-lock-")
	}
	if err := os.MkdirAll(u.Scratch, 0o755); err != nil {
		return "", err
	}
	if info, err := os.Lstat(u.Scratch); err != nil || !info.IsDir() {
		return "", errors.Join(err, fmt.Errorf("%s is not a directory: remove it", u.Scratch)) // targets of links must not be removed
	}
	entries, err := os.ReadDir(u.Scratch)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftoverAge {
			os.RemoveAll(filepath.Join(u.Scratch, e.Name()))
		}
	}
	return os.MkdirTemp(u.Scratch, "")
}

func failure(err error, requires []string, said string) error {
	said = strings.TrimSpace(said)
	if unresolvable().MatchString(said) {
		return &UnresolvableError{Requires: requires, Output: said}
	}
	if said == "" {
		said = err.Error()
	}
	return fmt.Errorf("resolving requirements with uv: %s", said)
}

func lines(texts []string) []byte { return []byte(strings.Join(texts, "\n") + "\n") }

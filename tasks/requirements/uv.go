package requirements

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// UV resolves requirements with uv.
type UV struct {
	Program string   // path of uv
	Env     []string // KEY=value, complete
	Scratch string   // directory for temporary files; what a killed process left there is removed
}

// leftoverAge is how old a temporary directory is when nobody can be using it
// any more: uv takes minutes at most.
const leftoverAge = time.Hour

// UnresolvableError says that no versions meet the requirements: the
// configuration asks for something that does not exist.
type UnresolvableError struct {
	Requires []string
	Output   string
}

func (e *UnresolvableError) Error() string {
	return fmt.Sprintf("the requirements [%s] cannot be met:\n%s", strings.Join(e.Requires, ", "), e.Output)
}

var unresolvable = regexp.MustCompile(`(?i)no solution found|was not found in the package registry|unsatisfiable|` +
	`couldn't parse requirement|failed to parse|not found in the provided package locations`)

// Resolve returns name==version for every package that requires needs, sorted.
// python is the interpreter's path; preferences are pins to keep where
// possible. An error that is not an *UnresolvableError means that uv could not
// do its work.
func (u *UV) Resolve(ctx context.Context, python string, requires, preferences []string) ([]string, error) {
	dir, err := u.workplace()
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	defer os.RemoveAll(dir)
	// uv takes the pins of an existing output file as preferences.
	in, out := filepath.Join(dir, "requirements.in"), filepath.Join(dir, "requirements.txt")
	if err := errors.Join(writeLines(in, requires), writeLines(out, preferences)); err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	cmd := exec.CommandContext(ctx, u.Program, "pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate",
		"--python", python, "--output-file", out, in)
	cmd.Env = u.Env
	cmd.Dir = dir
	// A child of uv's that keeps the pipe open must not keep us.
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, failure(err, requires, strings.ReplaceAll(said.String(), dir+string(filepath.Separator), ""))
	}
	return readPins(out)
}

// workplace makes a directory in Scratch, and removes what killed processes
// left there.
func (u *UV) workplace() (string, error) {
	if u.Scratch == "" {
		return os.MkdirTemp("", "fevalgraph-lock-")
	}
	if err := os.MkdirAll(u.Scratch, 0o755); err != nil {
		return "", err
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
	if unresolvable.MatchString(said) {
		return &UnresolvableError{Requires: requires, Output: said}
	}
	if said == "" {
		said = err.Error()
	}
	return fmt.Errorf("resolving requirements with uv: %s", said)
}

func writeLines(path string, lines []string) error {
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// readPins reads the requirements.txt that uv wrote.
func readPins(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	var pins []string
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		pins = append(pins, line)
	}
	if len(pins) == 0 {
		return nil, errors.New("resolving requirements: uv named no packages")
	}
	slices.Sort(pins)
	return pins, nil
}

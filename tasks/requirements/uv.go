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
	args := []string{"pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate", "--python", python}
	place := os.TempDir()
	if len(preferences) > 0 {
		// uv takes the pins of an existing output file as preferences.
		dir, err := os.MkdirTemp("", "fevalgraph-lock-")
		if err != nil {
			return nil, fmt.Errorf("resolving requirements: %w", err)
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(out, lines(preferences), 0o600); err != nil {
			return nil, fmt.Errorf("resolving requirements: %w", err)
		}
		place, args = dir, append(args, "--output-file", out)
	}
	cmd := exec.CommandContext(ctx, u.Program, append(args, "-")...)
	cmd.Env = u.Env
	cmd.Dir = place
	cmd.Stdin = bytes.NewReader(lines(requires))
	var pins, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &pins, &said
	// A child of uv's that keeps the pipes open must not keep us.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, u.failure(err, requires, said.String())
	}
	return readPins(pins.String())
}

func (u *UV) failure(err error, requires []string, said string) error {
	said = strings.TrimSpace(said)
	if unresolvable.MatchString(said) {
		return &UnresolvableError{Requires: requires, Output: said}
	}
	if said == "" {
		said = err.Error()
	}
	return fmt.Errorf("resolving requirements with uv: %s", said)
}

func lines(all []string) []byte { return []byte(strings.Join(all, "\n") + "\n") }

// readPins reads the requirements.txt that uv prints.
func readPins(text string) ([]string, error) {
	var pins []string
	for line := range strings.Lines(text) {
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

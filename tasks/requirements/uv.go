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
	"strings"
)

// UV resolves requirements with uv.
type UV struct {
	Program string   // path of uv
	Env     []string // KEY=value, complete
}

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
	dir, err := os.MkdirTemp("", "fevalgraph-lock-")
	if err != nil {
		return nil, fmt.Errorf("resolving requirements: %w", err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "requirements.in"), filepath.Join(dir, "requirements.txt")
	if err := writeLines(in, requires); err != nil {
		return nil, err
	}
	// uv takes the pins of an existing output file as preferences.
	if err := writeLines(out, preferences); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, u.Program, "pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate",
		"--python", python, "--output-file", out, in)
	cmd.Env = u.Env
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		text := strings.TrimSpace(strings.ReplaceAll(said.String(), dir+string(filepath.Separator), ""))
		if unresolvable.MatchString(text) {
			return nil, &UnresolvableError{Requires: requires, Output: text}
		}
		if text == "" {
			text = err.Error()
		}
		return nil, fmt.Errorf("resolving requirements with uv: %s", text)
	}
	return readPins(out)
}

func writeLines(path string, lines []string) error {
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("resolving requirements: %w", err)
	}
	return nil
}

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
	return pins, nil
}

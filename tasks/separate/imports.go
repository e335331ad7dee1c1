package separate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
)

// MaxSource limits how much of a file is searched, in bytes.
const MaxSource = 1 << 20

// Statement finds statements that import a module.
type Statement struct {
	module string
	match  *regexp.Regexp
}

// NewStatement returns a Statement for a module. Loading a file whose name is not literal
// counts as importing any module.
func NewStatement(module string) *Statement {
	quoted := regexp.QuoteMeta(module)
	return &Statement{module, regexp.MustCompile(`(?m)^[ \t]*(?:from|import)\s+(?:\w+\.)*` + quoted + `\b|^[ \t]*from\s+[\w.]+\s+import\b.*\b` + quoted + `\b|(?:import_module|__import__)\(\s*["'](?:\w+\.)*` + quoted + `["']|\b(?:spec_from_file_location|run_path)\(`)}
}

// Line returns the line of a source that imports the module, or 0.
func (s *Statement) Line(source []byte) int {
	if !bytes.Contains(source, []byte(s.module)) && !bytes.Contains(source, []byte("spec_from_file_location")) && !bytes.Contains(source, []byte("run_path")) {
		return 0 // which is faster than searching
	}
	at := s.match.FindIndex(source)
	if at == nil {
		return 0
	}
	return 1 + bytes.Count(source[:at[0]], []byte("\n"))
}

// Search determines which trees contain files that import a module, and caches the results.
// It is safe for concurrent use.
type Search struct {
	mu    sync.Mutex
	found map[searched]bool
}

type searched struct {
	tree   cache.Digest
	module string
}

// Imports reports whether a Python file of a tree imports the module in a file.
func (s *Search) Imports(ctx context.Context, store cache.Store, tree cache.Digest, file string) (bool, error) {
	if path.Ext(file) != ".py" {
		return false, nil
	}
	wanted := searched{tree, strings.TrimSuffix(path.Base(file), ".py")}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, known := s.found[wanted]; known {
		return found, nil
	}
	statement, found := NewStatement(wanted.module), false
	err := cache.WalkTree(ctx, store, tree, func(e cache.Entry) error {
		if found || e.Dir || e.Link != "" || path.Ext(e.Path) != ".py" {
			return nil
		}
		f, err := store.Open(ctx, e.Digest)
		if err != nil {
			return fmt.Errorf("reading %s: %w", e.Path, err)
		}
		defer f.Close()
		source, err := io.ReadAll(io.LimitReader(f, MaxSource))
		if err != nil {
			return fmt.Errorf("reading %s: %w", e.Path, err)
		}
		found = statement.Line(source) > 0
		return nil
	})
	if err != nil {
		return false, err
	}
	if s.found == nil {
		s.found = map[searched]bool{}
	}
	s.found[wanted] = found
	return found, nil
}

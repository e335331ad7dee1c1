package tasks

import (
	"fmt"
	"os"
	"path/filepath"
)

// NewSubmission returns the task that brings a submission into the store: the
// directory source without what ignore names, or the single file source
// under its own name.
func NewSubmission(source string, ignore Ignore, sources Sources) *Source {
	return &Source{sources: sources, scan: func() ([]file, error) {
		info, err := os.Stat(source)
		if err != nil {
			return nil, fmt.Errorf("reading the submission: %w", err)
		}
		if !info.IsDir() {
			return scanFile(source, filepath.Base(source))
		}
		return scanTree(source, ignore)
	}}
}

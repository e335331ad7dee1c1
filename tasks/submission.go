package tasks

import (
	"fmt"
	"os"
	"path/filepath"
)

// Submission says what of a solution's code is evaluated.
type Submission struct {
	Source string // absolute path of a directory, or of a single file, which keeps its name
	Ignore Ignore // of a directory's files
	Plain  bool   // only the contents of regular files: no links, no executable bits, no empty directories
}

// NewSubmission returns the task that brings a submission into the store.
func NewSubmission(sub Submission, sources Sources) *Source {
	s := &Source{sources: sources}
	s.scan = func() (found []file, err error) {
		found, s.omitted, err = sub.scan()
		return found, err
	}
	return s
}

func (sub Submission) scan() (found []file, omitted []omission, err error) {
	info, err := os.Stat(sub.Source)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading the submission: %w", err)
	case info.IsDir() && sub.Plain:
		return scanPlain(sub.Source, sub.Ignore)
	case info.IsDir():
		found, err = scanTree(sub.Source, sub.Ignore)
		return found, nil, err
	}
	found, err = scanFile(sub.Source, filepath.Base(sub.Source))
	for i := range found {
		found[i].Executable = found[i].Executable && !sub.Plain
	}
	return found, nil, err
}

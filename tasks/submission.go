package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Submission describes the part of a solution's code that is evaluated.
type Submission struct {
	Source string // absolute path of a directory, or of a single file, which keeps its name
	Ignore Ignore // of a directory's files
	Plain  bool   // only the contents of regular files: no links, no executable bits, no empty directories
	// Target is the path of the file or the directory in the tree. "" means the top, where a file keeps its
	// name.
	Target string
}

// NewSubmission returns the task that stores a submission.
func NewSubmission(sub Submission, sources Sources) *Source {
	s := &Source{sources: sources}
	s.scan = func() (found []file, err error) {
		found, s.omitted, err = sub.scan(s.sources)
		return found, err
	}
	return s
}

// NewParts returns the task that stores a submission of several parts, each with a Target. An empty part,
// or a part without Source, is an empty directory. A later part replaces files at and below its target.
func NewParts(parts []Submission, sources Sources) *Source {
	s := &Source{sources: sources}
	s.scan = func() (all []file, err error) {
		s.omitted = nil
		for _, sub := range parts {
			var found []file
			var omitted []omission
			if sub.Source != "" {
				if found, omitted, err = sub.scan(s.sources); err != nil {
					return nil, err
				}
			}
			if len(found) == 0 {
				found = []file{{Entry: cache.Entry{Path: sub.Target, Dir: true}}}
			}
			all = slices.DeleteFunc(all, func(f file) bool { return f.Path == sub.Target || strings.HasPrefix(f.Path, sub.Target+"/") })
			all, s.omitted = append(all, found...), append(s.omitted, omitted...)
		}
		return all, nil
	}
	return s
}

func (sub Submission) scan(sources Sources) (found []file, omitted []omission, err error) {
	sources.observe("exists", sub.Source)
	info, err := os.Stat(sub.Source)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading the submission: %w", err)
	case info.IsDir():
		s := scan{observe: sources.observe, limits: sources.Limits}
		take := s.faithful
		if sub.Plain {
			take = s.plain
		}
		err = s.walk(sub.Source, sub.Ignore, take)
		return below(sub.Target, s.found), s.omitted, err
	}
	name := sub.Target
	if name == "" {
		name = filepath.Base(sub.Source)
	}
	found, err = scanFile(sub.Source, name, sources.observe)
	for i := range found {
		found[i].Executable = found[i].Executable && !sub.Plain
	}
	return found, nil, err
}

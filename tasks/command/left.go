package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// maxFile limits the file with a score; a larger file counts as missing.
const maxFile = 64 << 20

// clear ensures that the program writes the file with the score: an existing file of the problem, the
// solution or set-up is replaced by an empty one.
func (r *Run) clear(ctx context.Context, s *session.Session) error {
	if r.File == "" {
		return nil
	}
	f, err := s.Collect(ctx, r.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		f.Close()
	case !errors.Is(err, backend.ErrNotRegular):
		return fmt.Errorf("looking up %s: %w", r.File, err)
	}
	if err := s.Place(ctx, backend.Input{Path: r.File, Content: []byte{}, Replace: true}); err != nil {
		return fmt.Errorf("clearing %s: %w", r.File, err)
	}
	return nil
}

// collect returns the file with the score, or the reason why it is missing.
func (r *Run) collect(ctx context.Context, s *session.Session) (content []byte, none string, err error) {
	if r.File == "" {
		return nil, "", nil
	}
	content, err = session.Read(ctx, s, r.File, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Sprintf("%s not found", r.File), nil
	case errors.Is(err, backend.ErrNotRegular):
		return nil, fmt.Sprintf("%s is not a regular file", r.File), nil
	case errors.Is(err, session.ErrLarge):
		return nil, fmt.Sprintf("%s is larger than %d MiB", r.File, maxFile>>20), nil
	case err != nil:
		return nil, "", fmt.Errorf("fetching %s: %w", r.File, err)
	}
	return content, "", nil
}

// errMasked means that masking secrets would change the score.
var errMasked = errors.New("the value of a secret occurs where the score is read, and masking would change it; change the secret")

// sameScore returns an error if the rule reads another score from the stored outputs than from the
// original ones.
func (r *Run) sameScore(left, kept score.Artifacts) error {
	was, wasErr := r.Rule.Read(left)
	is, isErr := r.Rule.Read(kept)
	if (wasErr == nil) != (isErr == nil) || fmt.Sprint(was) != fmt.Sprint(is) { // compared as text, since NaN is not equal to itself
		return &graph.InputError{Err: errMasked}
	}
	return nil
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/outputs"
)

const timedOut = cache.ClassTimeout

// maxFile bounds the file with a score in memory; a larger one counts as none.
const maxFile = 64 << 20

// keeper stores the outputs of a run.
type keeper struct {
	outputs.Keeper
	secrets []string

	file, masked []byte // the file with the score, as it was and as it is kept
}

// clear makes sure that the file with the score is the program's own work: what
// the problem, the solution or set-up left in its place becomes an empty file.
func (r *Run) clear(ctx context.Context, session backend.Session) error {
	if r.File == "" {
		return nil
	}
	f, err := session.Collect(ctx, r.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		f.Close()
	case !errors.Is(err, backend.ErrNotRegular):
		return fmt.Errorf("looking for %s: %w", r.File, err)
	}
	if err := session.Place(ctx, backend.Input{Path: r.File, Content: []byte{}, Replace: true}); err != nil {
		return fmt.Errorf("clearing %s: %w", r.File, err)
	}
	return nil
}

// collect keeps the file with the score. Without one it says why there is none.
func (r *Run) collect(ctx context.Context, session backend.Session, k *keeper) (none string, err error) {
	if r.File == "" {
		return "", nil
	}
	f, err := session.Collect(ctx, r.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("there is no %s", r.File), nil
	case errors.Is(err, backend.ErrNotRegular):
		return fmt.Sprintf("%s is not a regular file", r.File), nil
	case err != nil:
		return "", fmt.Errorf("fetching %s: %w", r.File, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("fetching %s: %w", r.File, err)
	case len(content) > maxFile:
		return fmt.Sprintf("%s is larger than %d MiB", r.File, maxFile>>20), nil
	}
	k.file, k.masked = content, backend.RedactJSON(content, k.secrets)
	k.Keep(OutputFile, k.masked)
	return "", nil
}

// errMasked says that what is kept without secrets is not worth what it was with them.
var errMasked = errors.New("the value of a secret is part of what gives the score, which masking it would change; give the secret another value")

// sameScore is an error if the rule reads another score from what is kept than from what
// the program left.
func (r *Run) sameScore(left, kept score.Artifacts) error {
	was, wasErr := r.Rule.Read(left)
	is, isErr := r.Rule.Read(kept)
	if (wasErr == nil) != (isErr == nil) || fmt.Sprint(was) != fmt.Sprint(is) { // as text, NaN is itself
		return &graph.InputError{Err: errMasked}
	}
	return nil
}

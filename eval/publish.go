package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// publish writes the published outputs of tasks that the run brought up to date, unless the files have the same
// content.
func (x *execution) publish(ctx context.Context) error {
	if x.call.options.Additions.Any() {
		return nil
	}
	var errs []error
	for _, t := range x.call.Config.Tasks {
		if !t.Publishes() {
			continue
		}
		id, ok := x.project.Plan.Graph.Lookup(plan.TaskAddress(t))
		if !ok {
			continue
		}
		st := x.rep.Status(id)
		if st.State != event.Done && st.State != event.Cached {
			continue
		}
		for _, o := range t.Outputs {
			made, ok := st.Output(o.Name)
			if o.Publish == "" || !ok {
				continue
			}
			err := staysInside(x.call.Config.Root, o.Publish)
			if err == nil {
				err = x.call.publishFile(ctx, made, o.Publish)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("publishing %s: %w", &lang.OutputRef{Task: t, Name: o.Name}, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (c *call) publishFile(ctx context.Context, made cache.Output, path string) error {
	file := cache.Entry{Digest: made.Digest}
	if made.Tree { // a tree with one file
		err := cache.WalkTree(ctx, c.stores.Store, made.Digest, func(e cache.Entry) error {
			if file = e; e.Dir {
				return errors.New("it is a directory, and only files are published")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if same, err := sameFile(ctx, path, file.Digest); same || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	from, err := c.stores.Store.Open(ctx, file.Digest)
	if err != nil {
		return err
	}
	defer from.Close()
	mode := os.FileMode(0o644)
	if file.Executable {
		mode = 0o755
	}
	return atomicfile.WriteFrom(path, mode, func(to io.Writer) error {
		_, err := io.Copy(to, from)
		return err
	})
}

// sameFile reports whether path is a regular file with the digest d.
func sameFile(ctx context.Context, path string, d cache.Digest) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() != d.Size) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	is, err := sumFile(ctx, path)
	return err == nil && is == d, err
}

// publisherOf returns the address of the node that publishes a file, given relative to the project's directory;
// "" if no node does.
func publisherOf(cfg *lang.Config, path string) string {
	path = filepath.Join(cfg.Root, filepath.FromSlash(path))
	for _, t := range cfg.Tasks {
		for _, o := range t.Outputs {
			if o.Publish == path {
				return plan.TaskAddress(t)
			}
		}
	}
	return ""
}

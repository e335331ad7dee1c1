package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/causes"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/packs"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// side is one of the compared results.
type side struct {
	results *report.Results
	name    string // used instead of the run's id; "" means the id
	record  *history.Record
	options *options.Options
	causes  causes.Side
	partial bool              // a selection left out cells
	stale   map[string]string // for Now: causes of stale verdicts, by checkpoint name
}

// openSide reads the results that a name denotes: Now, a run of this project, a project's directory as DIR or
// DIR@RUN, a file of results in JSON, or a pack with a run.
func (c *Comparison) openSide(ctx context.Context, name string) (*side, error) {
	o := c.Options
	if name == Now {
		results, stale, err := c.Now(ctx)
		return &side{results: results, name: Now, options: o, stale: stale}, err
	}
	dir, run, at := name, "latest", strings.LastIndexByte(name, '@')
	if at > 0 && !o.HasDir(name) {
		dir, run = name[:at], name[at+1:]
	}
	if o.HasDir(dir) {
		return sideOfProject(o, name, o.Path(dir), run)
	}
	if !isRun(o, name) {
		return sideOfFile(ctx, o, name)
	}
	record, err := history.Open(o.Records(), name)
	if err != nil {
		return nil, err
	}
	return sideOf(o, record, ""), nil
}

func sideOf(o *options.Options, record *history.Record, name string) *side {
	start, _ := record.Run.Start()
	return &side{results: record.Results, name: name, record: record, options: o, partial: start.Partial}
}

// isRun reports whether a name looks like a run: no file has the name, and it does not look like a path.
func isRun(o *options.Options, name string) bool {
	_, err := os.Stat(o.Path(name))
	return name != Now && errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/@") && filepath.Ext(name) == ""
}

// sideOfProject opens the run of a project in another directory, with its own store.
func sideOfProject(o *options.Options, name, dir, run string) (*side, error) {
	other := *o
	other.Dir, other.File = dir, ""
	if err := other.CheckState(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(other.StateDir()); err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s is not a project with recorded runs: %w", name, err))
	}
	record, err := history.Open(other.Records(), run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return sideOf(&other, record, dirName(dir)+"@"+record.Run.ID), nil
}

func dirName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return filepath.Base(abs)
	}
	return dir
}

// sideOfFile opens a file of results, or a pack.
func sideOfFile(ctx context.Context, o *options.Options, name string) (*side, error) {
	file, err := os.Open(o.Path(name))
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	defer file.Close()
	head := make([]byte, plan.LogHead)
	if n, _ := io.ReadFull(file, head); n == 0 || head[0] == '{' || report.IsResults(head[:n]) {
		results, err := ReadResultsFile(o, name)
		if err != nil {
			return nil, err
		}
		return &side{results: results, options: o}, nil
	}
	packed, err := packs.ReadRun(ctx, o, name)
	if err != nil {
		return nil, err
	}
	return &side{results: packed.Results, name: filepath.Base(name) + "@" + packed.Results.Run, options: o, partial: packed.Partial, causes: packed.Made}, nil
}

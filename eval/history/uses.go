package history

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Use is a verdict, or a task, whose nodes or their dependencies used the searched object.
type Use struct {
	Cell   plan.CellID // with its checkpoint; empty for a task
	Result report.Checkpoint
	Task   *report.Task // with name and outcome alone; nil for a verdict
	Runs   []string     // runs that judged the verdict or executed the task, or served it, the latest first
	Node   string       // address of the node that used it directly
	Field  string       // field of that node's manifest, or its output
}

// Name returns the name of the checkpoint, or the address of the task.
func (u *Use) Name() string {
	if u.Task != nil {
		return u.Task.Address()
	}
	return u.Cell.String()
}

// Uses is the result of a search in recorded runs.
type Uses struct {
	Found    []Use // in the order of the latest run, then of earlier ones
	Runs     int   // searched runs
	Verdicts int   // distinct verdicts in them, and executions of tasks
	Unknown  int   // nodes whose use is unknown since the store no longer contains their records
}

// Matcher returns the field of a node's manifest, or the output, by which it used the searched object, or "".
type Matcher func(fields []graph.Field, outputs []cache.Output) string

// FindUses searches all recorded runs, the latest first. It ignores runs that are damaged or have no results.
func FindUses(ctx context.Context, state event.Records, store cache.Store, match Matcher) (*Uses, error) {
	ids, err := event.Runs(state)
	if err != nil {
		return nil, err
	}
	u, s := &Uses{}, usesSearch{store: store, match: match, keys: map[cache.Key]string{}, unknown: map[cache.Key]bool{}, verdicts: map[verdictID]bool{}}
	files, at := map[string]*[]Use{}, map[string]int{}
	for _, id := range slices.Backward(ids) {
		run := event.OpenRun(state, id)
		if run.Foreign() {
			continue
		}
		manifest, err := run.Manifest()
		if err != nil {
			continue
		}
		if err := s.read(ctx, partition.StoreIn(state.Dir), manifest.Partitions, files); err != nil {
			return nil, fmt.Errorf("searching run %s: %w", id, err)
		}
		u.Runs++
		for _, name := range manifest.Partitions {
			for _, use := range *files[name] {
				key := fmt.Sprint(use.Name(), use.Cell.Checkpoint, use.Node, use.Field, use.Result.Passed, use.Result.Class, use.Result.Groups)
				if use.Task != nil {
					key += use.Task.Outcome
				}
				if use.Result.Score != nil {
					key += fmt.Sprint(*use.Result.Score)
				}
				i, known := at[key]
				if !known {
					i = len(u.Found)
					at[key] = i
					u.Found = append(u.Found, use)
				}
				u.Found[i].Runs = append(u.Found[i].Runs, id)
			}
		}
	}
	u.Verdicts, u.Unknown = len(s.verdicts), len(s.unknown)
	return u, nil
}

// verdictID identifies a verdict: the node that grades a checkpoint, with its key. A checkpoint that no node grades is
// its own.
type verdictID struct {
	addr string
	key  cache.Key
}

// usesSearch caches the uses of keys, which partitions and runs share.
type usesSearch struct {
	store cache.Store
	match Matcher

	mu       sync.Mutex
	keys     map[cache.Key]string
	unknown  map[cache.Key]bool
	verdicts map[verdictID]bool
}

// read searches partition files that are not in known.
func (s *usesSearch) read(ctx context.Context, from partition.Store, names []string, known map[string]*[]Use) error {
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // they mostly wait for files
	for _, name := range names {
		if known[name] != nil {
			continue
		}
		found := new([]Use)
		known[name] = found
		group.Go(func() error {
			id, err := partition.ParseName(name)
			if err != nil {
				return err
			}
			*found, err = s.partition(ctx, from, id)
			if errors.Is(err, partition.ErrDamaged) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// where locates the use of a node: in itself, or in a dependency.
type where struct{ node, field string }

func (s *usesSearch) partition(ctx context.Context, from partition.Store, name partition.Name) (found []Use, err error) {
	rows, err := from.Rows(name)
	if err != nil {
		return nil, err
	}
	uses, at := make([]where, len(rows)), make(map[string]int, len(rows))
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		field, err := s.fieldOf(ctx, &rows[i])
		if err != nil {
			return nil, err
		}
		if field != "" {
			uses[i] = where{rows[i].Addr, field}
		}
		for _, dep := range rows[i].Deps {
			if uses[i].node == "" {
				uses[i] = uses[dep]
			}
		}
		at[rows[i].Addr] = i
	}
	cells, err := from.Results(name)
	if err != nil {
		return nil, err
	}
	var verdicts []verdictID
	for i := range rows {
		if rows[i].Kind != plan.KindTask {
			continue
		}
		verdicts = append(verdicts, verdictID{rows[i].Addr, rows[i].Key})
		if used := uses[i]; used.node != "" {
			t := &report.Task{Name: strings.TrimPrefix(rows[i].Addr, plan.KindTask+":"), Outcome: string(rows[i].Class)}
			found = append(found, Use{Task: t, Node: used.node, Field: used.field})
		}
	}
	for i := range cells {
		for _, c := range cells[i].Checkpoints {
			id := plan.ResultCell(&cells[i]).At(c.Name)
			graded := verdictID{addr: id.String()}
			for _, addr := range id.GradedAt() {
				row, ok := at[addr]
				if !ok {
					continue
				}
				graded = verdictID{addr, rows[row].Key}
				if used := uses[row]; used.node != "" {
					found = append(found, Use{Cell: id, Result: c, Node: used.node, Field: used.field})
				}
				break
			}
			verdicts = append(verdicts, graded)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range verdicts {
		s.verdicts[v] = true
	}
	return found, nil
}

// fieldOf returns the field of the node itself, if any.
func (s *usesSearch) fieldOf(ctx context.Context, row *graph.Row) (string, error) {
	s.mu.Lock()
	field, known := s.keys[row.Key]
	s.mu.Unlock()
	if known {
		return field, nil
	}
	record, err := s.store.Record(ctx, row.Key)
	var foreign *cache.ForeignError
	if err != nil && !errors.As(err, &foreign) {
		return "", err
	}
	var fields []graph.Field
	if record != nil && err == nil {
		fields, _ = graph.DecodeManifest(record.Manifest) // another version has no fields
	}
	field = s.match(fields, row.Outputs)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[row.Key] = field; field == "" && fields == nil && row.Class != cache.ClassFailed { // which has no record
		s.unknown[row.Key] = true
	}
	return field, nil
}

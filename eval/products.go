package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// Product is a stored output of a node.
type Product struct {
	cache.Output
	Path      string // below the target directory; "." for the only tree of a node
	Files     int    // number of files in a tree; 1 for a file
	Bytes     int64  // total size; -1 if the store no longer contains it
	dirs      bool   // whether the tree has subdirectories
	targetDir string // directory to place the tree in: that of the file for a tree with one file
}

// IsFile reports whether the output is one file, even if it is stored as a tree.
func (o Product) IsFile() bool { return !o.Tree || o.targetDir != o.Path && !o.dirs }

// products describes the outputs of the node at addr. cfg can be nil.
func products(ctx context.Context, store cache.Store, cfg *lang.Config, addr string, outputs []cache.Output) []Product {
	declared := map[string]lang.TaskOutput{}
	if cfg != nil {
		for _, t := range cfg.Tasks {
			if plan.TaskAddress(t) == addr {
				for _, o := range t.Outputs {
					declared[o.Name] = o
				}
			}
		}
	}
	var all []Product
	for _, o := range outputs {
		one := Product{Output: o, Path: o.Name, Files: 1, Bytes: o.Digest.Size}
		if as, ok := declared[o.Name]; ok {
			one.Path = as.Path
		}
		if o.Name == tasks.TreeOutput && len(outputs) == 1 {
			one.Path = "."
		}
		if one.targetDir = one.Path; declared[o.Name].Kind == lang.OutputFile || declared[o.Name].Kind == lang.OutputAny {
			one.targetDir = path.Dir(one.Path)
		}
		if o.Tree {
			one.Files, one.Bytes = 0, 0
			err := cache.WalkTree(ctx, store, o.Digest, func(e cache.Entry) error {
				one.dirs = one.dirs || e.Dir
				if !e.Dir {
					one.Files, one.Bytes = one.Files+1, one.Bytes+e.Digest.Size
				}
				return nil
			})
			if err != nil {
				one.Files, one.Bytes = 0, -1
			}
		}
		all = append(all, one)
	}
	return all
}

// Products describes the outputs of the last answer for a node.
func (p *Project) Products(ctx context.Context, addr string) []Product {
	return products(ctx, p.call.stores.Store, p.call.Config, addr, p.Last(addr).Outputs)
}

// GetRequest selects the outputs to write, and the destination.
type GetRequest struct {
	Node  string // address, selector that matches one node, or published file
	Run   string // recorded run; "" means the current project
	Dir   string // destination; created if it does not exist
	Force bool   // replace files with other content
}

// Got lists the written outputs of a node.
type Got struct {
	Addr     string
	Products []Product
}

// Get writes the stored outputs of a node to a directory. In the current project, the node must be fresh: stale
// outputs are not served.
func Get(ctx context.Context, o Options, r GetRequest) (*Got, error) {
	if r.Run != "" {
		return getPast(ctx, o, r)
	}
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	x, ids, err := f.decideNamed(ctx, r.Node)
	if err != nil {
		return nil, err
	}
	id, err := singleNode(x.project.Plan.Graph, r.Node, ids)
	if err != nil {
		return nil, err
	}
	addr, st := x.project.Plan.Graph.Node(id).Addr, x.rep.Status(id)
	if st.State != event.Cached {
		return nil, exit.With(exit.Stale, fmt.Errorf("%s is %s (%s); `fevalgraph run '%s'` produces its outputs, and --run reads those of an earlier run", addr, stateOf(st), causeOf(st), addr))
	}
	outputs := withoutEmptyLog(st.Outputs)
	f.call.stores.Fetch(ctx, func() []cache.Output { return outputs })
	g := &Got{Addr: addr, Products: products(ctx, f.call.stores.Store, f.call.Config, addr, outputs)}
	return g, g.placeFiles(ctx, f.call.stores.Store, o, r)
}

// getPast writes the outputs of a node in a recorded run.
func getPast(ctx context.Context, o Options, r GetRequest) (*Got, error) {
	var g *Got
	err := withRecorded(o, r.Node, r.Run, gradingRank, func(_ *event.Run, done *event.NodeDone, store cache.Store) error {
		outputs, err := history.Outputs(ctx, store, done)
		if err != nil {
			return err
		}
		g = &Got{Addr: done.Addr, Products: products(ctx, store, o.Configured(), done.Addr, withoutEmptyLog(outputs))}
		return g.placeFiles(ctx, store, o, r)
	})
	return g, err
}

// withoutEmptyLog returns the outputs without the log of a program that printed nothing.
func withoutEmptyLog(outputs []cache.Output) []cache.Output {
	return slices.DeleteFunc(slices.Clone(outputs), func(o cache.Output) bool { return o.Name == graph.LogOutput && o.Digest.Size == 0 })
}

// placeFiles writes the files. It writes nothing if a file with other content would be replaced without Force.
func (g *Got) placeFiles(ctx context.Context, store cache.Store, o Options, r GetRequest) error {
	if len(g.Products) == 0 {
		return exit.With(exit.Usage, fmt.Errorf("%s has no outputs", g.Addr))
	}
	dir := options.Absolute(o.Path(r.Dir))
	if !r.Force {
		if err := g.differing(ctx, store, dir); err != nil {
			return err
		}
	}
	was, err := os.Stat(dir)
	if err != nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	defer root.Close()
	if was != nil { // a tree sets the mode of its directory
		defer root.Chmod(".", was.Mode().Perm())
	}
	for _, one := range g.Products {
		if parent := path.Dir(one.targetDir); parent != "." {
			if err := root.MkdirAll(parent, 0o755); err != nil {
				return exit.With(exit.Usage, err)
			}
		}
		if one.Tree {
			err = cache.PlaceTree(ctx, store, one.Digest, root, one.targetDir)
		} else {
			err = cache.PlaceFile(ctx, store, one.Digest, root, one.Path)
		}
		if err != nil {
			return exit.With(exit.NotJudged, g.explainMissing(err))
		}
	}
	return nil
}

// differing returns an error that lists the files which place would replace.
func (g *Got) differing(ctx context.Context, store cache.Store, dir string) error {
	var differ []string
	directory := map[string]bool{".": true} // whether a path can be a directory
	var below func(name string) bool
	below = func(name string) bool {
		fits, known := directory[name]
		if !known {
			info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
			fits = below(path.Dir(name)) && (errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir())
			directory[name] = fits
		}
		return fits
	}
	add := func(name string, d cache.Digest, link string) error {
		at, same := filepath.Join(dir, filepath.FromSlash(name)), false
		if !below(path.Dir(name)) {
			differ = append(differ, name)
			return nil
		}
		if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if to, err := os.Readlink(at); link != "" {
			same = err == nil && to == link
		} else if same, err = sameFile(ctx, at, d); err != nil {
			return err
		}
		if !same {
			differ = append(differ, name)
		}
		return nil
	}
	for _, one := range g.Products {
		var err error
		if one.Tree {
			err = cache.WalkTree(ctx, store, one.Digest, func(e cache.Entry) error {
				if e.Dir {
					return nil
				}
				return add(path.Join(one.targetDir, e.Path), e.Digest, e.Link)
			})
		} else {
			err = add(one.Path, one.Digest, "")
		}
		if err != nil {
			return exit.With(exit.NotJudged, g.explainMissing(err))
		}
	}
	if len(differ) > 0 {
		return exit.With(exit.Usage, fmt.Errorf("%s has another %s (hint: -o names another directory; --force replaces files)", dir, text.Some(differ, 3)))
	}
	return nil
}

// explainMissing adds an explanation to an error about a blob that the store no longer contains.
func (g *Got) explainMissing(err error) error {
	if cache.IsLost(err) {
		return fmt.Errorf("%w; `fevalgraph run --force '%s'` makes it again", err, g.Addr)
	}
	return err
}

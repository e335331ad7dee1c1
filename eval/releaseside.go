package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// releaseSide is a version of a set of problems. Each problem is compiled with a placeholder for its answers and with
// backends that are declared only, so nothing is queried or run.
type releaseSide struct {
	root     string // real path of the directory with its configuration
	top      string // of the repository that it is in, or root
	cfg      *lang.Config
	inputs   map[string]bool       // files that cfg was evaluated from
	warnings diag.List             // of records
	version                        // all its nodes
	cells    map[string]*plan.Cell // of placeholders, by problem
	seen     map[string][]graph.ID // nodes of what solvers see, by problem
	files    map[string]graph.ID   // nodes of all files, by problem; none of one without a directory
	index    *contents
	store    *cache.Memory
}

// contents knows digests of files, and which files have one.
type contents struct {
	mu     sync.Mutex
	byPath map[string]cache.Digest
	paths  map[string][]string // by digest
}

// Digest implements tasks.FileStates.
func (c *contents) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	c.mu.Lock()
	known, ok := c.byPath[path]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	d, err := sumFile(context.Background(), path)
	if err != nil {
		return d, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPath[path] = d
	c.paths[d.String()] = append(c.paths[d.String()], path)
	return d, nil
}

// path returns the file whose content a manifest's value is: of several one in the directory near, then the one whose
// path has the most of the end of the value's label; "" if no file has that content.
func (c *contents) path(value, label, near string) (found string) {
	digest, _, _ := strings.Cut(value, " ")
	longest := -1
	for _, path := range c.paths[digest] {
		same := 0
		for same < min(len(path), len(label)) && path[len(path)-1-same] == label[len(label)-1-same] {
			same++
		}
		if subpath.Contains(near, path) {
			same += len(label) + 1
		}
		if same > longest || same == longest && path < found {
			found, longest = path, same
		}
	}
	return found
}

// loadSide loads a version of a set of problems: a directory, or a commit of g, the repository that the project is in. It
// can be nil if both versions are directories. remove removes what was made for the side.
func loadSide(ctx context.Context, o *Options, g *git, arg string, jobs []string) (s *releaseSide, remove func() error, err error) {
	s = &releaseSide{index: &contents{byPath: map[string]cache.Digest{}, paths: map[string][]string{}}, store: cache.NewMemory()}
	remove = func() error { return nil }
	other := *o
	if o.HasDir(arg) {
		other.Dir = o.Path(arg)
	} else {
		at, err := g.checkOut(ctx, arg)
		if err != nil {
			return nil, remove, notVersion(o, arg, err)
		}
		remove = at.remove
		if other, err = at.options(o, jobs...); err != nil {
			return nil, remove, err
		}
		s.top = at.dir
	}
	if s.root, err = filepath.EvalSymlinks(options.Absolute(other.Dir)); err != nil {
		return nil, remove, err
	}
	if other.Dir = s.root; s.top == "" && g != nil && subpath.Contains(g.dir, s.root) {
		s.top = g.dir
	}
	s.top = cmp.Or(s.top, s.root)
	return s, remove, s.load(&other, arg, jobs)
}

// notVersion returns why an argument that is neither a directory nor, because of err, a commit is not a version.
func notVersion(o *Options, arg string, err error) error {
	info, wrong := os.Stat(o.Path(arg))
	switch {
	case wrong != nil:
		return fmt.Errorf("it is not a directory, and %w", err)
	case info.Mode().IsRegular() && pack.Is(o.Path(arg)):
		return errors.New("it is a pack, which contains answers but not what solvers see; name the directory or commit that it was made from")
	}
	return errors.New("it is a file, not a directory or commit")
}

// jobPaths returns the absolute path of each job once.
func jobPaths(o *Options, jobs []string) (paths []string) {
	for _, job := range jobs {
		if path := options.Absolute(o.Path(job)); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// load reads the configuration of a version, whose name errors contain. A directory without one can have problems of a benchmark.
func (s *releaseSide) load(o *Options, name string, jobs []string) error {
	o.Recorded = jobs
	lo := o.Lang()
	if main := filepath.Join(s.root, lang.MainFile); o.File == "" {
		if _, err := os.Lstat(main); errors.Is(err, fs.ErrNotExist) {
			text := ""
			for _, b := range o.Benchmarks {
				if b.Configure != nil {
					text = cmp.Or(text, b.Configure(s.root))
				}
			}
			if text == "" {
				return fmt.Errorf("it has neither %s nor directories of tasks", lang.MainFile)
			}
			lo.Overlay = func(path string) ([]byte, bool) { return []byte(text), path == main }
		}
	}
	cfg, diags := lang.Load(lo)
	if diags.HasErrors() {
		for i := range diags {
			if diags[i].Range != nil { // its path is the same in both versions
				diags[i].Summary += " in " + name
			}
		}
		return diags
	}
	s.cfg, s.inputs = cfg, map[string]bool{}
	for _, input := range cfg.Inputs {
		if input.Kind == "file" {
			s.inputs[input.Name] = true
		}
	}
	s.warnings = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Range != nil })
	return nil
}

// compile compiles the problems. dir has placeholders; see makePlaceholders.
func (s *releaseSide) compile(o *Options, dir string) (err error) {
	compiled := *s.cfg
	compiled.Solutions, compiled.Suites = nil, []*lang.Suite{s.placeholders(dir)}
	s.plan, err = plan.Compile(&compiled, 1, plan.Environment{
		Store: s.store, States: s.index, Benchmarks: o.Benchmarks, Offline: true,
		LookupEnv: func(name string) (string, bool) { return "${" + name + "}", true }, // a caller's values are no part of a release
		Executor:  s.executor(o),
		Pins:      s.pins,
	})
	if err != nil {
		return err
	}
	s.cells = map[string]*plan.Cell{}
	for _, c := range s.plan.Cells {
		s.cells[c.Problem.Name] = c
		s.targets = append(s.targets, c.Targets()...)
	}
	s.targets = append(s.targets, s.addSeen()...)
	s.pretends, s.rename = true, strings.NewReplacer(s.root, "/set", s.top, "/top")
	return nil
}

// executor makes backends that are declared only. What files of this machine their commands see is known without
// asking one.
func (s *releaseSide) executor(o *Options) func(b *lang.Backend, env []string) (plan.Executor, error) {
	return func(b *lang.Backend, env []string) (plan.Executor, error) {
		var shown func(lines, values []string) []backend.Shown
		at := slices.IndexFunc(o.Kinds, func(k kind.Kind) bool { return k.Name == b.Kind })
		if at >= 0 && b.Commands && !b.Judges && b.Container == nil {
			site := &kind.Site{Root: s.root, Store: s.store, Scratch: options.ScratchDir(), ReadOnly: true, LookupEnv: o.Getenv}
			if made, err := o.Kinds[at].New(site, b, env); err == nil && made.Backend != nil {
				shown = made.Backend.Capabilities().Shown
			}
		}
		x := lang.Extensions{Kinds: kind.Blocks(o.Kinds)}
		return kind.Declared(b, x.Attributes(b), shown), nil
	}
}

// pins returns requirements with the digest of the lock file: only a machine knows which of its sets count.
func (s *releaseSide) pins(_ context.Context, _ backend.Backend, _, requires []string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(s.cfg.Root, LockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return requires, nil
	}
	return append(slices.Clone(requires), "locked by "+cache.SumBytes(text).String()), err
}

// placeholders returns a suite with one answer to each problem, on the backend of the problem's first cell or the first
// backend that can evaluate it.
func (s *releaseSide) placeholders(dir string) *lang.Suite {
	suite := &lang.Suite{Name: "release", Implicit: true}
	on := map[*lang.Problem]*lang.Backend{}
	for _, other := range s.cfg.Suites {
		for _, c := range other.Cells {
			if on[c.Solution.Problem] == nil {
				on[c.Solution.Problem] = c.Backend
			}
		}
	}
	for _, p := range s.cfg.Problems {
		at := slices.IndexFunc(s.cfg.Backends, p.RunsOn)
		if len(p.Invalid) > 0 || on[p] == nil && at < 0 {
			continue
		}
		if on[p] == nil {
			on[p] = s.cfg.Backends[at]
		}
		source := filepath.Join(dir, "answer")
		if p.Judge != nil {
			source += map[bool]string{true: ".py", false: ".cpp"}[p.Judge.Language == lang.LanguagePython]
		}
		answer := &lang.Solution{Name: "answer", Ref: "answer", Problem: p, Missing: "error", Files: "all", IgnoreSyntax: "doublestar"}
		for _, c := range p.Checkpoints {
			answer.Checkpoints = append(answer.Checkpoints, lang.SolutionCheckpoint{Checkpoint: c, Source: source, Entry: cmp.Or(p.Entry, "answer")})
		}
		suite.Cells = append(suite.Cells, lang.Cell{Solution: answer, Backend: on[p], Repeat: 1})
	}
	return suite
}

// makePlaceholders writes the placeholders into a directory.
func makePlaceholders(dir string) error {
	for _, name := range []string{"answer/answer", "answer.py", "answer.cpp"} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o644)); err != nil {
			return exit.With(exit.NotJudged, err)
		}
	}
	return nil
}

// addSeen adds nodes whose manifests list what solvers see, and all files, of each problem.
func (s *releaseSide) addSeen() (ids []graph.ID) {
	s.seen, s.files = map[string][]graph.ID{}, map[string]graph.ID{}
	sources := tasks.Sources{States: s.index, Store: s.store}
	for _, p := range s.cfg.Problems {
		add := func(what string, a tasks.Asset) graph.ID {
			id := s.plan.Graph.Add(graph.Node{Addr: fmt.Sprintf("seen:%q/%s", p.Name, what), Kind: plan.KindMaterialize, Task: tasks.NewMaterialize(a, sources)})
			ids = append(ids, id)
			return id
		}
		shows := p.Shows()
		hidden := tasks.Doublestar(slices.Concat(shows.Grading, shows.Ignored))
		if dir := shows.Directory; dir != "" {
			s.seen[p.Name] = append(s.seen[p.Name], add("files", tasks.Asset{Source: dir, Target: ".", Ignore: append(slices.Concat(shows.Grading, shows.Ignored), ".git/**")}))
			s.files[p.Name] = add("all", tasks.Asset{Source: dir, Target: ".", Ignore: []string{".git/**"}})
		}
		for i, c := range p.Checkpoints {
			rel := inside(shows.Directory, c.Spec)
			if c.Spec != "" && (rel == "" || hidden(rel, false)) && (i == 0 || c.Spec != p.Checkpoints[i-1].Spec) {
				s.seen[p.Name] = append(s.seen[p.Name], add("spec "+c.Name, tasks.Asset{Source: c.Spec, Target: s.cfg.Relative(c.Spec)}))
			}
			for j, a := range c.Assets {
				if p.Pytest != nil && a.From == nil && (a.Owner != "" || i == 0) {
					s.seen[p.Name] = append(s.seen[p.Name], add(fmt.Sprintf("asset %s %d", c.Name, j), tasks.Asset{Source: a.Source, Glob: a.IsGlob, Target: "asset " + a.Name, Ignore: a.Ignore, Mode: a.Mode}))
				}
			}
		}
	}
	return ids
}

// shownPath returns a path for display: relative to the set, or to the repository around it.
func (s *releaseSide) shownPath(path string) string {
	return cmp.Or(inside(s.root, path), inside(s.top, path))
}

// inside returns a path relative to a directory that contains it; "" if the directory does not.
func inside(dir, path string) string {
	rel, _ := subpath.Rel(dir, path)
	return rel
}

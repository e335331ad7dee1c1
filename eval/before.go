package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// A comparison with another commit describes the work tree once, and notes what each node reads. Nodes that read no
// path that the commits differ in, and are configured alike, have one answer in both. The others are described with
// the commit's files, which are checked out for them alone. Where a change can have other effects, on what the
// configuration finds, on backends, or through links, the whole commit is checked out and described.

// earlierCommit is the commit with which a project is compared.
type earlierCommit struct {
	ref, commit string
	git         *git
	changes     *changes
	checkout    *checkedOut // nil until some of its files are needed
}

// open finds the commit, and what changed since.
func (b *earlierCommit) open(ctx context.Context, o *Options) (err error) {
	if b.git, err = cleanRepository(ctx, o); err != nil {
		return err
	}
	if b.commit, err = b.git.commit(ctx, b.ref); err != nil {
		return err
	}
	b.changes, err = b.git.changes(ctx, b.commit)
	return err
}

func (b *earlierCommit) usage(err error) error {
	return exit.With(exit.Usage, fmt.Errorf("--since %s: %w", b.ref, err))
}

// remove removes the files that were checked out.
func (b *earlierCommit) remove() error {
	if b.checkout == nil {
		return nil
	}
	return b.checkout.remove()
}

// checkOut writes files of the commit, and what git does not track of those paths. A nil set means all of them.
func (b *earlierCommit) checkOut(ctx context.Context, p *Project, paths *pathSet) (err error) {
	if b.checkout == nil {
		b.checkout, err = b.git.makeTempDir(ctx, b.ref, b.commit)
	}
	if err == nil {
		err = b.git.fill(ctx, b.checkout, paths)
	}
	if err == nil {
		err = b.git.copyUntracked(ctx, b.checkout, p.state, paths)
	}
	if err != nil {
		return b.usage(err)
	}
	return nil
}

// compileReading compiles every partition of a configuration, to nodes that note what they read.
func (f *freshness) compileReading(cfg *lang.Config, reads *reading, opened []*plan.BackendHandle) (*Project, error) {
	env := f.environment()
	env.Sources, env.Rehydrated = reads.sources, opened
	compiled, err := plan.Compile(cfg, f.options.RunJobs(), env)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return &Project{freshness: f, Plan: compiled, expanded: true, last: f.lasts(), reads: reads}, nil
}

// pretend makes a dry run over all nodes except pinned ones, and gives each a key. rename can be nil.
func (p *Project) pretend(ctx context.Context, rename *strings.Replacer) (*graph.Report, error) {
	if p.reads != nil {
		p.reads.used = true
	}
	nodes := slices.DeleteFunc(p.everyNode(), func(id graph.ID) bool { return p.Plan.Graph.Node(id).Pinned != nil })
	rep, err := p.Plan.Graph.Execute(requirements.AsItIs(ctx), nodes, graph.Options{
		Store:   p.stores.Store,
		Run:     p.run,
		Pools:   p.Plan.Pools,
		Preview: graph.Preview{DryRun: true, Manifests: true, Pretend: true, Rename: rename},
	})
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return rep, context.Cause(ctx)
}

// answers returns the answers that a run of the commit would have. Nodes of the project whose answers are the same are
// pinned to them.
func (b *earlierCommit) answers(ctx context.Context, now *Project, force func(*graph.Node) bool) (*answersBefore, error) {
	was := &answersBefore{Memory: cache.NewMemory()}
	rep, err := now.pretend(ctx, nil)
	if err != nil {
		return nil, err
	}
	then, err := b.project(ctx, now)
	if err != nil {
		return nil, err
	}
	defer then.close()
	same := now.sameAnswers(rep, then.alike, force)
	was.fill(now.Plan.Graph, rep, same)
	for _, id := range same {
		answer := graph.Answer{Class: cache.ClassDone, Outputs: rep.Status(id).Outputs}
		now.Plan.Graph.Pin(id, answer)
		if at, ok := then.Plan.Graph.Lookup(now.Plan.Graph.Node(id).Addr); ok {
			then.Plan.Graph.Pin(at, answer)
		}
	}
	if rep, err = b.pretend(ctx, then); err == nil {
		was.fill(then.Plan.Graph, rep, rep.Nodes)
	}
	return was, err
}

// projectBefore is a project as the commit configures it.
type projectBefore struct {
	*Project                        // reads the files of the work tree, unless its reads are nil
	alike    func(addr string) bool // reports whether a node of the present project is configured as there
	rename   *strings.Replacer      // of paths, to those of the present project; nil if they are the same
	close    func()
}

// pretend makes a dry run over the project as the commit configures it. Nodes that read changed paths get
// the commit's files.
func (b *earlierCommit) pretend(ctx context.Context, then *projectBefore) (rep *graph.Report, err error) {
	if then.reads == nil {
		return then.Project.pretend(ctx, then.rename)
	}
	if !then.reads.used {
		if rep, err = then.Project.pretend(ctx, nil); err != nil {
			return nil, err
		}
	}
	nodes, paths := then.reads.affectedNodes()
	if len(nodes) == 0 && rep != nil {
		return rep, nil
	}
	var rename *strings.Replacer
	if len(nodes) > 0 {
		if err := b.checkOut(ctx, then.Project, newPathSet(paths)); err != nil {
			return nil, err
		}
		rename = strings.NewReplacer(b.checkout.dir, b.checkout.top)
	}
	for _, n := range nodes {
		n.moved = b.checkout.translate
	}
	rep, err = then.Project.pretend(ctx, rename)
	for _, n := range nodes {
		n.moved = nil
	}
	return rep, err
}

// sameAnswers returns the nodes that have the same answer in the dry run of the other commit: nodes that
// are configured alike in both, read no changed path, and depend only on such nodes.
func (p *Project) sameAnswers(rep *graph.Report, alike func(addr string) bool, force func(*graph.Node) bool) (same []graph.ID) {
	g := p.Plan.Graph
	is := make([]bool, g.Len())
	for id := range graph.ID(g.Len()) { // dependencies come first
		n, st := g.Node(id), rep.Status(id)
		is[id] = st.Stale && alike(n.Addr) && !p.reads.nodes[n.Addr].isAffected() && (force == nil || !force(n)) &&
			!slices.ContainsFunc(n.Deps, func(d graph.Dep) bool { return !is[d.On] })
		if is[id] {
			same = append(same, id)
		}
	}
	return same
}

// project returns the project as the commit configures it.
func (b *earlierCommit) project(ctx context.Context, now *Project) (*projectBefore, error) {
	c := b.changes
	root, err := filepath.EvalSymlinks(now.Config.Root)
	if err != nil || root != now.Config.Root || c.whole || c.affect("file", now.lockPath()) || slices.ContainsFunc(now.Plan.Handles(), c.affectBackend) {
		return b.wholeProject(ctx, now)
	}
	then := &projectBefore{Project: now, alike: func(string) bool { return true }, close: func() {}}
	edited, ok := c.editedInputs(now.Config)
	if ok && len(edited) == 0 {
		return then, nil
	}
	var cfg *lang.Config
	if ok {
		if cfg, err = b.configuration(ctx, now, edited); err != nil {
			return nil, err
		}
	}
	if cfg == nil {
		if then, err = b.wholeProject(ctx, now); err != nil {
			return nil, err
		}
		same, _ := sameNodes(then.Config, now, then.rename)
		then.alike = func(addr string) bool { return same[addr] }
		return then, nil
	}
	same, all := sameNodes(cfg, now, nil)
	if all {
		return then, nil
	}
	then.alike = func(addr string) bool { return same[addr] }
	then.Project, err = now.compileReading(cfg, newReading(c, now.call, false), now.Plan.Handles())
	if err == nil && slices.ContainsFunc(then.Plan.Handles(), c.affectBackend) {
		return b.wholeProject(ctx, now)
	}
	return then, err
}

// wholeProject returns the project in a checkout of the whole commit, with no node alike. It has to be closed.
func (b *earlierCommit) wholeProject(ctx context.Context, now *Project) (then *projectBefore, err error) {
	if err := b.checkOut(ctx, now, nil); err != nil {
		return nil, err
	}
	other, err := b.checkout.options(now.options)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	other.LookupEnv, other.Notify = now.secretEnv, nil
	f, err := openWith(ctx, other, Reading, nil)
	var mistakes diag.List
	if errors.As(err, &mistakes) { // as text: these are not errors of the project
		return nil, exit.With(exit.Usage, fmt.Errorf("the configuration at %s has errors, so it cannot be compared: %s", b.ref, text.FirstLine(mistakes.Error())))
	}
	if err != nil {
		return nil, fmt.Errorf("opening the project at %s: %w", b.ref, err)
	}
	f.trust = now.trust
	then = &projectBefore{rename: strings.NewReplacer(f.Config.Root, now.Config.Root, b.checkout.dir, b.checkout.top), alike: func(string) bool { return false }, close: func() { f.Close() }}
	if then.Project, err = f.compile(ctx, true); err != nil {
		then.close()
		return nil, err
	}
	return then, nil
}

// configuration evaluates the commit's configuration in the work tree, with edited, the files that changed since. It is nil
// if it has errors or depends on other changes.
func (b *earlierCommit) configuration(ctx context.Context, now *Project, edited []string) (*lang.Config, error) {
	if err := b.checkOut(ctx, now, newPathSet(edited)); err != nil {
		return nil, err
	}
	o, read := now.options.Lang(), map[string]bool{}
	o.Overlay = func(path string) ([]byte, bool) {
		if !slices.Contains(edited, path) {
			return nil, false
		}
		text, err := os.ReadFile(b.checkout.translate(path))
		read[path] = err == nil
		return text, err == nil
	}
	cfg, found := lang.Load(o)
	if found.HasErrors() {
		return nil, nil
	}
	again, ok := b.changes.editedInputs(cfg)
	if !ok || slices.ContainsFunc(again, func(path string) bool { return !read[path] }) {
		return nil, nil
	}
	return cfg, nil
}

// sameNodes returns the addresses of nodes of a project whose cells another configuration has alike, after rename. all is
// set if nothing else differs, either.
func sameNodes(cfg *lang.Config, now *Project, rename *strings.Replacer) (same map[string]bool, all bool) {
	type place struct{ problem, first string }
	was, is, alike := map[place]string{}, plan.Partitions(now.Config), map[place]bool{}
	others := plan.Partitions(cfg)
	for _, part := range others {
		if content, err := part.Fingerprint(rename); err == nil {
			was[place{part.Problem, part.First}] = string(content)
		}
	}
	for _, part := range is {
		if content, err := part.Fingerprint(nil); err == nil && len(content) > 0 {
			at := place{part.Problem, part.First}
			alike[at] = was[at] == string(content)
		}
	}
	cells, targets := 0, []graph.ID(nil)
	for _, c := range now.Plan.Cells {
		if alike[place{c.Partition.Problem, c.Partition.First}] {
			cells++
			targets = append(targets, c.Targets()...)
		}
	}
	same = map[string]bool{}
	for _, id := range now.Plan.Graph.Closure(targets) {
		same[now.Plan.Graph.Node(id).Addr] = true
	}
	return same, cells == len(now.Plan.Cells) && len(is) == len(others) && sameRest(cfg, now.Config)
}

// sameRest reports whether configurations have the same tasks, and no invalid problem.
func sameRest(a, b *lang.Config) bool {
	rest := func(c *lang.Config) ([]byte, bool) {
		content, err := frozen.Fingerprint(nil, &c.Tasks, nil, reflect.TypeFor[diag.Range]())
		return content, err == nil && !slices.ContainsFunc(c.Problems, func(p *lang.Problem) bool { return len(p.Invalid) > 0 })
	}
	x, known := rest(a)
	y, alsoKnown := rest(b)
	return known && alsoKnown && bytes.Equal(x, y)
}

// affectBackend reports whether a backend's answers can change because its block, or a command, names a
// path that changed, or a directory that one is in. The context and the mounts of a container have nodes.
func (c *changes) affectBackend(h *plan.BackendHandle) bool {
	block := *h.Block
	if block.Container != nil {
		own := *block.Container
		own.Build, own.Mounts = nil, nil
		block.Container = &own
	}
	encoded, err := json.Marshal(block)
	text := string(encoded) + h.Use.Programs + " "
	if err != nil || !strings.Contains(text, c.top) {
		return err != nil
	}
	for at := range c.all.eachPath() {
		if strings.ContainsAny(at, "\"\\<>&") { // they are encoded otherwise
			return true
		}
		if len(at) > len(c.top) && strings.Contains(text, at) {
			return true
		}
	}
	for _, rest := range strings.Split(text, c.top)[1:] { // the whole work tree
		if rest = strings.TrimLeft(rest, "/"); rest == "" || !unicode.IsLetter(rune(rest[0])) && !unicode.IsDigit(rune(rest[0])) && !strings.ContainsRune("._-", rune(rest[0])) {
			return true
		}
	}
	return false
}

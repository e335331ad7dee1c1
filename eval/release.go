package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Release compares two versions of a set of problems, each a directory or a commit, and classifies the answers that
// were recorded in directories. It runs no program and contacts no server that a project names.
func Release(ctx context.Context, o Options, old, new string, jobs []string) (r *release.Release, err error) {
	dir, err := os.MkdirTemp("", "fevalgraph-release-")
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := makePlaceholders(dir); err != nil {
		return nil, err
	}
	var sides [2]*releaseSide
	var g *git
	for _, arg := range []string{old, new} {
		if o.HasDir(arg) || g != nil {
			continue
		}
		if g, err = repository(ctx, options.Absolute(o.ProjectDir())); err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", arg, notVersion(&o, arg, err)))
		}
	}
	for i, arg := range []string{old, new} {
		side, remove, wrong := loadSide(ctx, &o, g, arg, jobPaths(&o, jobs))
		defer func() { err = errors.Join(err, remove()) }()
		if wrong == nil {
			wrong = side.compile(&o, dir)
		}
		if wrong != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("%s: %w", arg, wrong))
		}
		sides[i] = side
	}
	c := &comparison{old: sides[0], new: sides[1]}
	if len(c.old.warnings) > 0 {
		o.Note(options.Warnings{Diagnostics: c.old.warnings})
	}
	err = c.old.decide(ctx, nil)
	if err == nil {
		err = c.new.decide(ctx, &c.old.version)
	}
	if err != nil {
		return nil, err
	}
	problems := c.problems()
	r = release.New(old, new, problems, c.trials(problems))
	r.Tags = c.tags(problems)
	r.Unloadable = c.unloadable(problems)
	return r, nil
}

// comparison compares two versions of a set.
type comparison struct {
	old, new *releaseSide
}

// problems compares those of both versions, by name.
func (c *comparison) problems() (all []release.Problem) {
	old, new := c.old.byName(), c.new.byName()
	for _, name := range slices.Sorted(maps.Keys(new)) {
		all = append(all, c.problem(old[name], new[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if new[name] == nil {
			all = append(all, c.problem(old[name], nil))
		}
	}
	return all
}

// tags returns the images of problems that need not be solved again, if a tag names them.
func (c *comparison) tags(problems []release.Problem) (names []string) {
	now := c.new.byName()
	for _, p := range problems {
		if p.Class == release.Reuse || p.Class == release.Regrade {
			names = append(names, c.new.images(now[p.Name])...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == "" || strings.Contains(name, "@") || strings.HasPrefix(name, "sha256:")
	})
}

// images returns the names of the images of a problem: what it declares, else the one of its backend.
func (s *releaseSide) images(p *lang.Problem) []string {
	names := slices.Clone(p.Shows().Images)
	if p.Command != nil {
		names = append(names, p.Command.Image)
	}
	for _, c := range p.Checkpoints {
		if c.Verifier != nil {
			names = append(names, c.Verifier.Image)
		}
	}
	cell := s.cells[p.Name]
	if strings.Join(names, "") == "" && cell != nil && cell.Backend.Container != nil {
		names = append(names, cell.Backend.Container.Image)
	}
	return names
}

func (s *releaseSide) byName() map[string]*lang.Problem {
	all := map[string]*lang.Problem{}
	for _, p := range s.cfg.Problems {
		all[p.Name] = p
	}
	return all
}

// problem compares two versions of a problem. One can be nil.
func (c *comparison) problem(old, new *lang.Problem) release.Problem {
	switch {
	case old == nil:
		return release.Problem{Name: new.Name, Class: release.Added, Checkpoints: checkpointsAs(new, release.Added), Version: release.CompareVersions("", new.Release, release.Added, true)}
	case new == nil:
		return release.Problem{Name: old.Name, Class: release.Removed, Checkpoints: checkpointsAs(old, release.Removed), Version: release.CompareVersions(old.Release, "", release.Removed, true)}
	}
	p := release.Problem{Name: new.Name, Class: release.Reuse}
	before, after := c.old.problemFields(old), c.new.problemFields(new)
	why := unloadableSide(old, new)
	if why != nil {
		p.Checkpoints = []release.Checkpoint{{Class: release.Rerun, Reason: why}}
	} else if c.old.cells[old.Name] == nil || c.new.cells[new.Name] == nil {
		p.Checkpoints = []release.Checkpoint{c.uncompiled(before, after)}
	} else {
		p.Checkpoints = c.checkpoints(old, new, before, after)
	}
	for _, one := range p.Checkpoints {
		p.Class = release.Worse(p.Class, one.Class.OfWhole())
		if one.Reason != nil && one.Reason.File == "" && why == nil {
			one.Reason.File = c.describedIn(old, new)
		}
	}
	p.Version = release.CompareVersions(old.Release, new.Release, p.Class, c.edited(new.Name))
	return p
}

// unloadable returns the problems that neither version can load.
func (c *comparison) unloadable(problems []release.Problem) (names []string) {
	old, new := c.old.byName(), c.new.byName()
	for _, p := range problems {
		was, is := old[p.Name], new[p.Name]
		if was != nil && is != nil && len(was.Invalid) > 0 && len(is.Invalid) > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// unloadableSide returns why only one version of a problem can be loaded, with the path; nil if both or neither can. What
// solvers of such a version see is unknown.
func unloadableSide(old, new *lang.Problem) *release.Reason {
	switch {
	case len(old.Invalid) == 0 && len(new.Invalid) > 0:
		return &release.Reason{What: "it cannot be loaded: " + text.FirstLine(new.Invalid.Error())}
	case len(old.Invalid) > 0 && len(new.Invalid) == 0:
		return &release.Reason{What: "the old version cannot be loaded: " + text.FirstLine(old.Invalid.Error())}
	}
	return nil
}

// describedIn returns the file that a setting which changed is from: if the configuration is the same, the one of the
// problem that differs and that the configuration was evaluated from. "" is not known.
func (c *comparison) describedIn(old, new *lang.Problem) string {
	before, ok := c.old.files[old.Name]
	after, also := c.new.files[new.Name]
	if !ok || !also || !maps.Equal(c.old.configuration(), c.new.configuration()) {
		return ""
	}
	for _, ch := range graph.Diff(c.old.fields(before), c.new.fields(after)) {
		at := filepath.Join(new.Shows().Directory, strings.TrimPrefix(ch.Field, "file "))
		if c.new.inputs[at] {
			return c.new.shownPath(at)
		}
	}
	return ""
}

// configuration returns the texts of the files that the configuration is written in, by name.
func (s *releaseSide) configuration() map[string]string {
	texts := map[string]string{}
	for _, input := range s.cfg.Inputs {
		if input.Kind != "hcl" {
			continue
		}
		text, _ := os.ReadFile(input.Name) // a configuration that was made up has no file
		texts[s.shownPath(input.Name)] = string(text)
	}
	return texts
}

// checkpointsAs returns the checkpoints of a problem that one version has.
func checkpointsAs(p *lang.Problem, class release.Class) (all []release.Checkpoint) {
	for _, cp := range p.Checkpoints {
		all = append(all, release.Checkpoint{Name: cp.Name, Class: class})
	}
	return all
}

// edited reports whether any file of a problem differs.
func (c *comparison) edited(problem string) bool {
	before, ok := c.old.files[problem]
	after, also := c.new.files[problem]
	return ok != also || ok && c.old.rep.Status(before).Key != c.new.rep.Status(after).Key
}

// checkpoints compares those of a problem that is compiled in both versions. What solvers see of one they see from it on.
func (c *comparison) checkpoints(old, new *lang.Problem, before, after *problemFields) (all []release.Checkpoint) {
	was, is := c.old.cells[old.Name], c.new.cells[new.Name]
	var seen *release.Reason
	for _, one := range is.Checkpoints {
		name := one.Checkpoint.Name
		if seen == nil {
			seen = c.reason(graph.Diff(before.seen[name], after.seen[name]), before, after)
		}
		cp := release.Checkpoint{Name: name, Class: release.Reuse}
		at := slices.IndexFunc(was.Checkpoints, func(cc plan.CellCheckpoint) bool { return cc.Checkpoint.Name == name })
		switch {
		case at < 0:
			cp.Class, cp.Reason = release.Added, &release.Reason{What: "the checkpoint is new"}
		case seen != nil:
			cp.Class, cp.Reason = release.Rerun, seen
		default:
			if cp.Reason = c.reason(graph.Diff(before.rules, after.rules), before, after); cp.Reason == nil {
				cp.Reason = c.graded(was.Checkpoints[at].Aggregate, one.Aggregate, before, after)
			}
			if cp.Reason != nil {
				cp.Class = release.Regrade
			}
		}
		all = append(all, cp)
	}
	for _, one := range was.Checkpoints {
		if !slices.ContainsFunc(all, func(cp release.Checkpoint) bool { return cp.Name == one.Checkpoint.Name }) {
			all = append(all, release.Checkpoint{Name: one.Checkpoint.Name, Class: release.Removed, Reason: &release.Reason{What: "the checkpoint is gone"}})
		}
	}
	return all
}

// uncompiled compares a problem that cannot be compiled in a version by its files alone.
func (c *comparison) uncompiled(before, after *problemFields) release.Checkpoint {
	cp := release.Checkpoint{Class: release.Reuse}
	if cp.Reason = c.reason(graph.Diff(before.all(), after.all()), before, after); cp.Reason != nil {
		cp.Class = release.Rerun
	} else if cp.Reason = c.reason(graph.Diff(before.gradingAlone(), after.gradingAlone()), before, after); cp.Reason != nil {
		cp.Class = release.Regrade
	}
	return cp
}

// fields returns the fields of a node that depend on the content of files.
func (s *releaseSide) fields(id graph.ID) []graph.Field {
	st := s.rep.Status(id)
	fields, err := graph.DecodeManifest(st.Manifest)
	if st.Key.IsZero() || err != nil {
		_, what, _ := strings.Cut(s.plan.Graph.Node(id).Addr, `"/`)
		return []graph.Field{{Label: what, Value: s.failure(st)}}
	}
	return slices.DeleteFunc(fields, func(f graph.Field) bool { return f.Label == "kind" || f.Label == "recipe" })
}

// graded returns why a verdict depends on something else than before; nil if it does not.
func (c *comparison) graded(old, new graph.ID, before, after *problemFields) *release.Reason {
	was, is := c.old.rep.Status(old), c.new.rep.Status(new)
	switch {
	case was.Key.IsZero() && is.Key.IsZero() && len(before.gradingAlone())+len(after.gradingAlone()) > 0: // files are all there is
		return c.reason(graph.Diff(before.gradingAlone(), after.gradingAlone()), before, after)
	case was.Key.IsZero():
		return &release.Reason{What: "the old version cannot be graded: " + c.old.failure(was)}
	case is.Key.IsZero():
		return &release.Reason{What: "it cannot be graded: " + c.new.failure(is)}
	case was.Key == is.Key:
		return nil
	}
	var changed, others []event.Change // of nodes of both versions, and of nodes of one
	g := c.new.plan.Graph
	for _, id := range g.Closure([]graph.ID{new}) {
		switch st := c.new.rep.Status(id); {
		case !st.Stale || st.Category == event.CauseFollows:
		case st.Category == event.CauseNew:
			others = append(others, graph.Diff(nil, c.new.fields(id))...)
		default:
			changed = append(changed, st.Changes...)
		}
	}
	for _, id := range c.old.plan.Graph.Closure([]graph.ID{old}) {
		if _, ok := g.Lookup(c.old.plan.Graph.Node(id).Addr); !ok {
			others = append(others, graph.Diff(c.old.fields(id), nil)...)
		}
	}
	reason := c.reason(changed, before, after)
	if reason == nil || reason.File == "" {
		if other := c.reason(slices.DeleteFunc(others, func(ch event.Change) bool { return c.inBoth(ch, before, after) }), before, after); other != nil && (reason == nil || other.File != "") {
			reason = other
		}
	}
	if reason == nil {
		reason = &release.Reason{What: "its nodes differ"}
	}
	return reason
}

// inBoth reports whether a file that a node has in one version is in the other version, too.
func (c *comparison) inBoth(ch event.Change, before, after *problemFields) bool {
	at, in := inside(c.old.top, c.old.index.path(ch.Old, ch.Field, before.dir)), c.new.top
	if ch.Old == "" {
		at, in = inside(c.new.top, c.new.index.path(ch.New, ch.Field, after.dir)), c.old.top
	}
	_, err := os.Lstat(filepath.Join(in, at))
	return at != "" && err == nil
}

// failure returns why a node has no key: its own inputs, or the inputs of a dependency.
func (s *releaseSide) failure(st *graph.Status) string {
	if id, ok := s.plan.Graph.Lookup(st.Culprit); ok {
		st = s.rep.Status(id)
	}
	return strings.NewReplacer(s.root+string(filepath.Separator), "", s.top+string(filepath.Separator), "").Replace(cmp.Or(st.Message, st.Cause))
}

// presentable reports whether a change can be shown: digests of outputs mean nothing to users.
func presentable(ch event.Change) bool { return ch.Via == "" && !isDigest(ch.Old) && !isDigest(ch.New) }

func isDigest(value string) bool {
	var d cache.Digest
	return d.UnmarshalText([]byte(value)) == nil
}

// reason picks the change that decides: one of a file, if there is any.
func (c *comparison) reason(changes []event.Change, before, after *problemFields) *release.Reason {
	if len(changes) == 0 {
		return nil
	}
	files, others := map[string]*release.Reason{}, map[string]bool{}
	var first *release.Reason
	for _, ch := range changes {
		old, new := c.old.index.path(ch.Old, ch.Field, before.dir), c.new.index.path(ch.New, ch.Field, after.dir)
		if old == "" && new == "" {
			if ch.Via == "" {
				others[ch.Field] = true
			}
			continue
		}
		one := c.changedFile(ch, old, new)
		if files[one.File] == nil {
			files[one.File] = one
		}
		if first == nil {
			first = one
		}
	}
	if first == nil {
		at := max(0, slices.IndexFunc(changes, presentable))
		first = &release.Reason{What: graph.ChangeText(changes[at])}
		first.More = len(others) - 1
	} else {
		first.More = len(files) - 1 + len(others)
	}
	first.More = max(first.More, 0)
	return first
}

// changedFile describes the change of a file, whose path is "" in a version that lacks it.
func (c *comparison) changedFile(ch event.Change, old, new string) *release.Reason {
	one := &release.Reason{File: c.new.shownPath(new), What: "changed"}
	switch {
	case old == "":
		one.What = "added"
	case new == "":
		one.File, one.What = c.old.shownPath(old), "removed"
	case strings.HasPrefix(ch.Field, "file "):
		one.What = strings.TrimPrefix(graph.ChangeText(ch), strings.TrimPrefix(ch.Field, "file ")+" ")
	}
	if one.File == "" { // outside of the set
		one.File = filepath.Base(new + old)
	}
	return one
}

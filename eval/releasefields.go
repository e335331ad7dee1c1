package eval

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// problemFields are the fields of what solvers see of a problem, and of what grades.
type problemFields struct {
	dir     string                   // of its files; "" has none
	seen    map[string][]graph.Field // by the checkpoint before which no solver sees it
	rules   []graph.Field
	grading []graph.Field // files
	read    []graph.Field // files that the configuration was evaluated from, and that are neither of these
}

// all returns the fields of what solvers see.
func (s *problemFields) all() (all []graph.Field) {
	for _, name := range slices.Sorted(maps.Keys(s.seen)) {
		all = append(all, s.seen[name]...)
	}
	return all
}

// gradingAlone returns the fields of what grades a problem that has no nodes with keys. Without its rules, each file
// that the configuration was evaluated from can have some: errors that are found late leave limits without a field.
func (s *problemFields) gradingAlone() []graph.Field {
	if len(s.rules) == 0 {
		return slices.Concat(s.grading, s.read)
	}
	return slices.Concat(s.rules, s.grading)
}

// problemFields collects the fields of a problem.
func (s *releaseSide) problemFields(p *lang.Problem) *problemFields {
	shows := p.Shows()
	all := &problemFields{dir: shows.Directory, seen: map[string][]graph.Field{}}
	first := ""
	if len(p.Checkpoints) > 0 {
		first = p.Checkpoints[0].Name
	}
	add := func(f graph.Field) {
		at := s.seenFrom(p, shows, strings.TrimPrefix(f.Label, "file "), first)
		all.seen[at] = append(all.seen[at], f)
	}
	for _, id := range s.seen[p.Name] {
		for _, f := range s.fields(id) {
			add(f)
		}
	}
	for _, set := range shows.Settings {
		add(graph.Field{Label: set.Name, Value: set.Value})
	}
	if p.Entry != "" {
		add(graph.Field{Label: "entry", Value: p.Entry})
	}
	for _, rule := range shows.Rules {
		all.rules = append(all.rules, graph.Field{Label: rule.Name, Value: rule.Value})
	}
	if id, ok := s.files[p.Name]; ok {
		grades := tasks.Doublestar(shows.Grading)
		for _, f := range s.fields(id) {
			switch name := strings.TrimPrefix(f.Label, "file "); {
			case grades(name, false):
				all.grading = append(all.grading, f)
			case s.inputs[filepath.Join(shows.Directory, name)]:
				all.read = append(all.read, f)
			}
		}
	}
	return all
}

// seenFrom returns the checkpoint from which solvers see a file or setting.
func (s *releaseSide) seenFrom(p *lang.Problem, shows *lang.Seen, name, first string) string {
	for _, from := range shows.From {
		known := slices.ContainsFunc(p.Checkpoints, func(c *lang.Checkpoint) bool { return c.Name == from.Name })
		if known && tasks.Doublestar([]string{from.Value})(name, false) {
			return from.Name
		}
	}
	for _, c := range p.Checkpoints {
		if c.Spec != "" && (inside(shows.Directory, c.Spec) == name || s.cfg.Relative(c.Spec) == name) {
			return c.Name
		}
	}
	return first
}

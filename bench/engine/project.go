package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// configuration is the configuration of a synthetic project.
const configuration = `problem "p" {
  for_each = toset([for file in fileset("problems", "*/tests/conftest.py") : dirname(dirname(file))])
  entry    = "python main.py"

  pytest {
    root = "problems/${each.key}/tests"
  }

%s
  pass { policy = "core-cases" }
}

solution "s" {
  for_each = { for file in fileset("solutions", "*/*/main.py") : dirname(file) => dirname(dirname(file)) }
  name     = basename(each.key)
  problem  = problem.p[each.value]
  source   = "solutions/${each.key}"
}
`

// project is a synthetic project on disk.
type project struct {
	shape
	dir  string
	home string // contains HOME and the store
	bin  string // directory of fevalgraph
}

// openProject makes the project for the options, unless it exists.
func openProject(o options) (*project, error) { return openShape(o, shapeFor(o.nodes)) }

func openShape(o options, s shape) (*project, error) {
	dir := filepath.Join(o.work, fmt.Sprintf("project-%d-%d-%d", s.problems, s.checkpoints, s.solutions))
	p := &project{shape: s, dir: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), bin: o.bin}
	done := filepath.Join(dir, "made")
	if _, err := os.Stat(done); err == nil {
		return p, nil
	}
	if err := p.make(); err != nil {
		return nil, fmt.Errorf("making a project of %s: %w", s, err)
	}
	return p, os.WriteFile(done, nil, 0o644)
}

func (p *project) make() error {
	var checkpoints strings.Builder
	for c := range p.checkpoints {
		fmt.Fprintf(&checkpoints, "  checkpoint %q {}\n", checkpointName(c))
	}
	files := map[string]string{
		"fevalgraph.hcl": fmt.Sprintf(configuration, checkpoints.String()),
	}
	for _, name := range p.files() {
		files[name] = "# fake: test_a passed\n# " + name + "\n"
	}
	standIn, err := os.ReadFile(filepath.Join(p.bin, "standin"))
	if err != nil {
		return err
	}
	for _, name := range []string{"tools/uv", "tools/uvx"} {
		files[name] = string(standIn)
	}
	if err := writeFiles(p.dir, files); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(p.home, "tmp"), 0o755)
}

// writeFiles writes files below a directory, by their slash-separated paths. Files below tools are executable.
func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(name, "tools/") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			return err
		}
	}
	return nil
}

// environ returns the environment of fevalgraph.
func (p *project) environ() []string {
	return []string{
		"PATH=" + filepath.Join(p.dir, "tools") + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home,
		"FEVALGRAPH_ISOLATION=none", // as for the other contenders
		"TMPDIR=" + filepath.Join(p.home, "tmp"), "FEVALGRAPH_CACHE_DIR=" + filepath.Join(p.home, "store"),
	}
}

// edit changes a source file of a solution, a different one in each round.
func (p *project) edit(round int) error {
	name := sources(round%p.problems, (round/p.problems)%p.solutions)[0]
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "# %d %d\n", round, time.Now().UnixNano())
	return errors.Join(err, f.Close())
}

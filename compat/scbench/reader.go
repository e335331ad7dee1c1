package scbench

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// block is the name of the blocks that read SlopCodeBench's own files.
const block = "slopcodebench"

// servers are problems whose servers listen on ports that cannot be chosen.
var servers = map[string][]int{"eve_market_tools": {8000}, "trajectory_api": {8080}}

func readers() []lang.Reader {
	path := lang.AttributeSchema{Name: "path", Type: lang.TypeText, Path: true, Required: true, Doc: "Directory of the problem, which has its config.yaml."}
	run := lang.AttributeSchema{Name: "run", Type: lang.TypeText, Path: true, Default: `""`, Doc: "An agent's run directory, RUN/<problem>/<checkpoint>/snapshot. Empty is the problem's own solutions."}
	environment := lang.AttributeSchema{Name: "environment", Type: lang.TypeText, Path: true, Default: `""`, Doc: "File with the environment's commands. The default is the run's environment.yaml, else the checkout's configs/environments/local-py.yaml."}
	own := []lang.AttributeSchema{path, run, environment}
	for i := range own {
		own[i].Required, own[i].Default = false, ""
		own[i].Doc += " The default is the problem's."
	}
	return []lang.Reader{
		{
			Owner: "problem", Driver: "pytest", Read: readProblem,
			Block: lang.BlockSchema{
				Name: block, Doc: "Reads a problem of SlopCodeBench from its config.yaml; attributes and blocks next to it win.",
				Attributes: []lang.AttributeSchema{
					path, run, environment,
					{Name: "type", Type: lang.TypeText, Default: `"local"`, Values: []string{"local", "docker"}, Doc: "Type of environments whose variables are set."},
				},
			},
		},
		{
			Owner: "solution", Read: readSolution,
			Block: lang.BlockSchema{
				Name: block, Doc: "Reads a solution of SlopCodeBench: the problem's own, or one in an agent's run directory. Replaces everything but problem.",
				Attributes: own,
			},
		},
	}
}

// readProblem reads a problem's directory.
func readProblem(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	dir := given["path"]
	c := openConfig(files, filepath.Join(dir, "config.yaml"))
	e, wrong := readEnvironment(files, given)
	if wrong != nil {
		c.Mistakes = append(c.Mistakes, *wrong)
	}
	name := filepath.Base(dir)
	own := conversionOf(files, dir, c)
	if c.Root == nil || wrong != nil {
		return &lang.Made{Attributes: map[string]any{"name": name}}, c.Mistakes
	}
	entry := c.text(c.Root, "entry_file", "entry_file")
	c.text(c.Root, "name", "name")
	c.text(c.Root, "description", "description")
	made := &lang.Made{Attributes: map[string]any{
		"name": name, "title": name, "version": c.version(c.Root, "version"),
		"tags": c.tags(), "entry": strings.TrimSpace(strings.ReplaceAll(e.entry, "{entry_file}", entry)),
		"env": merged(e.variables(given["type"]), c.variables(c.Root, "env", "env")),
		// SlopCodeBench's limit is for each test; it has none for the session.
		"session_timeout": "2h",
	}}
	if own.Limit > 0 {
		made.Attributes["session_timeout"] = fmt.Sprintf("%gs", own.Limit)
	}
	for _, key := range []string{"author", "category", "difficulty"} {
		if n := document.At(c.Root, key); n != nil && n.Tag != document.Null {
			made.Attributes[key] = n.Value
		}
	}
	if level := document.At(c.Root, "difficulty"); level != nil && level.Tag != document.Null && !isOneOf(level.Value, "Easy", "Medium", "Hard") {
		c.Fail(level, "difficulty must be Easy, Medium or Hard")
	}
	made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "pytest", Made: lang.Made{Attributes: map[string]any{
		"root": filepath.Join(dir, "tests"), "directory": ".evaluation_tests", "asset_paths": "relative", "missing_tests": "skip", "skipped_tests": skippedTests(dir),
		"requires": c.list(c.Root, "test_dependencies"), "ports": servers[name],
	}}})
	made.Blocks = append(made.Blocks, c.markers(registered(files, dir))...)
	for _, asset := range c.assets() {
		made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "asset", Labels: []string{asset.name}, At: asset.at,
			Made: lang.Made{Attributes: map[string]any{"source": filepath.Join(dir, asset.path)}}})
	}
	for _, checkpoint := range c.checkpoints(own) {
		checkpoint.Attributes["spec"] = filepath.Join(dir, checkpoint.Labels[0]+".md")
		made.Blocks = append(made.Blocks, checkpoint)
	}
	made.Blocks = append(made.Blocks, c.seenBlock(), lang.MadeBlock{Kind: "pass", Made: lang.Made{Attributes: map[string]any{"policy": "core-cases"}}})
	return made, c.Mistakes
}

// skippedTests returns how the benchmark's programs for a layout treat skipped tests: the runner of
// a checkout with problems/ counts them, and the converter of problems with separate repositories
// leaves them out of totals.
func skippedTests(dir string) string {
	if filepath.Base(filepath.Dir(dir)) == "problems" {
		return "count"
	}
	return "omit"
}

// readSolution reads what there is of a problem's own solution, or of an agent's run. Errors
// of config.yaml are the problem's.
func readSolution(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	dir := given["path"]
	if dir == "" {
		return nil, diag.List{{Code: "missing-attribute", Summary: "Missing attribute", Detail: "The problem to read is not specified.",
			Hint: "its path is that of the " + block + " block of the problem, or written here"}}
	}
	c := openConfig(files, filepath.Join(dir, "config.yaml"))
	e, wrong := readEnvironment(files, given)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	name := filepath.Base(dir)
	setup := e.setup
	if len(servers[name]) > 0 { // tests have no network but their own, and uv run would fetch at its first call
		setup = append(setup, "uv sync")
	}
	ignore := append(e.ignore, "tests/assets", "tests/assets/*")
	for _, asset := range c.assets() { // a snapshot leaves out what lies where the problem's assets go
		ignore = append(ignore, asset.saved, asset.saved+"/*")
	}
	made := &lang.Made{Attributes: map[string]any{
		"name": "reference", "missing": "omit", "files": "plain", "ignore": ignore, "ignore_syntax": "fnmatch", "setup": setup,
	}}
	if given["run"] != "" {
		made.Attributes["name"], made.Attributes["missing"] = "agent", "skip" // a checkpoint that the agent never reached
	}
	sources := lang.ByCheckpoint{}
	for _, checkpoint := range document.Keys(document.At(c.Root, "checkpoints")) {
		own := filepath.Join(dir, "solutions", checkpoint)
		switch whole := filepath.Join(dir, "solution"); {
		case given["run"] != "":
			own = filepath.Join(given["run"], name, checkpoint, "snapshot")
		case !files.Exists(own) && files.Exists(whole):
			own = whole // newer problems have one solution of all checkpoints
		}
		sources[checkpoint] = own
	}
	made.Attributes["source"] = sources
	return made, nil
}

// environment is the content of SlopCodeBench's environment files.
type environment struct {
	kind   string
	env    map[string]string
	setup  []string
	entry  string // with {entry_file}
	ignore []string
}

// variables returns the variables for cells of a type of environment.
func (e *environment) variables(kind string) map[string]string {
	if e.kind != kind {
		return nil
	}
	return e.env
}

// readEnvironment reads the first environment file that there is.
func readEnvironment(files *lang.ReaderFiles, given map[string]string) (*environment, *diag.Diagnostic) {
	candidates := []string{given["environment"]}
	if given["environment"] == "" {
		candidates = nil
		if given["run"] != "" {
			candidates = append(candidates, filepath.Join(given["run"], "environment.yaml"))
		}
		above := filepath.Dir(given["path"])
		for _, root := range []string{filepath.Dir(above), above} { // problems/NAME, or NAME
			candidates = append(candidates, filepath.Join(root, "configs", "environments", "local-py.yaml"))
		}
	}
	e := &environment{ // SlopCodeBench's local environment
		setup: []string{"uv init", "uv add -r requirements.txt"}, entry: "uv run {entry_file}.py",
		ignore: []string{"*.pyc", "venv/*", ".venv/*", ".evaluation_tests/*"},
	}
	for _, path := range candidates {
		if path != given["environment"] && !files.Exists(path) {
			continue
		}
		f := document.OpenYAML(files, path)
		if f.Root == nil {
			return nil, &f.Mistakes[0]
		}
		return e.merged(f.Root), nil
	}
	return e, nil
}

func isOneOf(text string, all ...string) bool {
	for _, one := range all {
		if one == text {
			return true
		}
	}
	return false
}

// merged returns the union of variables; later ones win.
func merged(all ...map[string]string) map[string]string {
	union := map[string]string{}
	for _, one := range all {
		for name, value := range one {
			union[name] = value
		}
	}
	return union
}

// asset is a static asset of a problem.
type asset struct {
	name, path, saved string
	at                diag.Range
}

func (c *config) assets() []asset {
	var all []asset
	assets := document.At(c.Root, "static_assets")
	for _, name := range document.Keys(assets) {
		n := document.At(assets, name)
		path := document.Scalar(document.At(n, "path"), "")
		if path == "" {
			c.Fail(n, fmt.Sprintf("static_assets.%s.path is missing", name))
			continue
		}
		all = append(all, asset{name: name, path: path, saved: document.Scalar(document.At(n, "save_path"), path), at: c.Place(n)})
	}
	return all
}

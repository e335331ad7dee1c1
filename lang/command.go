package lang

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Command is the command driver of a problem. Its assets are those of the problem's checkpoint, with targets
// relative to the workspace.
type Command struct {
	Root      string   // absolute path of the directory with the problem's files
	Directory string   `hcl:"directory"` // in the workspace, for files and commands; "." or clean
	Ignore    []string `hcl:"ignore"`
	Solution  string   `hcl:"solution"` // path of a solution in the workspace
	Import    string   // how a grader that imports the solution runs it: ImportSeparate, ImportDirect or ""
	// ImportReads are files and directories of the workspace that a solution with
	// ImportSeparate can read, clean and sorted.
	ImportReads []string
	Confined    bool          // solutions with ImportSeparate are confined like programs, too
	Setup       []string      `hcl:"setup"`
	Argv        []string      // the program, or a shell with Run as its script
	Env         []EnvVar      `hcl:"env"` // sorted by name
	Timeout     time.Duration `hcl:"timeout"`
	Offline     bool
	GPU         bool `hcl:"gpu"`
	// UVProject is a Python project in the workspace in whose environment the program runs; "" means none.
	// UVSource is the absolute path of its files, and UVOverrides a file in it, or "".
	UVProject, UVSource, UVOverrides string
	Image                            string // for docker backends; "" means the backend's own
	Dind                             bool   // mount the socket of their daemon
	Score                            ScoreRule
	Range                            diag.Range
}

// ScoreRule specifies the location of a score. Its fields are those of the score block, including
// defaults.
type ScoreRule struct {
	From             string `hcl:"from"`
	File             string `hcl:"file"`
	Pointer          string `hcl:"pointer"`
	PointerUnbounded string `hcl:"pointer_unbounded"`
	Pattern          string `hcl:"pattern"`
	Marker           string `hcl:"marker"`
	Compat           string `hcl:"compat"`

	AnyExit bool // a score counts regardless of the program's exit code
}

// command reads the command driver of a problem and checks that its files exist.
func (b *block) command() *Command {
	c := &Command{Range: convertRange(b.header)}
	if root, g := b.path("root"); g == isSet && b.isDirectory("root", root, "it is relative to "+b.l.show(b.src.path)) {
		c.Root = root
	}
	b.fill(c)
	c.Import, c.ImportReads, c.Confined = b.imports()
	if ext := path.Ext(c.Solution); c.Import == ImportSeparate && ext != "" && ext != ".py" {
		b.reject("import", "bad-value", "Not a Python module", fmt.Sprintf("import = %q is for solutions that are Python modules, and %s is not a module.", c.Import, c.Solution), "remove it")
	}
	c.Argv = b.program()
	network, _ := b.text("network")
	c.Offline = network == networkNone
	if d := b.singleBlock("docker"); d != nil {
		c.Image, _ = d.text("image")
		gpu, _ := d.truth("gpu")
		c.GPU = c.GPU || gpu
		c.Dind, _ = d.truth("dind")
	}
	c.Score = b.scoreRule()
	return c
}

// imports reads how a solution that a grader or tests import runs, and which files it can read.
func (b *block) imports() (how string, clean []string, confined bool) {
	how, _ = b.text("import")
	programs, g := b.text("programs")
	if g == isSet && how != ImportSeparate {
		b.reject("programs", "missing-attribute", "Attribute does not apply", fmt.Sprintf("It requires import = %q: otherwise the solution's files are started unchanged.", ImportSeparate), `write import = "separate", or remove it`)
	}
	reads, _ := b.texts("import_reads")
	if len(reads) > 0 && how != ImportSeparate {
		b.reject("import_reads", "missing-attribute", "Attribute does not apply", fmt.Sprintf("It requires import = %q: otherwise the solution can read the same files as the program.", ImportSeparate), `write import = "separate", or remove it`)
	}
	for _, read := range reads {
		if !isRelativeInside(read) || strings.Contains(read, ":") {
			b.reject("import_reads", "bad-path", "Bad path", fmt.Sprintf("import_reads must have plain relative paths inside the workspace, not %q.", read), "no leading \"/\", no \"..\" and no \":\"")
			continue
		}
		clean = append(clean, path.Clean(read))
	}
	slices.Sort(clean)
	return how, clean, programs == programsConfined
}

// commandIgnore is the default of ignore for command problems.
const commandIgnore = `["**/__pycache__/**", "**/*.pyc"]`

// Ignoring returns Ignore as a list of the language, or "" if it is the default.
func (c *Command) Ignoring() string {
	quoted := make([]string, len(c.Ignore))
	for i, pattern := range c.Ignore {
		quoted[i] = strconv.Quote(pattern)
	}
	if list := "[" + strings.Join(quoted, ", ") + "]"; list != commandIgnore {
		return list
	}
	return ""
}

// program reads the command: a program, or a line for the shell.
func (b *block) program() []string {
	argv, g := b.texts("argv")
	shell, names, lines := "run", "argv and run", 0
	if b.schema.Attribute("command") != nil {
		shell, names = "command", "argv, command and run"
	}
	line := ""
	for _, name := range slices.Compact([]string{shell, "run"}) {
		switch text, gt := b.text(name); gt {
		case isFailed:
			return nil
		case isSet:
			shell, line, lines = name, text, lines+1
		}
	}
	if g == isFailed {
		return nil
	}
	if g == isSet && lines > 0 || g != isSet && lines != 1 {
		b.fail(finding{
			code: "missing-attribute", summary: "Invalid combination of attributes", rng: b.header,
			detail: fmt.Sprintf("A %s block has exactly one of %s.", b.schema.Name, names),
			hint:   fmt.Sprintf(`write argv = ["bash", "evaluate.sh"], or %s = "./evaluate.sh" for the shell`, shell),
		})
		return nil
	}
	if lines > 0 {
		if strings.TrimSpace(line) == "" {
			b.reject(shell, "bad-value", "Nothing to run", shell+" is empty.", "")
		}
		return []string{"/bin/sh", "-c", line}
	}
	if len(argv) == 0 || argv[0] == "" {
		b.reject("argv", "bad-value", "Nothing to run", "argv contains no program.", "")
	}
	return argv
}

// programFile checks that a program of the problem exists and is executable. If set-up commands or assets
// can provide it, errors show only when it runs.
func (b *block) programFile(c *Command, assets []Asset) {
	if len(c.Argv) == 0 || len(assets) > 0 {
		return
	}
	name := c.Argv[0]
	if !strings.Contains(name, "/") || path.IsAbs(name) || len(c.Setup) > 0 || c.Root == "" || !filepath.IsLocal(name) {
		return
	}
	file := filepath.Join(c.Root, filepath.FromSlash(name))
	b.l.input("exists", file)
	info, err := os.Stat(file)
	switch {
	case isMissing(err):
		b.reject("argv", "missing-file", "Missing program", fmt.Sprintf("%q not found.", b.l.show(file)), "argv[0] is relative to directory, where the files of root are")
	case err != nil:
		b.reject("argv", "unreadable-file", "Unreadable file", pathReason(b.l.show(file), err), "")
	case info.Mode().IsRegular() && info.Mode()&0o111 == 0:
		b.reject("argv", "not-executable", "Not executable", fmt.Sprintf("%q is not executable.", b.l.show(file)), fmt.Sprintf("make it executable, or write argv = [\"bash\", %q]", name))
	case !info.Mode().IsRegular():
		b.reject("argv", "not-a-file", "Not a file", fmt.Sprintf("%q is not a file.", b.l.show(file)), "")
	}
}

// scoreRule reads the score block, or returns the defaults.
func (b *block) scoreRule() ScoreRule {
	s := b.singleBlock("score")
	if s == nil {
		return ScoreRule{From: scoreFromStdout, Compat: "safe"}
	}
	var r ScoreRule
	s.fill(&r)
	exit, _ := s.text("exit_status")
	r.AnyExit = exit == exitAny || r.Compat != "safe" || r.From == scoreFromExit
	if r.From == ScoreFromFile && s.attrs["file"] == nil {
		s.fail(finding{code: "missing-attribute", summary: "Missing attribute", rng: s.header, detail: `With from = "file" the score block needs the attribute "file".`})
	}
	s.scoreUses(r)
	if compiled, err := regexp.Compile(r.Pattern); r.Pattern != "" && err == nil && compiled.SubexpIndex("score") < 0 {
		s.reject("pattern", "bad-pattern", "Pattern without a score", fmt.Sprintf("%q has no group named score.", r.Pattern), `put (?P<score>…) around the number`)
	}
	return r
}

// scoreUses reports attributes without effect.
func (b *block) scoreUses(r ScoreRule) {
	written := func(name string) bool {
		_, g := b.value(b.schemaOf(name, TypeText))
		return g == isSet
	}
	refuse := func(name, detail, hint string) {
		if written(name) {
			b.reject(name, "unknown-attribute", "Attribute does not apply", detail, hint)
		}
	}
	if r.From != ScoreFromFile && r.From != "" {
		for _, name := range []string{"file", "pointer", "pointer_unbounded"} {
			refuse(name, fmt.Sprintf("%s has no effect with from = %q.", name, r.From), `write from = "file", or remove it`)
		}
	}
	switch {
	case r.From == scoreFromExit:
		for _, name := range []string{"pattern", "marker"} {
			refuse(name, fmt.Sprintf("An exit code has no %s.", name), "remove it")
		}
	case written("pointer"):
		for _, name := range []string{"pattern", "marker"} {
			refuse(name, fmt.Sprintf("%s has no effect with a pointer: the file is JSON.", name), "remove one of the two")
		}
	case written("pointer_unbounded"):
		b.reject("pointer_unbounded", "missing-attribute", "Missing attribute", "pointer_unbounded requires pointer.", "")
	}
}

// commandCheckpoint completes the nameless checkpoint of a command problem. b is
// the problem's block.
func (b *block) commandCheckpoint(p *Problem, c *Checkpoint) {
	c.Assets = b.assets("")
	b.eachTargetOnce(c.Assets)
	own := b.singleBlock("command")
	own.programFile(p.Command, c.Assets)
	own.uvProject(p.Command, c.Assets)
}

// uvProject reads the project in whose environment the program runs, and finds its files among those of the
// problem and its assets.
func (b *block) uvProject(c *Command, assets []Asset) {
	text, g := b.text("uv_project")
	overrides, og := b.text("uv_overrides")
	if og == isSet && !isRelativeInside(overrides) {
		b.reject("uv_overrides", "bad-path", "Bad path", fmt.Sprintf("uv_overrides must be the path of a file in the uv project, not %q.", overrides), "")
	}
	if og == isSet && (g == isAbsent || g == isNull) {
		b.reject("uv_overrides", "missing-attribute", "Missing attribute", "uv_overrides requires uv_project.", "")
	}
	if g != isSet || c.Root == "" {
		return
	}
	place := path.Join(c.Directory, text)
	if path.IsAbs(text) || !filepath.IsLocal(place) {
		b.reject("uv_project", "bad-path", "Bad path", fmt.Sprintf("uv_project must be a path relative to directory inside the workspace, not %q.", text), "")
		return
	}
	sources := []struct{ target, source string }{{c.Directory, c.Root}}
	for _, a := range assets {
		if !a.IsGlob && a.From == nil {
			sources = append(sources, struct{ target, source string }{a.Target, a.Source})
		}
	}
	for _, s := range sources {
		rel, ok := subpath.Rel(s.target, place)
		if !ok {
			continue
		}
		dir := filepath.Join(s.source, rel)
		b.l.input("exists", filepath.Join(dir, pyproject))
		if info, err := os.Stat(filepath.Join(dir, pyproject)); err == nil && info.Mode().IsRegular() {
			c.UVProject, c.UVSource, c.UVOverrides = place, dir, overrides // the last one wins, as in the workspace
		}
	}
	switch {
	case c.UVSource == "":
		b.reject("uv_project", "missing-file", "No uv project", fmt.Sprintf("Neither root nor an asset contains %q.", path.Join(place, pyproject)), "uv_project is relative to directory; it may begin with \"..\"")
	case overrides != "":
		if info, ok := b.stat("uv_overrides", filepath.Join(c.UVSource, overrides), "it is relative to the uv project"); ok && !info.Mode().IsRegular() {
			b.reject("uv_overrides", "not-a-file", "Not a file", fmt.Sprintf("%q is not a file.", overrides), "")
		}
	}
}

const pyproject = "pyproject.toml"

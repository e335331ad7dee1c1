package lang

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Task is an instance of a task block.
type Task struct {
	Name        string // the label, or label["key"]
	Block       string // the label
	Ref         string // task.data, task.data["small"]
	Description string `hcl:"description"`
	Backend     *Backend
	Directory   string        `hcl:"directory"` // in the workspace: where commands run; "." or clean
	Requires    []string      `hcl:"requires"`
	Setup       []string      `hcl:"setup"`
	Argv        []string      // the program, or a shell with Run as its script
	Env         []EnvVar      `hcl:"env"` // sorted by name
	Timeout     time.Duration `hcl:"timeout"`
	Offline     bool
	Cores       int         `hcl:"cores"`  // slots of its pool
	Memory      int64       `hcl:"memory"` // bytes; 0 requests none
	Pool        string      // "" means the backend's pool
	Retries     *int        // nil means the backend's setting
	Inputs      []TaskInput // in source order
	Outputs     []TaskOutput
	Range       diag.Range
}

// TaskInput is an input of a workspace. Its Source is empty if it is another task's output or a solution.
type TaskInput struct {
	Asset
	Solution *Solution // can be nil
	Answer   int       // index of its Checkpoints
}

// TaskOutput is a stored path of a workspace.
type TaskOutput struct {
	Name string
	Path string `hcl:"path"` // relative to the directory
	Kind string `hcl:"kind"` // OutputTree, OutputFile, OutputAny or OutputMetrics
	// Publish is the absolute path that a run writes the file to; "" means none.
	Publish string `hcl:"publish"`
}

// OutputRef names an output of a task.
type OutputRef struct {
	Task *Task
	Name string
}

// Output returns the output that r names.
func (r *OutputRef) Output() TaskOutput {
	at := slices.IndexFunc(r.Task.Outputs, func(o TaskOutput) bool { return o.Name == r.Name })
	return r.Task.Outputs[at]
}

// String returns the reference as written in the configuration.
func (r *OutputRef) String() string { return r.Task.Ref + ".outputs." + r.Name }

// Subject returns the solution that the metrics of t are about, and the index of its checkpoint: the only
// solution among the inputs of t; nil if there are none or several.
func (t *Task) Subject() (s *Solution, answer int) {
	for _, in := range t.Inputs {
		if in.Solution == nil {
			continue
		}
		if s != nil {
			return nil, 0
		}
		s, answer = in.Solution, in.Answer
	}
	return s, answer
}

// Metrics returns the names of outputs that are metrics.
func (t *Task) Metrics() (names []string) {
	for _, o := range t.Outputs {
		if o.Kind == OutputMetrics {
			names = append(names, o.Name)
		}
	}
	return names
}

// Publishes reports whether a run writes an output of t to the project.
func (t *Task) Publishes() bool {
	return slices.ContainsFunc(t.Outputs, func(o TaskOutput) bool { return o.Publish != "" })
}

func (l *loader) evaluateTask(d *decl) cty.Value {
	var made []*Task
	var values []cty.Value
	insts := l.expandEach(d)
	for _, inst := range insts {
		t := l.task(d, inst)
		made = append(made, t)
		l.instances.tasks[t.Ref] = t
		values = append(values, taskValue(t))
	}
	d.made = made
	if d.failed {
		return cty.DynamicVal
	}
	return collect(insts, values, taskValue(&Task{}).Type())
}

// taskValue returns the value of a reference to t.
func taskValue(t *Task) cty.Value {
	output := func(o TaskOutput) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"ref":  cty.StringVal((&OutputRef{t, o.Name}).String()),
			"kind": cty.StringVal(o.Kind),
		})
	}
	outputs := cty.MapValEmpty(output(TaskOutput{}).Type())
	if len(t.Outputs) > 0 {
		values := map[string]cty.Value{}
		for _, o := range t.Outputs {
			values[o.Name] = output(o)
		}
		outputs = cty.MapVal(values)
	}
	return cty.ObjectVal(map[string]cty.Value{"ref": cty.StringVal(t.Ref), "name": cty.StringVal(t.Name), "outputs": outputs})
}

// task reads an instance.
func (l *loader) task(d *decl, inst instance) *Task {
	b := l.open(d, d.block, d.schema, inst.ctx)
	t := &Task{Name: inst.name(d), Block: d.name(), Ref: inst.ref(d), Range: convertRange(d.header)}
	b.fill(t)
	b.shortInputs()
	b.shortOutputs()
	t.Backend = b.taskBackend()
	if name, g := b.reference("pool", TypePool, "pool."); g == isSet {
		t.Pool = strings.TrimPrefix(name, "pool.")
	}
	if n, g := b.integer("retries"); g == isSet {
		t.Retries = &n
	}
	t.Argv = b.program()
	network, _ := b.text("network")
	t.Offline = network == networkNone
	inputs := b.children("input")
	b.eachNameOnce(inputs)
	var assets []Asset
	for _, in := range inputs {
		t.Inputs = append(t.Inputs, in.taskInput())
		assets = append(assets, t.Inputs[len(t.Inputs)-1].Asset)
	}
	b.eachTargetOnce(assets)
	outputs := b.children("output")
	b.eachNameOnce(outputs)
	for _, o := range outputs {
		t.Outputs = append(t.Outputs, o.taskOutput())
	}
	if len(outputs) == 0 && !d.failed {
		b.fail(finding{
			code: "missing-block", summary: "Task without outputs", rng: b.header,
			detail: "A task needs an output: only outputs are stored.", hint: `write outputs = { result = "out" }`,
		})
	}
	return t
}

// taskBackend reads where a task runs.
func (b *block) taskBackend() *Backend {
	ref, g := b.reference("backend", TypeBackend, "backend.")
	if g == isSet {
		made := b.l.instances.backends[ref]
		if made != nil && !made.Commands {
			b.reject("backend", "unsuitable-backend", "Unsuitable backend", fmt.Sprintf("%s does not run commands.", ref), "a task needs a backend such as local or docker")
		}
		return made
	}
	var all []*Backend
	for _, made := range b.l.everyBackend() {
		if made.Commands {
			all = append(all, made)
		}
	}
	switch {
	case g == isFailed || b.l.anyFailed("backend"):
	case len(all) == 1:
		return all[0]
	default:
		b.fail(finding{
			code: "missing-attribute", summary: "Ambiguous backend", rng: b.header,
			detail: fmt.Sprintf("%d backends run commands, so the task must specify one.", len(all)), hint: "write such as backend = backend.local.host",
		})
	}
	return nil
}

func (b *block) taskInput() TaskInput {
	in := TaskInput{}
	v, g := b.value(b.schemaOf("source", TypeSource))
	name, gc := b.text("checkpoint")
	if g == isSet {
		in.Solution = b.l.instances.solutions[refOf(v)]
	}
	if g == isFailed {
		in.Asset.Name = b.label()
		return in
	}
	if in.Solution == nil {
		if gc == isSet {
			b.reject("checkpoint", "unknown-attribute", "Attribute does not apply", "Only a solution has checkpoints.", "remove it")
		}
		in.Asset = b.asset("")
		return in
	}
	in.Asset = Asset{Name: b.label(), Target: b.targetOr(b.label(), "in the workspace"), Range: convertRange(b.header)}
	for _, attr := range []string{"ignore", "mode", "sha256"} {
		b.reportUnused(attr, "A solution has its own ignore, and its files are used unchanged.")
	}
	var names []string
	for i, answer := range in.Solution.Checkpoints {
		if names = append(names, answer.Checkpoint.Name); answer.Checkpoint.Name == name || gc == isAbsent && len(in.Solution.Checkpoints) == 1 {
			in.Answer = i
			if answer.Missing || in.Solution.Failed != "" {
				b.reject("source", "missing-file", "Missing solution", fmt.Sprintf("%s has no files for checkpoint %q.", in.Solution.Ref, answer.Checkpoint.Name), "use for_each over its checkpoints")
			}
			return in
		}
	}
	if gc != isFailed && len(in.Solution.Problem.Invalid) == 0 {
		b.reject("checkpoint", "unknown-value", "Unknown checkpoint", fmt.Sprintf("%s has no checkpoint %q.", in.Solution.Ref, name), hintCheckpoint(name, names))
	}
	return in
}

func hintCheckpoint(name string, names []string) string {
	if len(names) == 1 && names[0] == "" {
		return "remove it: a problem that gives scores has one checkpoint, without a name"
	}
	return didYouMean(name, names, "")
}

// reportUnused reports an attribute without effect.
func (b *block) reportUnused(name, detail string) {
	if b.attrs[name] != nil {
		b.reject(name, "unknown-attribute", "Attribute does not apply", detail, "remove it")
	}
}

func (b *block) taskOutput() TaskOutput {
	o := TaskOutput{Name: b.label()}
	b.fill(&o)
	switch {
	case o.Publish == "":
	case o.Kind == OutputTree:
		b.reject("publish", "not-a-file", "Not a file", "Only files are published. `fevalgraph get` writes the files of a tree.", `kind = "file"`)
	case !b.l.within(o.Publish):
		b.reject("publish", "outside-project", "Output published outside of the project",
			fmt.Sprintf("%q is outside of the project. Outputs are published into its directory, and into directories that the user passes as the value of a variable.", b.l.show(o.Publish)), placeHint)
	}
	if !markerName().MatchString(o.Name) || o.Name == "log" || o.Name == "refused" {
		b.fail(finding{
			code: "bad-name", summary: "Bad name", rng: b.header,
			detail: fmt.Sprintf("%q cannot be the name of an output: want an identifier other than log and refused.", o.Name),
		})
	}
	return o
}

// onlyOutput returns the output that a task denotes in an attribute, or nil after reporting an error.
func (b *block) onlyOutput(name string, t *Task) *OutputRef {
	if len(t.Outputs) == 1 {
		return &OutputRef{t, t.Outputs[0].Name}
	}
	if attr := b.attrs[name]; !b.l.bad[attr.Expr.Range()] {
		b.l.bad[attr.Expr.Range()] = true // no further error about it
		hint := ""
		if len(t.Outputs) > 0 {
			hint = "write such as " + (&OutputRef{t, t.Outputs[0].Name}).String()
		}
		b.reject(name, "wrong-type", "Ambiguous output", fmt.Sprintf("%s has %d outputs; only a task with one output can be used in its place.", t.Ref, len(t.Outputs)), hint)
	}
	return nil
}

// output reads an attribute that can be a task's output. It returns nil for other values.
func (b *block) output(name string) *OutputRef {
	attr := b.attrs[name]
	if len(b.l.instances.tasks) == 0 || attr == nil || b.l.bad[attr.Expr.Range()] {
		return nil
	}
	v, problems := attr.Expr.Value(b.ctx) // errors are reported when it is read as something else
	if problems.HasErrors() || !v.IsWhollyKnown() {
		return nil
	}
	v, _ = v.UnmarkDeep()
	if made := b.l.instances.tasks[refOf(v)]; made != nil {
		return b.onlyOutput(name, made)
	}
	task, output, ok := cutLast(refOf(v), ".outputs.")
	made := b.l.instances.tasks[task]
	if !ok || made == nil || !slices.ContainsFunc(made.Outputs, func(o TaskOutput) bool { return o.Name == output }) {
		return nil // an object in the configuration can have any ref
	}
	return &OutputRef{made, output}
}

// filesOutput reads an attribute that can be a task's output with files.
func (b *block) filesOutput(name string) *OutputRef {
	o := b.output(name)
	if o != nil && o.Output().Kind == OutputMetrics {
		b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s are metrics, not files.", o), `an output of the kind "file" can have the same path`)
	}
	return o
}

// treeOf is like placed, for an attribute that requires a directory.
func (b *block) treeOf(name string) *OutputRef {
	o := b.filesOutput(name)
	if o != nil && o.Output().Kind == OutputFile {
		b.reject(name, "not-a-directory", "Not a directory", fmt.Sprintf("%s is a file.", o), "")
	}
	return o
}

// fileOf is like placed, for an attribute that requires a file.
func (b *block) fileOf(name string) *OutputRef {
	o := b.filesOutput(name)
	if o != nil && o.Output().Kind == OutputTree {
		b.reject(name, "not-a-file", "Not a file", fmt.Sprintf("%s is a directory.", o), `use an output of the kind "file" for a file in it`)
	}
	return o
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// checkPublished reports outputs that are published to the same file, or to the file of an export.
func (l *loader) checkPublished() {
	writers := map[string]string{}
	for _, e := range l.config.Exports {
		writers[e.Path] = fmt.Sprintf("export %q %q", e.Kind, e.Name)
	}
	for _, t := range l.config.Tasks {
		for _, o := range t.Outputs {
			if o.Publish == "" {
				continue
			}
			if before := writers[o.Publish]; before != "" {
				l.report(finding{
					code: "duplicate", summary: "Duplicate path", rng: hclRange(t.Range),
					detail: fmt.Sprintf("%s and %s both write %q.", before, &OutputRef{t, o.Name}, l.show(o.Publish)),
					hint:   "give each a separate path, such as one with each.key",
				})
			}
			writers[o.Publish] = (&OutputRef{t, o.Name}).String()
			l.checkOverwrites(t, o)
		}
	}
}

// checkOverwrites reports an output that is published onto a file that made it: each run would replace what the
// user wrote, and find its inputs changed.
func (l *loader) checkOverwrites(t *Task, o TaskOutput) {
	file := resolved(o.Publish)
	read := ""
	if slices.ContainsFunc(l.sources, func(s *source) bool { return resolved(s.path) == file }) {
		read = "the configuration"
	} else if in := t.reads(file, map[*Task]bool{}); in != "" {
		read = in
	}
	if read != "" {
		l.report(finding{
			code: "overwrites-input", summary: "Output published onto an input", rng: hclRange(t.Range),
			detail: fmt.Sprintf("%s would replace %q, which is part of %s.", &OutputRef{t, o.Name}, l.show(o.Publish), read),
			hint:   "publish another path, or exclude it from the input with ignore",
		})
	}
}

// reads returns the name of the input of t, or of a task that t needs, that contains a file; "" if none does.
func (t *Task) reads(file string, visited map[*Task]bool) string {
	if visited[t] {
		return ""
	}
	visited[t] = true
	for _, in := range t.Inputs {
		from := in.From
		contains := in.Asset.contains(file)
		if in.Solution != nil {
			answer := in.Solution.Checkpoints[in.Answer]
			from = answer.From
			contains = Asset{Source: answer.Source, Ignore: in.Solution.Ignore}.contains(file)
		}
		if contains {
			return fmt.Sprintf("input %q of %s", in.Name, t.Ref)
		}
		if from != nil {
			if before := from.Task.reads(file, visited); before != "" {
				return before
			}
		}
	}
	return ""
}

// contains reports whether a file, given by its resolved path, is one of the files of a source.
func (a Asset) contains(file string) bool {
	if a.Source == "" {
		return false
	}
	dir, pattern := resolved(a.Source), "**"
	if a.IsGlob {
		dir, pattern = doublestar.SplitPattern(filepath.ToSlash(a.Source))
		dir = resolved(filepath.FromSlash(dir))
	}
	rel, ok := subpath.Rel(dir, file)
	if !ok || !doublestar.MatchUnvalidated(pattern, rel) {
		return false
	}
	for ; rel != "."; rel = path.Dir(rel) {
		if slices.ContainsFunc(a.Ignore, func(p string) bool { return doublestar.MatchUnvalidated(p, rel) }) {
			return false
		}
	}
	return true
}

// resolved returns a path without links. Parts that do not exist stay as they are.
func resolved(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// checkFigures reports tasks of a block with metrics about the same checkpoint of a solution, which results
// could not distinguish.
func (l *loader) checkFigures() {
	type subject struct {
		block    string
		solution *Solution
		answer   int
	}
	first := map[subject]*Task{}
	for _, t := range l.config.Tasks {
		s, answer := t.Subject()
		if s == nil || len(t.Metrics()) == 0 {
			continue
		}
		key := subject{t.Block, s, answer}
		if before := first[key]; before != nil {
			l.report(finding{
				code: "duplicate", summary: "Duplicate metrics", rng: hclRange(t.Range),
				detail: fmt.Sprintf("%s and %s both have metrics of %s, checkpoint %q.", before.Ref, t.Ref, s.Ref, s.Checkpoints[answer].Checkpoint.Name),
				hint:   "write a task block for each",
			})
			continue
		}
		first[key] = t
	}
}

package lang

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Config is a loaded configuration: every block evaluated, every instance of
// for_each and matrix expanded, every default in place. Slices are in source
// order unless said otherwise; paths are absolute. It holds no results: those
// do not exist before pass, result and export, whose expressions are kept as
// Expr.
type Config struct {
	Root      string // directory of fevalgraph.hcl
	Settings  Settings
	Variables []Variable
	Pools     []Pool
	Secrets   []Secret
	Backends  []*Backend
	Problems  []*Problem
	Solutions []*Solution
	Tasks     []*Task
	Suites    []*Suite
	Results   []*Result
	Exports   []*Export
	// Generators are for `fevalgraph gen` alone.
	Generators []*Generator
	Inputs     []ConfigInput // what evaluation read beside the HCL, in first-read order
}

// Settings is the fevalgraph block.
type Settings struct {
	RequiredVersion string // a constraint such as ">= 0.1"; empty is any
	CacheDir        string // absolute; empty is the user's cache directory
	Remotes         []RemoteCache
}

// RemoteCache is a cache on another machine.
type RemoteCache struct {
	Name           string
	URL            string   `hcl:"url"`  // grpc, grpcs, http or https, with a host, and a path or none
	Mode           string   `hcl:"mode"` // "r" or "rw"
	Namespace      string   `hcl:"namespace"`
	ReadNamespaces []string `hcl:"read_namespaces"`
	Trust          []string `hcl:"trust"` // public keys
}

// ConfigInput is something outside the HCL that evaluation depended on.
type ConfigInput struct {
	Kind string // "hcl", "file", "fileset", "env", "var"
	Name string // absolute path, absolute directory + "\x00" + pattern, or name
}

// Variable is a declared variable and where its value came from.
type Variable struct {
	Name        string
	Type        string // as written, "any" when absent
	Description string `hcl:"description"`
	Sensitive   bool   `hcl:"sensitive"`
	Value       string // HCL text; "(sensitive)" when Sensitive
	Source      string // "default", "--var", "environment FEVALGRAPH_VAR_x", "file x.auto.vars.hcl"
	Range       diag.Range
}

// Pool is a named limit on nodes running at once.
type Pool struct {
	Name  string
	Slots int
	Range diag.Range
}

// Secret is a value that must not be shown or hashed.
type Secret struct {
	Name  string
	Env   string // environment variable to read, or
	File  string // file to read
	Value string
	Range diag.Range
}

// EnvVar is one environment variable of the work. When Secret is set, Value
// holds a secret and must not enter a key: Secret does in its place. It is the
// secret's name, and " in " with the expression when there is more to Value
// than the secret itself.
type EnvVar struct {
	Name   string
	Value  string
	Secret string
}

// Retry says when and how often broken work is tried again.
type Retry struct {
	Attempts int           `hcl:"attempts"` // in all; 1 is no retry
	Wait     time.Duration `hcl:"wait"`     // before each further attempt
	On       []string      `hcl:"on"`       // classes that are retried; today only "broken"
}

// Backend is a place where commands run.
type Backend struct {
	Kind     string // "local", "docker", "gojudge"
	Name     string
	Pool     string // name of a Pool, "cpu" by default
	Judges   bool   // it evaluates problems with a judge block
	Commands bool   // it evaluates all others
	// Retry is nil when the block does not set it.
	Retry        *Retry
	Env          []EnvVar      `hcl:"env"`         // sorted by name
	Inherit      []string      `hcl:"inherit"`     // variables taken from the caller's environment, hashed by value
	Passthrough  []string      `hcl:"passthrough"` // variables taken from it but not hashed: proxies, certificates
	Python       string        `hcl:"python"`      // interpreter request for uv, such as "3.12"; empty is uv's choice
	Setup        []string      `hcl:"setup"`       // commands run in the workspace before the tests
	SetupTimeout time.Duration `hcl:"setup_timeout"`
	// Machines are nil unless the backend provides machines: the resources of a problem then
	// say which ones it is evaluated on.
	Machines  *Machines
	Token     string           `hcl:"token"` // what a server asks for; in no key and no output
	Container *Container       // nil where commands run in none
	Local     *LocalBackend    // set when Kind is "local"
	Docker    *DockerBackend   // set when Kind is "docker"
	GoJudge   *GoJudgeBackend  // set when Kind is "gojudge"
	LightCP   *LightCPBackend  // set when Kind is "lightcp"
	SkyPilot  *SkyPilotBackend // set when Kind is "skypilot"
	Remote    *RemoteBackend   // set when Kind is "remote"
	Range     diag.Range
}

// Machines are those that a backend provides: clusters of equal machines.
type Machines struct {
	Resources   Resources // of a problem that asks for nothing else; in a plan, what it gets
	Slots       int       `hcl:"slots"`        // nodes of the graph that run at once on a cluster; 0 is 1
	MaxClusters int       `hcl:"max_clusters"` // with the same resources, at once; 0 is 1
	// Pool is the one that nodes on these machines take; "" until a plan has chosen them.
	Pool string
}

// Addr is "<kind>.<name>".
func (b *Backend) Addr() string { return b.Kind + "." + b.Name }

// Container is what commands run in on a backend of containers.
type Container struct {
	Image  string // reference or ID; "" when Build is set
	Build  *ImageBuild
	GPUs   string `hcl:"gpus"` // "all", a number, "device=" and ids
	Keep   string `hcl:"keep"` // whose containers stay: "never", "failed", "always"
	Mounts []Mount
	As     *ContainerAs // nil is as the backend's block says
}

// ContainerAs is what a verifier wants of containers, whatever their backend says. Empty
// texts and zero are as it says.
type ContainerAs struct {
	User         string // else the image's, be it root
	Online       bool   // a network, and otherwise none
	Capabilities bool   // what containers may do by default
	CPUs         float64
	Memory       int64 // bytes
}

// ImageBuild says how the image of containers is made.
type ImageBuild struct {
	Dockerfile string // absolute
	Context    string // absolute
	Args       []BuildArg
}

// BuildArg is an argument of a build; they are sorted by name.
type BuildArg struct{ Name, Value string }

// Mount is a file or directory of the daemon's machine in its containers.
type Mount struct {
	Source   string `hcl:"source"` // absolute
	Target   string `hcl:"target"` // absolute, clean
	ReadOnly bool   `hcl:"read_only"`
	Unhashed bool   // what is in it is in no key
	Range    diag.Range
}

// Problem is one instance of a problem block.
type Problem struct {
	Name        string   // unique: the name attribute, the label, or label["key"]
	Ref         string   // problem.kvstore or problem.suite["code_search"]
	ReadFrom    string   // the path that a Reader read it from; "" is none
	Title       string   `hcl:"title"`
	Description string   `hcl:"description"`
	Spec        string   `hcl:"spec"` // path of the task text; not read by evaluation
	Version     int      `hcl:"version"`
	Release     string   `hcl:"release"` // "1.2.0", or Version if that is written; "" is none
	Tags        []string `hcl:"tags"`
	Author      string   `hcl:"author"`
	Difficulty  string   `hcl:"difficulty"`
	Category    string   `hcl:"category"`
	Entry       string   `hcl:"entry"`
	Pytest      *Pytest  // exactly one driver is set
	Judge       *Judge   // likewise
	Command     *Command // likewise
	Verified    bool     // likewise: its checkpoints have a Verifier
	Resources   Resources
	// What a solution may have together, on disk: files and their bytes.
	MaxSubmissionSize  int64         `hcl:"max_submission_size"`
	MaxSubmissionFiles int           `hcl:"max_submission_files"`
	Reference          *Reference    // nil when it ships none
	Seen               *Seen         // nil when nothing says it
	Checkpoints        []*Checkpoint // sorted by (Order, Name); of a problem that gives scores one without a name
	// Invalid is what is wrong with this instance alone, sorted by place; only
	// with invalid = "report". Such a problem has no driver and no checkpoints,
	// and of the rest what could be evaluated; its solutions have no checkpoints.
	Invalid diag.List
	Range   diag.Range
}

// Pytest is the pytest driver of a problem.
type Pytest struct {
	Root         string // directory with the test files; "" when RootFrom is set
	RootFrom     *OutputRef
	Directory    string   `hcl:"directory"`     // where they go in the workspace: "tests"
	MissingTests string   `hcl:"missing_tests"` // what a test file that does not exist is: "error" or "skip"
	OmitSkipped  bool     // tests that are skipped are left out of totals
	AssetPaths   string   `hcl:"asset_paths"` // what variables hold for assets: "absolute" or "relative" paths
	Requires     []string `hcl:"requires"`    // requirements beside the built-in ones, as written
	Args         []string `hcl:"args"`        // extra pytest arguments
	Plugins      []string `hcl:"plugins"`     // pytest plugins to load with -p
	Ports        []int    // that the tests or the solution listen on, ascending, each once
	Import       string   // where modules of a solution run that tests import: as Command.Import
	ImportReads  []string // as Command.ImportReads
	Confined     bool     // as Command.Confined
	Plain        bool     // no conftest.py is seen to declare the options that pytest is started with
	Split        string   `hcl:"split"` // "none", or SplitFile: a pytest node for each test file
	TestFiles    []string // with SplitFile the names of all test_*.py directly in Root, sorted
	Range        diag.Range
	RootRange    diag.Range
}

// SplitFile is the Split of a problem whose test files are run one by one.
const SplitFile = "file"

// Checkpoint is one checkpoint of a problem with everything it inherits.
type Checkpoint struct {
	Name              string
	Order             int
	Version           int
	State             string
	Spec              string   // path of the task text; not read by evaluation
	Tests             []string // file names in the pytest root: its own tests; they exist, or Pytest.MissingTests is "skip"
	IncludePriorTests bool
	Timeout           time.Duration // per test; 30s when nothing says otherwise; 0 is none
	SessionTimeout    time.Duration // whole pytest run; 0 is none
	Before            string        // commands of the shell that starts pytest
	Env               []EnvVar      // problem's and own, merged, sorted by name
	Markers           []Marker      // problem's then own; an own one replaces by name
	Assets            []Asset       // likewise
	Verifier          *Verifier     // nil unless the problem is Verified
	Pass              Pass
	Range             diag.Range
}

// Marker maps a pytest marker to a group.
type Marker struct {
	Name        string
	Group       string `hcl:"group"` // core, functionality, regression, error; "" registers it and does no more
	Description string `hcl:"description"`
	Range       diag.Range
}

// Asset is a file or directory that tests may read.
type Asset struct {
	Name   string
	Source string // absolute path; may hold glob characters when IsGlob; "" when From is set
	From   *OutputRef
	IsGlob bool
	Target string   // place under <tests>/assets, slash-separated
	Ignore []string `hcl:"ignore"` // doublestar patterns relative to the source
	Mode   string   `hcl:"mode"`   // "", "0644", "0755": forced mode of its files
	SHA256 string   // expected digest of a single file, lower-case hex; "" is unchecked
	Owner  string   // "" for the problem, the checkpoint's name for its own
	Range  diag.Range
}

// Pass decides whether a graded checkpoint counts as passed. Exactly one of
// Policy, When and AtLeast is set.
type Pass struct {
	Policy string // core-cases, strict-core-cases, any-case ...: one that the schema lists
	When   *Expr  // over self: groups, collected, exit_code ...
	// AtLeast is the score from which on a checkpoint of a Verified problem passes.
	AtLeast *float64
	Range   diag.Range
}

// Solution is one instance of a solution block.
type Solution struct {
	Name         string // the name attribute, the label, or label["key"]; unique within its problem
	Ref          string // solution.agent["small"]
	Problem      *Problem
	Labels       []Label              // sorted by name
	Missing      string               `hcl:"missing"` // "error", "skip" or "omit"
	Failed       string               // why there is no code: making it failed; "" when there is
	Files        string               `hcl:"files"`         // what is taken of a source: "all" or "plain"
	Ignore       []string             `hcl:"ignore"`        // patterns relative to the source
	IgnoreSyntax string               `hcl:"ignore_syntax"` // what they are: "doublestar" or "fnmatch"
	Checkpoints  []SolutionCheckpoint // in the problem's order
	Recorded     *Recorded            // nil unless another program recorded it
	Range        diag.Range
}

// Recorded is what the record of a solution says of it.
type Recorded struct {
	By          string   // the program
	Path        string   // where its record is, absolute
	Cause       string   // why the solution or its verdict is incomplete, in one word of that program; "" is nothing
	Score       *float64 // nil is none
	Valid       bool     // whether Score is the solution's in that program's own opinion
	Comparable  bool     // whether it is of the same scale as scores here
	Last        bool     // whether it is that of the last checkpoint that was reached, and not their mean
	Version     string   // a digest of the problem that the solution answered; "" is not known
	VersionHere string   // that of the problem here, if it is another one
	Checkpoints []RecordedCheckpoint
}

// RecordedCheckpoint is the same of a checkpoint.
type RecordedCheckpoint struct {
	Name    string
	Reached bool
	Score   *float64
	Cause   string
}

// Label is one user-chosen axis of a solution.
type Label struct{ Name, Value string }

// Omits reports whether the checkpoint of an answer is not asked for.
func (s *Solution) Omits(answer SolutionCheckpoint) bool {
	return answer.Missing && s.Missing == "omit"
}

// SolutionCheckpoint is the code that answers one checkpoint.
type SolutionCheckpoint struct {
	Checkpoint *Checkpoint
	Source     string // absolute path of the directory (or single file); "" when From is set
	From       *OutputRef
	Entry      string   // command that starts it; the problem's unless overridden
	Setup      []string // set-up commands of its own, after the backend's
	Missing    bool     // Source does not exist, and Missing of the solution allows that
	// Parts are what the answer consists of where that is no single directory; nil is Source.
	Parts    []Part
	Unusable string // why nothing can be evaluated although something is recorded; "" is that it can
	Refused  string // why the source is not evaluated, by its maker's doing; "" if it is
}

// Part is a file or directory that is part of an answer.
type Part struct {
	Source string // absolute path; "" is an empty directory
	Target string // relative to the top of the answer, with slashes
}

// Suite is a set of cells.
type Suite struct {
	Name        string
	Description string `hcl:"description"`
	Cells       []Cell // axes in source order, last axis fastest, repeats innermost
	Excluded    []ExcludedCell
	Retry       *Retry
	StopAfter   int `hcl:"stop_after"` // cells that may fail before nothing new starts; 0 is no limit
	ShardIndex  int // 1-based; 0 when the suite is whole
	ShardCount  int
	Implicit    bool // no suite block was written
	Range       diag.Range
}

// Cell is one solution on one backend, once.
type Cell struct {
	Solution *Solution
	Backend  *Backend
	Repeat   int // from 1
}

// ExcludedCell is a cell that an exclude block removed.
type ExcludedCell struct {
	Cell
	Reason string
}

// Result is a leaderboard over a suite's results.
type Result struct {
	Name    string
	From    *Suite
	Where   *Expr
	GroupBy []string `hcl:"group_by"`
	Sort    []string `hcl:"sort"`
	Metrics []Metric
	Range   diag.Range
}

// Metric is one column of a Result.
type Metric struct {
	Name   string
	Value  *Expr  // or
	PassAt int    `hcl:"pass_at"` // a number of attempts, or
	BestOf int    `hcl:"best_of"` // likewise, or
	Elo    bool   `hcl:"elo"`     // a rating
	Format string `hcl:"format"`
	Range  diag.Range
}

// Export writes a suite's results to a file after a run.
type Export struct {
	Kind  string // json, jsonl, csv, markdown, junit, ctrf, or the name of a benchmark
	Name  string
	From  *Suite
	Path  string `hcl:"path"` // absolute; a directory for the kinds of benchmarks
	Range diag.Range
}

// Relative returns a path as users of the project write it: relative to its directory if it is below it.
func (c *Config) Relative(path string) string {
	if rel, err := filepath.Rel(c.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// NeedsPython reports whether a problem or a task has Python made for it by uv.
func (c *Config) NeedsPython() bool {
	return slices.ContainsFunc(c.Tasks, func(t *Task) bool { return len(t.Requires) > 0 }) || slices.ContainsFunc(c.Problems, func(p *Problem) bool {
		return p.Pytest != nil || p.Command != nil && p.Command.UVProject != ""
	})
}

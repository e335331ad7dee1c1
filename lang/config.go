package lang

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Config is a loaded configuration: every block evaluated, every instance of for_each and matrix expanded,
// every default in place. Slices are in source order unless documented otherwise; paths are absolute. It
// contains no results: expressions of pass, result and export, which need results, are kept as Expr.
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
	// Generators are only for `fevalgraph gen`.
	Generators []*Generator
	Inputs     []ConfigInput // files and variables that evaluation read besides the HCL, in first-read order
}

// Settings is the fevalgraph block.
type Settings struct {
	RequiredVersion string // a constraint such as ">= 0.1"; "" accepts any version
	CacheDir        string // absolute; "" means the user's cache directory
	Remotes         []RemoteCache
}

// RemoteCache is a cache on another machine.
type RemoteCache struct {
	Name           string
	URL            string   `hcl:"url"`  // grpc, grpcs, http or https, with a host and an optional path
	Mode           string   `hcl:"mode"` // "r" or "rw"
	Namespace      string   `hcl:"namespace"`
	ReadNamespaces []string `hcl:"read_namespaces"`
	Trust          []string `hcl:"trust"` // public keys
}

// ConfigInput is an input of evaluation besides the HCL.
type ConfigInput struct {
	Kind string // "hcl", "file", "fileset", "env", "var"
	Name string // absolute path, absolute directory + "\x00" + pattern, or name
}

// Variable is a declared variable with the source of its value.
type Variable struct {
	Name        string
	Type        string // as written, "any" when absent
	Description string `hcl:"description"`
	Sensitive   bool   `hcl:"sensitive"`
	Value       string // HCL text; "(sensitive)" when Sensitive
	Source      string // "default", "--var", "environment FEVALGRAPH_VAR_x", "file x.auto.vars.hcl"
	Range       diag.Range
}

// Pool is a named limit on concurrent nodes.
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

// EnvVar is an environment variable of commands. If Secret is set, Value contains a secret and must not
// enter a key: Secret replaces it there. Secret is the secret's name, followed by " in " and the
// expression if Value contains more than the secret itself.
type EnvVar struct {
	Name   string
	Value  string
	Secret string
}

// Retry is the policy for retries of broken work.
type Retry struct {
	Attempts int           `hcl:"attempts"` // total number; 1 means no retry
	Wait     time.Duration `hcl:"wait"`     // before each further attempt
	On       []string      `hcl:"on"`       // retried classes; currently only "broken"
}

// Backend is an environment in which commands run.
type Backend struct {
	Kind     string // "local", or the name of a BackendKind
	Name     string
	Pool     string // name of a Pool, "cpu" by default
	Judges   bool   // it evaluates problems with a judge block
	Commands bool   // it evaluates all others
	// Retry is nil if the block does not set it.
	Retry        *Retry
	Env          []EnvVar      `hcl:"env"`         // sorted by name
	Inherit      []string      `hcl:"inherit"`     // variables taken from the caller's environment, hashed by value
	Passthrough  []string      `hcl:"passthrough"` // variables from there that are not hashed: proxies, certificates
	Python       string        `hcl:"python"`      // interpreter request for uv, such as "3.12"; "" means uv's choice
	Setup        []string      `hcl:"setup"`       // commands run in the workspace before the tests
	SetupTimeout time.Duration `hcl:"setup_timeout"`
	// Machines is nil unless the backend provides machines. The resources of a problem then specify which
	// machines evaluate it.
	Machines  *Machines
	Token     string     `hcl:"token"` // credential for a server; in no key and no output
	Container *Container // nil if commands do not run in containers
	// Attributes are the attributes of the kind; Sensitive reports that they can contain secrets.
	Attributes Attributes
	Sensitive  bool
	Range      diag.Range
}

// Machines describes the machines that a backend provides: clusters of equal machines.
type Machines struct {
	Resources   Resources // for a problem without requirements; in a plan, the resources that it gets
	Slots       int       `hcl:"slots" keys:"-"`        // concurrent nodes on a cluster; 0 means 1
	MaxClusters int       `hcl:"max_clusters" keys:"-"` // concurrent clusters with the same resources; 0 means 1
	// Pool is the pool of nodes on these machines; "" until a plan has chosen the machines.
	Pool string `keys:"-"`
}

// Addr returns "<kind>.<name>".
func (b *Backend) Addr() string { return b.Kind + "." + b.Name }

// Container describes the containers in which a backend runs commands.
type Container struct {
	Image  string // reference or ID; "" if Build is set
	Build  *ImageBuild
	GPUs   string       `hcl:"gpus"`          // "all", a number, "device=" and ids
	Keep   string       `hcl:"keep" keys:"-"` // which containers are kept: "never", "failed", "always"
	Mounts []Mount      `keys:"-"`
	As     *ContainerAs // nil keeps the setting of the backend's block
}

// ContainerAs overrides a backend's container settings for a verifier. Empty strings and zero keep the
// backend's settings.
type ContainerAs struct {
	User         string // "" means the image's, even if that is root
	Online       bool   // whether it has a network
	Capabilities bool   // capabilities that containers have by default
	CPUs         float64
	Memory       int64      // bytes
	Services     *[]Service // that run next to the container; nil means none
	Hosts        string     // that it can reach if it is not Online, separated by spaces
}

// ImageBuild specifies how to build the image of containers.
type ImageBuild struct {
	Dockerfile string `keys:"-"` // absolute
	Context    string `keys:"-"` // absolute
	Args       []BuildArg
}

// BuildArg is an argument of a build; they are sorted by name.
type BuildArg struct{ Name, Value string }

// Mount is a file or directory of the daemon's machine in its containers.
type Mount struct {
	Source   string `hcl:"source"` // absolute
	Target   string `hcl:"target"` // absolute, clean
	ReadOnly bool   `hcl:"read_only"`
	Unhashed bool   // its content does not enter keys
	Range    diag.Range
}

// Problem is one instance of a problem block.
type Problem struct {
	Name        string   // unique: the name attribute, the label, or label["key"]
	Ref         string   // problem.kvstore or problem.suite["code_search"]
	ReadFrom    string   // path from which a Reader read it; "" without a Reader
	Title       string   `hcl:"title"`
	Description string   `hcl:"description"`
	Spec        string   `hcl:"spec"` // path of the task text; not read by evaluation
	Version     int      `hcl:"version"`
	Release     string   `hcl:"release"` // "1.2.0", or Version if that is set; "" means none
	Tags        []string `hcl:"tags"`
	Author      string   `hcl:"author"`
	Difficulty  string   `hcl:"difficulty"`
	Category    string   `hcl:"category"`
	Entry       string   `hcl:"entry"`
	Pytest      *Pytest  // exactly one driver is set
	Judge       *Judge   // as above
	Command     *Command // as above
	Verified    bool     // as above: its checkpoints have a Verifier
	Resources   Resources
	// Maximum size of a solution in bytes, and in files.
	MaxSubmissionSize  int64         `hcl:"max_submission_size"`
	MaxSubmissionFiles int           `hcl:"max_submission_files"`
	References         []*Reference  // solutions that it ships
	Seen               *Seen         // nil if neither a block nor a reader sets it
	Checkpoints        []*Checkpoint // sorted by (Order, Name); a problem that gives scores has one without a name
	// Invalid contains the errors of this instance alone, sorted by position, only with invalid = "report".
	// Such a problem has no driver and no checkpoints, and only the fields that could be evaluated are set;
	// its solutions have no checkpoints.
	Invalid diag.List
	Range   diag.Range
}

// Pytest is the pytest driver of a problem.
type Pytest struct {
	Root         string // directory with the test files; "" if RootFrom is set
	RootFrom     *OutputRef
	Directory    string   `hcl:"directory"`     // where they go in the workspace: "tests"
	MissingTests string   `hcl:"missing_tests"` // how to treat a missing test file: "error" or "skip"
	OmitSkipped  bool     // skipped tests are omitted from totals
	AssetPaths   string   `hcl:"asset_paths"` // paths of assets in variables: "absolute" or "relative"
	Requires     []string `hcl:"requires"`    // literal requirements besides the built-in ones
	Args         []string `hcl:"args"`        // extra pytest arguments
	Plugins      []string `hcl:"plugins"`     // pytest plugins to load with -p
	Ports        []int    // on which the tests or the solution listen; ascending, unique
	Import       string   // how modules of a solution that tests import run: as Command.Import
	ImportReads  []string // as Command.ImportReads
	Confined     bool     // as Command.Confined
	Plain        bool     // no known conftest.py declares the options that pytest is started with
	Range        diag.Range
	RootRange    diag.Range
}

// Checkpoint is one checkpoint of a problem with everything it inherits.
type Checkpoint struct {
	Name              string
	Order             int
	Version           int
	State             string
	Spec              string   // path of the task text; not read by evaluation
	Tests             []string // names of its test files in the pytest root; they exist, or Pytest.MissingTests is "skip"
	IncludePriorTests bool
	Timeout           time.Duration // per test; 30s by default; 0 means no limit
	SessionTimeout    time.Duration // whole pytest run; 0 means no limit
	Before            string        // commands to run in the shell before pytest
	Env               []EnvVar      // of problem and checkpoint, merged, sorted by name
	Markers           []Marker      // of the problem, then of the checkpoint, which replace markers with equal names
	Assets            []Asset       // as above
	Verifier          *Verifier     // nil unless the problem is Verified
	Pass              Pass
	Range             diag.Range
}

// Marker maps a pytest marker to a group.
type Marker struct {
	Name        string
	Group       string `hcl:"group"` // core, functionality, regression, error; "" only registers it
	Description string `hcl:"description"`
	Range       diag.Range
}

// Asset is a file or directory that tests can read.
type Asset struct {
	Name   string
	Source string // absolute path; a glob pattern if IsGlob; "" if From is set
	From   *OutputRef
	IsGlob bool
	Target string   // path under <tests>/assets, slash-separated
	Ignore []string `hcl:"ignore"` // doublestar patterns relative to the source
	Mode   string   `hcl:"mode"`   // "", "0644", "0755": forced mode of its files
	SHA256 string   // expected digest of a single file, lower-case hex; "" means unchecked
	Owner  string   // "" for the problem, the checkpoint's name for its own
	Range  diag.Range
}

// Pass decides whether a graded checkpoint counts as passed. Exactly one of
// Policy, When and AtLeast is set.
type Pass struct {
	Policy string // core-cases, strict-core-cases, any-case ...: a policy that the schema lists
	When   *Expr  // condition over self: groups, collected, exit_code ...
	// AtLeast is the lowest score with which a checkpoint of a Verified problem passes.
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
	Failed       string               // why producing the code failed; "" if it succeeded
	Solver       *Solver              // produces the answers; nil if they have sources
	Files        string               `hcl:"files"`         // which files of a source are used: "all" or "plain"
	Ignore       []string             `hcl:"ignore"`        // patterns relative to the source
	IgnoreSyntax string               `hcl:"ignore_syntax"` // their syntax: "doublestar" or "fnmatch"
	Checkpoints  []SolutionCheckpoint // in the problem's order
	Recorded     *Recorded            // nil unless another program recorded it
	Results      *Recorded            // results in files of another program for its problem; nil if none
	Range        diag.Range
}

// Recorded contains the facts about a solution in the record that it was read from.
type Recorded struct {
	By          string   // the program
	Path        string   // absolute path of its record
	Cause       string   // why the solution or its verdict is incomplete, as one word of that program; "" if complete
	Score       *float64 // nil if not recorded
	Valid       bool     // whether that program considers Score valid for the solution
	Comparable  bool     // whether it has the same scale as scores here
	Solved      bool     // whether Score is 1 if the solution passes and otherwise 0
	Last        bool     // whether it is the score of the last reached checkpoint instead of the mean
	Version     string   // a digest of the problem that the solution answered; "" if unknown
	VersionHere string   // the digest of the problem here, if it differs
	Checkpoints []RecordedCheckpoint
}

// RecordedCheckpoint contains the same facts about a checkpoint.
type RecordedCheckpoint struct {
	Name    string
	Reached bool
	Score   *float64
	Cause   string
}

// Label is a user-defined axis of a solution.
type Label struct{ Name, Value string }

// Omits reports whether the checkpoint of an answer is omitted from evaluation.
func (s *Solution) Omits(answer SolutionCheckpoint) bool {
	return answer.Missing && s.Missing == "omit"
}

// SolutionCheckpoint is the code that answers a checkpoint.
type SolutionCheckpoint struct {
	Checkpoint *Checkpoint
	Source     string // absolute path of the directory (or single file); "" if From is set
	From       *OutputRef
	Entry      string   // command that starts it; by default the problem's
	Setup      []string // additional set-up commands, after the backend's
	Missing    bool     // Source does not exist, and Missing of the solution allows that
	// Parts are the parts of an answer that is not a single directory; nil means Source.
	Parts    []Part
	Unusable string // why an answer that was recorded, or made by a Solver, cannot be evaluated; "" if it can
	Refused  string // why the source is not evaluated, through its author's fault; "" if it is
}

// Part is a file or directory that is part of an answer.
type Part struct {
	Source string // absolute path; "" means an empty directory
	Target string // relative to the top of the answer, with slashes
}

// Suite is a set of cells.
type Suite struct {
	Name        string
	Description string `hcl:"description"`
	Cells       []Cell // in order of the axes, last axis fastest, repeats innermost
	Excluded    []ExcludedCell
	Retry       *Retry
	StopAfter   int `hcl:"stop_after"` // number of failed cells after which no new work starts; 0 means no limit
	ShardIndex  int // from 1; 0 if the suite is undivided
	ShardCount  int
	Implicit    bool // no suite block was written
	Range       diag.Range
}

// Cell is a repeat of a solution on a backend.
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

// Metric is a column of a Result.
type Metric struct {
	Name   string
	Value  *Expr  // or
	PassAt int    `hcl:"pass_at"` // a number of attempts, or
	BestOf int    `hcl:"best_of"` // as above, or
	Elo    bool   `hcl:"elo"`     // whether it is a rating
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

// Relative returns a path for messages: relative to the project's directory if it is below it.
func (c *Config) Relative(path string) string {
	if rel, err := filepath.Rel(c.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// NeedsPython reports whether a problem or a task needs uv to install Python.
func (c *Config) NeedsPython() bool {
	return slices.ContainsFunc(c.Tasks, func(t *Task) bool { return len(t.Requires) > 0 }) || slices.ContainsFunc(c.Problems, func(p *Problem) bool {
		return p.Pytest != nil || p.Command != nil && p.Command.UVProject != ""
	})
}

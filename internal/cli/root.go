package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// app is one invocation of the program.
type app struct {
	io              IO
	flags           globalFlags
	rule            Rule
	foreignReported sync.Once       // whether ignored files of the state directory were reported
	above           io.Writer       // receives notices during a run; otherwise nil
	idle            atomic.Bool     // an interruption has nothing to stop
	done            <-chan struct{} // closed by an interruption
}

// globalFlags are the flags of all commands.
type globalFlags struct {
	file, dir      string
	found          bool // dir was found in a parent directory, not given
	vars, varFiles []string
	quiet, verbose bool
	color          string
	cache          string
	offline        bool
	json           bool
	jobs           int
	progress       string
	locked         bool
	trust          bool
}

func (a *app) rootCommand() *cobra.Command {
	run := a.runCommand()
	root := &cobra.Command{
		Use:   "fevalgraph [SELECTOR...]",
		Short: "A make for code-benchmark evaluation",
		Long: `fevalgraph evaluates code-benchmark problems described in HCL. It compiles them
to a graph of content-hashed tasks and executes only what is stale. Without a
command it runs.`,
		Example: `  fevalgraph                          evaluate what is stale
  fevalgraph plan                     show what a run would do, and why
  fevalgraph explain ADDR             why a node ran, would run, or was cached
  fevalgraph results --format csv     results of the last run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return hintAtCommand(cmd, args, run.RunE(cmd, args))
		},
		SilenceErrors: true,
		SilenceUsage:  true,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.flags.jobs == 0 && cmd.Flags().Changed("jobs") {
				return exit.With(exit.Usage, errors.New("-j 0: want at least 1; without -j it is the number of processors"))
			}
			a.rule = ruleOf(cmd)
			a.findConfig(cmd)
			if err := a.checkFlags(); err != nil || !relevant(cmd, "chdir") {
				return err
			}
			a.breakWorkflowCommands(cmd)
			return a.options().CheckState()
		},
	}
	help := root.HelpFunc()
	// Flag descriptions are wrapped at the terminal's width, or at 80 columns.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", cmp.Or(a.columns(a.io.Out), 80))))
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		focus(cmd)
		help(cmd, args)
	})
	root.Version = Version()
	root.SetVersionTemplate(versionLine(root.Version))
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2 // letters
	root.Flags().AddFlagSet(run.Flags())
	a.addGlobalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: "evaluate", Title: "Evaluate:"},
		&cobra.Group{ID: "ask", Title: "Ask:"},
		&cobra.Group{ID: "configure", Title: "Configure:"},
		&cobra.Group{ID: "maintain", Title: "Maintain:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("evaluate", run, a.watchCommand(), a.planCommand(), a.evalCommand(), a.mergeCommand(), a.shellCommand(), a.genCommand())
	add("ask", a.explainCommand(), a.statusCommand(), a.listCommand(), a.showCommand(), a.resultsCommand(), a.diffCommand(), a.reportCommand(), a.compareCommand(), a.bundleCommand(), a.verifyCommand(), a.runsCommand(), a.logCommand(), a.getCommand(), a.queryCommand(), a.findCommand(), a.graphCommand(), a.releaseCommand())
	add("configure", a.initCommand(), a.validateCommand(), a.fmtCommand(), a.lspCommand(), a.mcpCommand(), a.consoleCommand(), a.variablesCommand(), a.schemaCommand(), a.lockCommand(), a.trustCommand(), a.keygenCommand())
	add("maintain", a.cacheCommand(), a.cleanCommand(), a.doctorCommand(), a.workerCommand(), a.actionCommand(), a.versionCommand(), a.completionCommand())
	root.SetHelpCommandGroupID("maintain")
	return root
}

// hintAtCommand adds a hint to the error about a selector without a match if it looks like a mistyped command.
func hintAtCommand(root *cobra.Command, args []string, err error) error {
	var coded *exit.Error
	if !errors.As(err, &coded) || coded.Class != exit.NoMatch || len(args) == 0 {
		return err
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return exit.With(exit.NoMatch, fmt.Errorf("%w; or did you mean the command %s?", coded.Err, near[0]))
	}
	return err
}

func (a *app) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVarP(&a.flags.dir, "chdir", "C", "", "directory of the configuration")
	f.StringVarP(&a.flags.file, "file", "f", "", "configuration file to use instead of fevalgraph.hcl")
	f.StringArrayVar(&a.flags.vars, "var", nil, "set a variable: `NAME=VALUE` (repeatable)")
	f.StringArrayVar(&a.flags.varFiles, "var-file", nil, "read variables from a `FILE` (repeatable)")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "show errors only")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "show more")
	f.StringVar(&a.flags.color, "color", "auto", "auto, always or never")
	f.StringVar(&a.flags.cache, "cache", "", "caches to use, with their modes: local:rw or local:r, and remote ones by name, such as local:rw,team:r (default: local:rw and all remote ones)")
	f.BoolVar(&a.flags.offline, "offline", false, "use only uv's cache for requirements and pytest")
	f.BoolVar(&a.flags.json, "json", false, "print JSON: the event stream for run, one object for commands that read")
	f.IntVarP(&a.flags.jobs, "jobs", "j", 0, "nodes that run at once (default: the number of processors)")
	f.StringVar(&a.flags.progress, "progress", "", "auto, live, plain, json or none")
	f.BoolVar(&a.flags.trust, "trust", false, "trust the project of this call: query its backends")
	f.BoolVar(&a.flags.locked, "locked", false, "fail if requirements are not locked, instead of locking them")
}

// checkFlags returns an error for invalid values of global flags, even if the command does not use them.
func (a *app) checkFlags() error {
	_, jobsErr := a.jobs()
	_, modeErr := a.progressMode()
	_, colorErr := view.UseColor(a.flags.color, a.io.Out, a.io.LookupEnv)
	_, _, cacheErr := a.caches()
	if err := cmp.Or(jobsErr, modeErr, colorErr, cacheErr); err != nil {
		return exit.With(exit.Usage, err)
	}
	return nil
}

// jobs returns how many nodes run at once; 0 means the default.
func (a *app) jobs() (int, error) {
	if a.flags.jobs < 0 {
		return 0, exit.With(exit.Usage, fmt.Errorf("-j %d: want at least 1", a.flags.jobs))
	}
	if a.flags.jobs > 0 {
		return a.flags.jobs, nil
	}
	if text, ok := a.io.LookupEnv("FEVALGRAPH_JOBS"); ok && text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, exit.With(exit.Usage, fmt.Errorf("FEVALGRAPH_JOBS=%s: want a number of at least 1", text))
		}
		return n, nil
	}
	return 0, nil
}

// caches parses --cache: whether the store is read-only, and which remote caches are used; nil means all.
// Whether these exist is checked later.
func (a *app) caches() (readOnly bool, remotes map[string]string, err error) {
	if a.flags.cache == "" {
		return false, nil, nil
	}
	remotes = map[string]string{}
	for one := range strings.SplitSeq(a.flags.cache, ",") {
		name, mode, given := strings.Cut(one, ":")
		switch {
		case name == "" || given && mode != "r" && mode != "rw":
			return false, nil, exit.With(exit.Usage, fmt.Errorf("--cache %s: want local:rw or local:r, and remote caches by name, such as local:rw,team:r", a.flags.cache))
		case name == "local":
			readOnly = mode == "r"
		default:
			remotes[name] = mode
		}
	}
	return readOnly, remotes, nil
}

// load reads the configuration, without opening the project.
func (a *app) load() (*lang.Config, error) {
	o := a.options()
	return o.Load()
}

// options returns the options in the global flags, which checkFlags has validated.
func (a *app) options() eval.Options {
	jobs, _ := a.jobs()
	readOnly, remotes, _ := a.caches()
	return eval.Options{
		Inputs:        lang.Inputs{Dir: a.flags.dir, File: a.flags.file, Vars: a.flags.vars, VarFiles: a.flags.varFiles},
		LookupEnv:     a.io.LookupEnv,
		Version:       Version(),
		Done:          a.done,
		Jobs:          jobs,
		StoreReadOnly: readOnly,
		Remotes:       remotes,
		Permissions:   options.Permissions{Offline: a.flags.offline, Locked: a.flags.locked, Trusted: a.trustsProject(), Restricted: a.rule.Executes != ReachProject},
		Benchmarks:    a.io.Benchmarks,
		Kinds:         a.io.Kinds,
		Notify:        a.notice,
	}
}

// langOptions returns the options of commands that only read the configuration.
func (a *app) langOptions() lang.Options {
	o := a.options()
	return o.Lang()
}

// notice prints a notice. Quiet commands print only notices about costs.
func (a *app) notice(n options.Notice) {
	switch n := n.(type) {
	case options.Warnings:
		a.findings(n.Diagnostics)
	case options.StateForeign:
		a.foreignReported.Do(func() {
			said, _ := describe.Notice(n)
			a.printRemark("%s", said)
		})
	case options.InvalidProblems: // quiet runs report it once, at the end
		a.findings(n.Diagnostics)
	default:
		if said, always := describe.Notice(n); always || !a.flags.quiet {
			a.printRemark("%s", said)
		}
	}
}

// writeJSON prints an object for --json.
func (a *app) writeJSON(v any) error { return view.WriteJSON(a.io.Out, v) }

// printRemark prints a remark, and escapes text of submissions and projects, which could control the terminal.
func (a *app) printRemark(format string, args ...any) {
	io.WriteString(a.remarks(), text.Hang(text.Block(fmt.Sprintf(format, args...)), a.columns(a.io.Err)))
}

// remarks returns a writer for remarks, which writes whole lines to stderr, above a live view.
func (a *app) remarks() io.Writer {
	if a.above != nil {
		return a.above
	}
	return a.io.Err
}

// escape returns text from elsewhere for stdout. On a terminal it is escaped.
func (a *app) escape(s string) string {
	if _, ok := view.Terminal(a.io.Out); ok {
		return text.Block(s)
	}
	return s
}

func (a *app) findings(list diag.List) {
	if !a.flags.quiet {
		var said strings.Builder
		view.Diagnostics(&said, list, a.colorErr(), a.columns(a.io.Err))
		io.WriteString(a.remarks(), said.String())
	}
}

// progressMode returns how a run is shown.
func (a *app) progressMode() (view.Mode, error) {
	text := a.flags.progress
	if text == "" {
		text, _ = a.io.LookupEnv("FEVALGRAPH_PROGRESS")
	}
	if a.flags.json {
		text = string(view.JSON)
	}
	if text == "" {
		text = string(view.Auto)
	}
	mode, err := view.ParseMode(text)
	if err != nil {
		return "", exit.With(exit.Usage, err)
	}
	return mode, nil
}

// progress returns the view for the events of a run, or of a call of gen.
func (a *app) progress() (*view.Deferred, error) {
	mode, err := a.progressMode()
	progress := view.NewDeferred(mode, view.Options{Out: a.io.Out, Err: a.io.Err, Color: a.colorErr(),
		Verbose: a.flags.verbose, Quiet: a.flags.quiet, Width: a.columns(a.io.Err), LookupEnv: a.io.LookupEnv})
	a.above = progress
	return progress, err
}

// color reports whether stdout is colored; colorErr does so for stderr.
func (a *app) color() bool {
	on, err := view.UseColor(a.flags.color, a.io.Out, a.io.LookupEnv)
	return err == nil && on
}

func (a *app) colorErr() bool {
	on, err := view.UseColor(a.flags.color, a.io.Err, a.io.LookupEnv)
	return err == nil && on
}

// tableOptions returns the options for tables of results on stdout.
func (a *app) tableOptions() report.Options {
	return report.Options{Page: a.page(), Verbose: a.flags.verbose}
}

// columns returns the width for output to w: that of the terminal, or else COLUMNS; 0 means no limit.
func (a *app) columns(w io.Writer) int {
	if n := view.Columns(w); n > 0 {
		return n
	}
	asked, _ := a.io.LookupEnv("COLUMNS")
	n, _ := strconv.Atoi(asked)
	return max(n, 0)
}

// lines returns the page for lines of text on stdout: the width of the terminal, or else COLUMNS if set.
func (a *app) lines() text.Page {
	p := a.page()
	p.Width = a.columns(a.io.Out)
	return p
}

// page returns the page for tables on stdout.
func (a *app) page() text.Page {
	return text.Page{Color: a.color(), Width: cmp.Or(a.columns(a.io.Out), 80)}
}

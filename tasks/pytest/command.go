package pytest

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/compat/scbench/workspace"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// DefaultRequirements are added to the requirements of every pytest problem.
var DefaultRequirements = []string{
	"pytest", "pytest-json-ctrf", "pytest-json-report", "pytest-timeout", "jsonschema", "deepdiff",
}

// Paths in the workspace, relative to its root.
const (
	iniPath        = "pytest.ini"
	reportsDir     = workspace.Reports
	stagesPath     = reportsDir + "/stages"
	ctrfPath       = reportsDir + "/ctrf-report.json"
	jsonReportPath = reportsDir + "/pytest-report.json"
)

const uvxProgram = "uvx"

// pytest returns the command that runs pytest with exactly the locked requirements.
func (r *Run) pytest(in pytestLocation, offline bool) []string {
	if in.venv == "" {
		return r.uvx(in.python, offline)
	}
	script := inVenv + `exec "$program" "$@"`
	if !r.Backend.Capabilities().OwnFiles { // if a signal ends pytest, the exit code is the same as with uvx
		script = inVenv + `"$program" "$@"; exit $?`
	}
	return []string{"/bin/sh", "-c", script, "sh", in.venv, "pytest"}
}

// inVenv runs the program $2 of the environment $1, like uvx, and never a program with the same name
// elsewhere.
const inVenv = `PATH=$1/bin:$PATH; export PATH; program=$1/bin/$2; shift 2; `

// uvx makes uv find pytest in its cache. --no-config keeps configuration that a submission ships from
// redirecting the package index.
func (r *Run) uvx(python string, offline bool) []string {
	// With --isolated, uv ignores tools that a submission installed in its home directory.
	argv := []string{uvxProgram, "--isolated", "--no-config"}
	// If the submission has a separate cache in the session, pytest comes from the other one.
	if dir := r.Env.Value("UV_CACHE_DIR"); dir != "" {
		argv = append(argv, "--cache-dir="+dir)
	}
	if offline {
		argv = append(argv, "--offline")
	}
	if python != "" {
		argv = append(argv, "--python="+python)
	}
	for _, line := range r.pins {
		pin, _ := requirements.Cut(line)
		argv = append(argv, "--with="+pin)
	}
	return append(argv, "pytest")
}

// verified makes uv check requirements against their hashes, and then runs a command: $1 is the
// interpreter, $2 are options of uv, followed by lines of requirements.txt, "--", and the command. uvx
// itself does not check hashes, but installs the checked files from uv's cache.
const verified = `set -eu
python=$1 options=$2
shift 2
while [ "$1" != -- ]; do printf '%s\n' "$1"; shift; done >requirements.txt
shift
uv pip install --quiet --no-config $options --python "$python" --target verified --requirements requirements.txt
rm -rf verified requirements.txt
exec "$@"`

// inMade creates the environment $1 with a command, the other arguments, and prints the version of its
// pytest. An existing environment is complete.
const inMade = `venv=$1
[ ! -e "$venv" ] || exit 0
shift
"$@" && exec "$venv/bin/pytest" --version`

// provide returns the command that makes uv provide pytest, and prints pytest's version. For uvx, it also
// installs the locked requirements in an unused directory, only to check their hashes.
func (r *Run) provide(in pytestLocation, offline bool) []string {
	python := in.python
	if in.venv != "" {
		return append([]string{"/bin/sh", "-c", inMade, "sh", in.venv}, requirements.Environment(python, in.shared(), r.pins)...)
	}
	argv := append(r.pytest(in, offline), "--version")
	if python == "" || !slices.ContainsFunc(r.pins, func(line string) bool { return requirements.Hashed([]string{line}) }) {
		return argv
	}
	var options []string
	if requirements.Hashed(r.pins) { // otherwise installed packages count
		options = append(options, "--require-hashes")
	}
	if offline {
		options = append(options, "--offline")
	}
	checked := append([]string{"/bin/sh", "-c", verified, "sh", python, strings.Join(options, " ")}, r.pins...)
	return append(append(checked, "--"), argv...)
}

// testCommand returns the whole pytest command. The explicit -c and --confcutdir exclude the submission's
// configuration and its root conftest.py.
func (r *Run) testCommand(in pytestLocation, dir string, env []string) (argv, with []string) {
	if r.Plain {
		return r.pluginCommand(r.pytestTests(in), dir, env)
	}
	return r.within(r.pytestTests(in)), env
}

// sealedCommand returns testCommand with the plugin that seals the reports.
func (r *Run) sealedCommand(in pytestLocation, dir string, env []string) (argv, with []string) {
	options := []string{"-p", pluginName, "-p", limitsPluginName}
	if r.Separate != nil {
		options = append([]string{"-p", importPluginName}, options...)
	}
	return r.pluginCommand(r.pytestTests(in, options...), dir, env)
}

// pluginCommand sets up the environment of a command to find plugins: from env or, in a container, by
// extending the image's environment, which requires a shell there. On other backends no shell is used,
// since it might not find uvx.
func (r *Run) pluginCommand(argv []string, dir string, env []string) (_, with []string) {
	if r.Backend.Capabilities().OwnFiles {
		return r.within(append([]string{"/bin/sh", "-c", sealed + `exec "$@"`, "sh"}, argv...)), env
	}
	const variable = "PYTHONPATH="
	found := path.Join(dir, pluginDir)
	for _, pair := range env {
		if before, ok := strings.CutPrefix(pair, variable); !ok {
			with = append(with, pair)
		} else if before != "" {
			found += ":" + before
		}
	}
	return r.within(argv), append(with, variable+found)
}

// within returns a shell command that runs Before, and then a command. Python programs that Before starts
// do not import from the workspace, which contains the submission.
func (r *Run) within(argv []string) []string {
	if r.Before == "" {
		return argv
	}
	const safe = `PYTHONSAFEPATH=${PYTHONSAFEPATH:-before}; export PYTHONSAFEPATH
%s
[ "$PYTHONSAFEPATH" != before ] || unset PYTHONSAFEPATH
exec "$@"`
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(safe, r.Before), "sh"}, argv...)
}

// pytestTests returns the command that runs the tests, with further options.
func (r *Run) pytestTests(in pytestLocation, options ...string) []string {
	argv := append(r.pytest(in, true), r.Directory+"/",
		"--entrypoint="+r.Entry,
		"--checkpoint="+r.Checkpoint,
		"--ctrf="+ctrfPath,
		"--json-report",
		"--json-report-file="+jsonReportPath,
		"--json-report-omit", "traceback", "streams", "log", "warnings",
		"-c", iniPath,
		"--rootdir=.",
		"--confcutdir="+r.Directory,
	)
	if r.Timeout > 0 {
		argv = append(argv, "--timeout="+seconds(r.Timeout))
	}
	if r.Plain {
		argv = append(argv, "-p", optionsPluginName) // before other plugins, so that their fixtures override it
	}
	for _, plugin := range r.Plugins {
		argv = append(argv, "-p", plugin)
	}
	argv = append(argv, options...)
	return append(append(argv, "-vv"), r.Args...)
}

// optionsPlugin declares the options of pytestTests.
//
//go:embed fevalgraph_options.py
var optionsPlugin []byte

const optionsPluginName = "fevalgraph_options"

// seconds formats seconds, without a fraction if they are whole.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// builtinMarkers are registered for every problem.
var builtinMarkers = []Marker{
	{Name: "error", Description: "error-handling / edge-case tests"},
	{Name: "functionality", Description: "non-core / nice-to-have tests"},
	{Name: "regression", Description: "regression tests from prior checkpoints"},
}

// ini returns the pytest.ini of the workspace: it registers the markers, built-in markers first.
func (r *Run) ini() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "[pytest]\ntestpaths = %s\n", r.Directory)
	if r.importable() {
		b.WriteString("pythonpath = .\n")
	}
	b.WriteString("markers =\n")
	builtin := map[string]bool{}
	for _, m := range builtinMarkers {
		builtin[m.Name] = true
		fmt.Fprintf(&b, "    %s: %s\n", m.Name, m.Description)
	}
	for _, m := range r.Markers {
		if !builtin[m.Name] {
			// A line break would end the marker's line and corrupt the file.
			fmt.Fprintf(&b, "    %s: %s\n", m.Name, strings.Join(strings.Fields(m.Description), " "))
		}
	}
	return []byte(b.String())
}

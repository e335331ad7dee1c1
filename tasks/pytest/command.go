package pytest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/compat/scbench/workspace"
)

// DefaultRequirements are what every pytest problem gets beside its own.
var DefaultRequirements = []string{
	"pytest", "pytest-json-ctrf", "pytest-json-report", "pytest-timeout", "jsonschema", "deepdiff",
}

// Places in the workspace, relative to its root.
const (
	iniPath        = "pytest.ini"
	reportsDir     = workspace.Reports
	ctrfPath       = reportsDir + "/ctrf-report.json"
	jsonReportPath = reportsDir + "/pytest-report.json"
)

const uvxProgram = "uvx"

// uvx is the command that runs pytest with exactly the locked requirements.
// --no-config keeps configuration that a submission ships from redirecting
// the package index.
func (r *Run) uvx(python string, offline bool) []string {
	// Isolated, uv looks for no tool that a submission installed in its home directory.
	argv := []string{uvxProgram, "--isolated", "--no-config"}
	// Where a session gives the submission a cache of its own, pytest comes from the other.
	if dir := lastValue(r.variables(), "UV_CACHE_DIR"); dir != "" {
		argv = append(argv, "--cache-dir="+dir)
	}
	if offline {
		argv = append(argv, "--offline")
	}
	if python != "" {
		argv = append(argv, "--python="+python)
	}
	for _, requirement := range r.pins {
		argv = append(argv, "--with="+requirement)
	}
	return append(argv, "pytest")
}

// lastValue returns the value of a variable, the one that counts.
func lastValue(env []string, name string) (value string) {
	for _, v := range env {
		if found, ok := strings.CutPrefix(v, name+"="); ok {
			value = found
		}
	}
	return value
}

// testCommand is the whole pytest command. The explicit -c and --confcutdir
// keep a submission's own configuration and its root conftest.py out.
func (r *Run) testCommand(python string) []string {
	argv := append(r.uvx(python, true), r.Directory+"/"+r.File,
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
	for _, plugin := range r.Plugins {
		argv = append(argv, "-p", plugin)
	}
	argv = append(argv, "-vv")
	return append(argv, r.Args...)
}

// seconds prints whole seconds without a fraction, as people write them.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// builtinMarkers are registered for every problem.
var builtinMarkers = []Marker{
	{Name: "error", Description: "error-handling / edge-case tests"},
	{Name: "functionality", Description: "non-core / nice-to-have tests"},
	{Name: "regression", Description: "regression tests from prior checkpoints"},
}

// ini is the pytest.ini of the workspace: it registers the markers, built-in
// ones first.
func (r *Run) ini() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "[pytest]\ntestpaths = %s\nmarkers =\n", r.Directory)
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

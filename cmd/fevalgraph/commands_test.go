//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// scriptCommands returns the scripts' commands other than testscript's own. ADDR
// stands for addresses of nodes, with braces as in a shell: x:{a,b}.
//
//	replace OLD NEW FILE      replace all occurrences, at least one, in a file; \n is a line break
//	append FILE TEXT          append text; \n is a line break
//	exitcode N PROGRAM ARG... run a program that must exit with code N
//	fits N PROGRAM ARG...     run a program that must not print a line wider than N columns
//	ran N [KIND=COUNT...]     the last run executed N nodes, and COUNT of each KIND
//	ranexactly [ADDR...]      the last run executed exactly these nodes
//	planned [ADDR...]         a plan calls exactly these nodes stale
//	cached [ARG...]           another run executes nothing
//	settled                   run until no node is decided, as the states of files prove that nothing changed
//	json QUERY WANT FILE      compare the value at a path of a JSON file: cells.0.status, nodes.len
//	line first|last FILE OUT  write one line of a file to another
//	events N FILE             check that the lines are a complete event stream of N nodes
//	runid NAME                set the variable to the id of the last run
//	smaller FILE BYTES        check that a file has at most BYTES
//	sameresults FILE OTHER    compare results, except runs and durations
//	editor METHOD FILE [LINE COLUMN]  write the language server's response to answer.json, and
//	                          its diagnostics to diagnostics.json
//	clone DIR                 copy the project, not its state, to DIR
//	judgeserver NAME PROBLEM  start a judge server that has the problem and set
//	                          the variable to its address; it judges solutions by
//	                          fakejudge.Ratios
//	submitted NAME N          check that it has received N submissions
//	bazelremote start NAME    start a bazel-remote; options after NAME: auth, tls, reads;
//	                          NAME_GRPC, NAME_HTTP, NAME_CA as below; kill, stop, continue
//	                          and restart control it
//	remotecache NAME          start a remote cache; NAME_GRPC and NAME_HTTP are its addresses
//	remotefault NAME JSON     set its remotetest.Faults; {} removes them
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, []string) error{
		"replace":    replaceCommand,
		"append":     appendCommand,
		"exitcode":   exitCodeCommand,
		"ran":        ranCommand,
		"ranexactly": ranExactlyCommand,
		"planned":    plannedCommand,
		"cached":     cachedCommand,
		"settled":    settledCommand,
		"json":       jsonCommand,
		"smaller":    smallerCommand,
		"line":       lineCommand,
		"events":     eventsCommand,
		"runid":      runIDCommand,
		"clone":      cloneCommand,
		"fits":       fitsCommand,
		"editor":     editorCommand,

		"sameresults": sameResultsCommand,

		"judgeserver": judgeServerCommand,
		"submitted":   submittedCommand,
		"bazelremote": bazelRemoteCommand,
		"remotecache": remoteCacheCommand,
		"remotefault": remoteFaultCommand,
	}
	all := systemCommands()
	maps.Copy(commands, backgroundCommands())
	for name, run := range commands {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			if err := run(ts, args); err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
	return all
}

func want(args []string, n int, usage string) error {
	if len(args) < n {
		return fmt.Errorf("want %s", usage)
	}
	return nil
}

// unescape lets a word of a script hold line breaks and tabs.
var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t")

func replaceCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 3, "OLD NEW FILE"); err != nil {
		return err
	}
	before, after := unescape.Replace(args[0]), unescape.Replace(args[1])
	path := ts.MkAbs(args[2])
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), before) {
		return fmt.Errorf("%q is not in %s", before, args[2])
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(content), before, after)), 0o644)
}

func appendCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "FILE TEXT"); err != nil {
		return err
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(unescape.Replace(args[1]) + "\n")
	return errors.Join(err, f.Close())
}

// perRun matches the text that differs between equal results of two runs.
var perRun = regexp.MustCompile(`"(run|duration_ms)":[^,}]*|\b(time|timestamp|name="run" value)="[^"]*"`)

func sameResultsCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "FILE OTHER"); err != nil {
		return err
	}
	var texts [2]string
	for i := range texts {
		content, err := os.ReadFile(ts.MkAbs(args[i]))
		if err != nil {
			return err
		}
		texts[i] = perRun.ReplaceAllString(string(content), "")
	}
	if len(texts[0]) < 100 {
		return fmt.Errorf("%s has no results", args[0])
	}
	for i := range min(len(texts[0]), len(texts[1])) {
		if texts[0][i] != texts[1][i] {
			from := max(0, i-200)
			return fmt.Errorf("%s and %s differ:\n%.400s\n%.400s", args[0], args[1], texts[0][from:], texts[1][from:])
		}
	}
	if len(texts[0]) != len(texts[1]) {
		return fmt.Errorf("%s and %s have another length", args[0], args[1])
	}
	return nil
}

func exitCodeCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "N PROGRAM ARG..."); err != nil {
		return err
	}
	code, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		return err
	}
	if got != code {
		return fmt.Errorf("exit code %d, want %d", got, code)
	}
	return nil
}

func ranCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 1, "N [KIND=COUNT...]"); err != nil {
		return err
	}
	r, err := lastRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv))
	if err != nil {
		return err
	}
	if got := strconv.Itoa(r.end.Executed); got != args[0] {
		return fmt.Errorf("the run executed %s nodes, want %s:\n  %s", got, args[0], strings.Join(r.executed, "\n  "))
	}
	for _, arg := range args[1:] {
		kind, count, _ := strings.Cut(arg, "=")
		n := 0
		for _, addr := range r.executed {
			if strings.HasPrefix(addr, kind+":") {
				n++
			}
		}
		if strconv.Itoa(n) != count {
			return fmt.Errorf("the run executed %d %s nodes, want %s:\n  %s", n, kind, count, strings.Join(r.executed, "\n  "))
		}
	}
	return nil
}

func ranExactlyCommand(ts *testscript.TestScript, args []string) error {
	r, err := lastRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv))
	if err != nil {
		return err
	}
	return sameSet("the run executed", r.executed, args)
}

func plannedCommand(ts *testscript.TestScript, args []string) error {
	if err := ts.Exec("fevalgraph", "plan", "--json"); err != nil {
		return err
	}
	var plan struct {
		Nodes []struct{ Addr, State string }
	}
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &plan); err != nil {
		return err
	}
	var stale []string
	for _, n := range plan.Nodes {
		if n.State != "fresh" {
			stale = append(stale, n.Addr)
		}
	}
	return sameSet("the plan calls stale", stale, args)
}

// sameSet compares addresses in any order.
func sameSet(what string, got, wanted []string) error {
	var expanded []string
	for _, w := range wanted {
		expanded = append(expanded, braces(w)...)
	}
	var wrong []string
	for _, g := range got {
		if !slices.Contains(expanded, g) {
			wrong = append(wrong, "not expected: "+g)
		}
	}
	for _, w := range expanded {
		if !slices.Contains(got, w) {
			wrong = append(wrong, "missing:      "+w)
		}
	}
	if len(wrong) == 0 && len(got) == len(expanded) {
		return nil
	}
	return fmt.Errorf("%s %d nodes, want %d:\n  %s", what, len(got), len(expanded), strings.Join(wrong, "\n  "))
}

// braces expands x{a,b}y to xay and xby. Braces do not nest.
func braces(word string) []string {
	head, rest, found := strings.Cut(word, "{")
	choices, tail, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{word}
	}
	var all []string
	for choice := range strings.SplitSeq(choices, ",") {
		for _, end := range braces(tail) {
			all = append(all, head+choice+end)
		}
	}
	return all
}

func cachedCommand(ts *testscript.TestScript, args []string) error {
	before, err := lastRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv))
	if err != nil {
		return err
	}
	err = ts.Exec("fevalgraph", append([]string{"run", "--quiet"}, args...)...)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return err
	}
	r, err := lastRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv))
	if err != nil {
		return err
	}
	if r.end.Run == before.end.Run {
		return errors.New("the run was not recorded")
	}
	return sameSet("the run executed", r.executed, nil)
}

// settledCommand waits for file times that are old enough to prove something.
func settledCommand(ts *testscript.TestScript, _ []string) (err error) {
	settled := await.For(func() bool {
		if err = cachedCommand(ts, nil); err != nil {
			return true
		}
		var run *event.Run
		if run, err = event.FindRun(openRecords(ts.MkAbs(".fevalgraph"), ts.Getenv), "latest"); err != nil {
			return true
		}
		decided := 0
		err = run.Each(func(e event.Event) bool {
			if _, ok := e.(event.NodeDone); ok {
				decided++
			}
			return true
		})
		return err != nil || decided == 0
	})
	if !settled {
		return errors.New("every run decides about nodes again")
	}
	return err
}

func jsonCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 3, "QUERY WANT FILE"); err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[2])), &value); err != nil {
		return err
	}
	got, err := lookUp(value, args[0])
	if err != nil {
		return err
	}
	matched, err := regexp.MatchString("^(?:"+args[1]+")$", got)
	if err == nil && !matched {
		err = fmt.Errorf("%s is %s, want %s", args[0], got, args[1])
	}
	return err
}

// lookUp follows names, indices and "len", the length, separated by dots; it returns texts unchanged and everything
// else as JSON.
func lookUp(value any, query string) (string, error) {
	for step := range strings.SplitSeq(query, ".") {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return "", fmt.Errorf("there is no %q of %s", step, query)
			}
			value = next
		case []any:
			if step == "len" {
				value = len(v)
				continue
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return "", fmt.Errorf("there is no %q of %s among %d", step, query, len(v))
			}
			value = v[i]
		default:
			return "", fmt.Errorf("%v not found at %q of %s", value, step, query)
		}
	}
	if text, ok := value.(string); ok {
		return text, nil
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err
}

func smallerCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "FILE BYTES"); err != nil {
		return err
	}
	limit, err := strconv.Atoi(args[1])
	if n := len(ts.ReadFile(args[0])); err == nil && n > limit {
		err = fmt.Errorf("%s has %d bytes", args[0], n)
	}
	return err
}

func cloneCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 1, "DIR"); err != nil {
		return err
	}
	to := ts.MkAbs(args[0])
	entries, err := os.ReadDir(ts.MkAbs("."))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == filepath.Base(to) {
			continue
		}
		if err := ts.Exec("cp", "-R", ts.MkAbs(e.Name()), to); err != nil {
			return err
		}
	}
	return nil
}

// fitsCommand runs a program with COLUMNS=N, ignores its exit code, and checks the width of its lines.
func fitsCommand(ts *testscript.TestScript, args []string) error {
	if err := want(args, 2, "N PROGRAM ARG..."); err != nil {
		return err
	}
	columns, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	before := ts.Getenv("COLUMNS")
	ts.Setenv("COLUMNS", args[0])
	_ = ts.Exec(args[1], args[2:]...)
	ts.Setenv("COLUMNS", before)
	var wide []string
	for _, stream := range []string{"stdout", "stderr"} {
		for line := range strings.Lines(ts.ReadFile(stream)) {
			line = strings.ReplaceAll(strings.TrimRight(line, "\n"), ts.Getenv("WORK"), "/work") // wider than a terminal's
			if text.Width(line) > columns {
				wide = append(wide, fmt.Sprintf("%s, %d columns: %s", stream, text.Width(line), line))
			}
		}
	}
	if len(wide) > 0 {
		return fmt.Errorf("%q prints wider lines:\n%s", args[1:], strings.Join(wide, "\n"))
	}
	return nil
}

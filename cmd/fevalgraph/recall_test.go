package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// said is all that somebody sees of a command.
type said struct {
	stdout, stderr string
	exit           int
}

func (c *checkout) says(env string, args ...string) said {
	c.t.Helper()
	cmd := c.command(args...)
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return said{cmd.Stdout.(*bytes.Buffer).String(), cmd.Stderr.(*bytes.Buffer).String(), cmd.ProcessState.ExitCode()}
}

// sameWithoutMemory fails unless a command says the same when nothing is remembered,
// so that it decides about everything.
func (c *checkout) sameWithoutMemory(what, env string, args ...string) said {
	c.t.Helper()
	got := c.says(env, args...)
	memory := filepath.Join(c.dir, ".fevalgraph", "unchanged")
	err := os.Rename(memory, memory+"~")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	want := c.says(env, args...)
	if err == nil {
		if err := os.Rename(memory+"~", memory); err != nil {
			c.t.Fatal(err)
		}
	}
	if got != want {
		c.t.Fatalf("%s: fevalgraph %s says\n%+v\nwithout a memory\n%+v", what, strings.Join(args, " "), got, want)
	}
	return got
}

// askedOf are commands that read, with flags; all that are worth it in make test.
func askedOf(addrs []string, flags ...string) [][]string {
	asked := [][]string{{"plan"}, {"status"}, {"status", "--json"}, {"explain", addrs[0]}}
	if os.Getenv(realVariable) == "" {
		addrs = addrs[1:min(len(addrs), 3)]
	} else {
		asked = [][]string{
			{"plan"}, {"plan", "--check"}, {"plan", "-q", "--check"}, {"plan", "-v"}, {"plan", "--json"}, {"run", "-n"}, {"plan", "--color", "always"},
			{"plan", "--force", "kind=parse"}, {"plan", "--only", "kind=pytest"}, {"plan", "problem=kv"}, {"plan", "--cache", "local:r"}, {"plan", "nothing"},
			{"status"}, {"status", "--json"}, {"status", "--color", "always"}, {"status", "-q"}, {"status", "solution=good"}, {"status", "-v"},
			{"explain", "parse:*"}, {"explain", "nothing:at/all"},
		}
	}
	for _, addr := range addrs {
		asked = append(asked, []string{"explain", addr}, []string{"explain", addr, "-v"}, []string{"explain", addr, "--json"})
	}
	for i := range asked {
		asked[i] = append(asked[i], flags...)
	}
	return asked
}

// addresses are those of all nodes.
func (c *checkout) addresses() []string {
	c.t.Helper()
	return strings.Fields(c.says("", "list", "nodes").stdout)
}

// What commands that read say does not depend on what is remembered: nothing
// changed, then source files, again and again, with runs between.
func TestReadersRecallWhatHolds(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	c := partProject(t, repeats)
	c.settleFailing()
	addrs := c.addresses()
	if len(addrs) < 20 {
		t.Fatalf("only %q", addrs)
	}
	for _, args := range askedOf(addrs) {
		c.sameWithoutMemory("nothing changed", "", args...)
	}
	names := []string{"written", "other verdicts", "mode", "replaced", "time put back"}
	c.mayFail("run", "problem=other") // the last run has fewer results now
	if got := c.sameWithoutMemory("after a run of a problem", "", "status"); !strings.Contains(got.stdout, "  -  ") {
		t.Fatalf("the last run has no results of some cells:\n%s", got.stdout)
	}
	c.mayFail("run")
	steps := 3
	if os.Getenv(realVariable) != "" {
		steps = 12
	}
	for step := range steps {
		name, source := names[random.IntN(len(names))], editable[random.IntN(len(editable))]
		if err := edits[name](filepath.Join(c.dir, source)); err != nil {
			t.Fatal(err)
		}
		what := source + " " + name
		for _, args := range askedOf([]string{addrs[random.IntN(len(addrs))], addrs[random.IntN(len(addrs))]}) {
			c.sameWithoutMemory(what, "", args...)
		}
		if step%2 == 1 { // what changed may add up, or be remembered
			c.mayFail("run")
			c.sameWithoutMemory("after a run", "", "plan")
			c.sameWithoutMemory("after a run", "", "status")
		}
	}
}

// readersSee fails unless commands that read see what was changed since the last
// run, as if nothing were remembered.
func (c *checkout) readersSee(name string, try unsettled, addrs []string) {
	c.t.Helper()
	var flags []string
	if slices.Contains(try.args, "--var") {
		flags = try.args
	}
	for _, args := range askedOf(addrs, flags...) {
		got := c.sameWithoutMemory(name, try.env, args...)
		if plain := args[0] == "plan" && len(args) == 1+len(flags); !plain || try.args != nil && flags == nil || name == "blobs damaged" {
			continue // it says something else, or only reading the blobs tells
		}
		if stale := !strings.HasPrefix(got.stdout, "= "); stale != try.runs {
			c.t.Errorf("something has to run by plan: %v, want %v:\n%s", stale, try.runs, got.stdout)
		}
	}
}

// amendMemory changes what is remembered, with a checksum that is right.
func (c *checkout) amendMemory(amend func(memory map[string]any)) {
	c.t.Helper()
	path := filepath.Join(c.dir, ".fevalgraph", "unchanged")
	content, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	at := bytes.IndexByte(content, '\n') + 1
	size := binary.LittleEndian.Uint64(content[at:])
	shown := binary.LittleEndian.Uint64(content[at+8:])
	from := at + 16 + sha256.Size
	encoded, rest := content[from:from+int(size)], content[from+int(size):]
	var memory map[string]any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&memory); err != nil {
		c.t.Fatal(err)
	}
	amend(memory)
	if encoded, err = json.Marshal(memory); err != nil {
		c.t.Fatal(err)
	}
	head := binary.LittleEndian.AppendUint64(slices.Clone(content[:at]), uint64(len(encoded)))
	head = binary.LittleEndian.AppendUint64(head, shown)
	sum := sha256.Sum256(slices.Concat(head, encoded, rest[:shown]))
	next := slices.Concat(head, sum[:], encoded, rest)
	if err := os.WriteFile(path, next, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// What is remembered is what is said: false memories are told, too.
func TestReadersDoRecall(t *testing.T) {
	t.Parallel()
	c := newCheckout(t, t.TempDir())
	c.settle()
	addr := `pytest:kv/one/good@local.host`
	if got := c.says("", "explain", addr); !strings.Contains(got.stdout, "fresh") {
		t.Fatalf("%+v", got)
	}
	configuration := filepath.Join(c.dir, ".fevalgraph", "configuration")
	archived, err := os.ReadFile(configuration)
	if err != nil {
		t.Fatal(err)
	}
	archived = bytes.ReplaceAll(archived, []byte("python kv.py"), []byte("python kv.px"))
	if err := os.WriteFile(configuration, archived, 0o600); err != nil {
		t.Fatal(err)
	}
	const status = "all is well\n"
	if err := os.WriteFile(filepath.Join(c.dir, ".fevalgraph", "status"), []byte(status), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, statusSum := sha256.Sum256(archived), sha256.Sum256([]byte(status))
	c.amendMemory(func(memory map[string]any) {
		memory["nodes"], memory["configuration"], memory["status"] = 12345, sum[:], statusSum[:]
	})
	if got := c.says("", "status"); got.stdout != status || got.exit != 0 {
		t.Errorf("status does not tell what is remembered: %+v", got)
	}
	if got := c.says("", "plan"); got.stdout != "= 12345 fresh\n0 stale of 12345. Nothing was changed.\n" || got.exit != 0 {
		t.Errorf("plan does not tell what is remembered: %+v", got)
	}
	if got := c.says("", "explain", addr); !strings.Contains(got.stdout, "python kv.px") {
		t.Errorf("explain does not use the configuration that is remembered: %+v", got)
	}
}

// After a run of a part, status is what is remembered of the run of everything, with
// the rows of that part.
func TestStatusAfterAPart(t *testing.T) {
	t.Parallel()
	c := afterAPart(t)
	c.settleFailing()
	path := filepath.Join(c.dir, ".fevalgraph", "status")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before = bytes.Replace(before, []byte("VERDICT"), []byte("TIDINGS"), 1)
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(before)
	c.amendMemory(func(memory map[string]any) { memory["status"] = sum[:] })
	got := c.says("", "status").stdout
	if !strings.Contains(got, "TIDINGS") {
		t.Errorf("status does not tell what is remembered:\n%s", got)
	}
	want := c.says("", "status", "--json").stdout // decided anew
	if strings.Count(got, "failed") != strings.Count(want, `"failed"`) || strings.Count(got, "failed") == strings.Count(string(before), "failed") {
		t.Errorf("status says\n%s\nwithout memory it is\n%s\nbefore it was\n%s", got, want, before)
	}
}

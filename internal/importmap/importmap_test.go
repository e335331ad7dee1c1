// Package importmap tests which packages import which, the layers and dependencies that ARCHITECTURE.md
// lists, package docs, and words. It contains no code.
//
// A room is a directory with everything below it. The table rooms lists what each can import, and why no
// more; a new directory outside of all rooms needs a row.
package importmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/fevalgraph/fevalgraph/"

// room is a folder with everything below it, except folders with their own room.
type room struct {
	folder string
	may    []string // rooms that its code can import
	why    string   // shown when it imports another
}

// every room can import these; they import only the standard library, golang.org/x/sys, and one another.
var anyone = []string{"internal/capped", "internal/certificates", "internal/frozen", "internal/pyjson", "internal/atomicfile", "internal/lockedfile", "internal/exhaustion", "internal/lazyregexp", "internal/procgroup", "internal/proof", "internal/retry", "internal/seccomp", "internal/subpath"}

var rooms = []room{
	{"cmd/fevalgraph", []string{"internal/cli", "compat", "eval/exit", "backend", "backend/kinds", "backend/worker/workerhost"}, "main hands over the program's parts, and exits"},
	{"cmd/fevalgraph/fevalgraph-worker", []string{"backend", "backend/worker/workerhost", "backend/remote/remotehost", "backend/remote/wire"}, "it is small: what it links is sent to other machines and started for each command"},
	{"internal/cli", []string{"eval", "eval/compare", "eval/exit", "eval/generate", "eval/history", "eval/kind", "eval/options", "eval/packs", "eval/provenance", "eval/shards", "eval/shell", "eval/upkeep", "eval/selection", "eval/user", "eval/validate", "internal/cli/complete", "internal/cli/describe", "view", "report", "report/page", "report/text", "verdict", "event", "lang", "lang/diag", "plan", "graph", "docs", "examples", "backend/worker/workerhost", "backend/remote/wire", "backend/remote/remotehost", "internal/lsp", "internal/mcp", "internal/otlp"}, "a command is flags, one call of eval, and a view"},
	{"internal/cli/complete", []string{"eval", "event"}, "it describes valid words, for any command"},
	{"internal/cli/describe", []string{"eval", "eval/generate", "eval/options", "eval/provenance", "eval/release", "eval/selection", "eval/shards", "eval/upkeep", "eval/user", "eval/validate", "view", "report", "report/text", "event", "lang", "lang/diag", "plan", "graph", "gen"}, "it puts into words what it was handed, and runs nothing"},
	{"gen", []string{"lang", "lang/diag", "graph", "cache", "event", "report/text"}, "it sends prompts to models and writes files; it evaluates nothing, and evaluation does not know it"},
	{"eval/generate", []string{"eval/exit", "eval/options", "eval/partition", "eval/user", "gen", "lang", "graph", "cache", "event", "backend"}, "evaluation does not need it"},
	{"internal/otlp", []string{"event"}, "it sends events, without their meaning"},
	{"internal/mcp", nil, "it answers by what commands print"},
	{"internal/lsp", []string{"eval", "eval/options", "eval/validate", "lang", "lang/diag", "report/text"}, "it knows texts and positions; others interpret them"},
	{"cache/pack", []string{"cache"}, "it reads and writes stores"},
	{"eval/shards", []string{"eval/selection", "event", "graph", "lang", "plan", "report/text"}, "it divides cells and puts together what was done of them; it runs nothing"},
	{"eval/exit", []string{"event", "graph"}, "it classifies errors of any origin"},
	{"eval/kind", []string{"backend", "cache", "graph", "lang", "plan"}, "a kind of backend does not depend on the application"},
	{"eval/options", []string{"eval/exit", "eval/kind", "eval/user", "backend", "cache", "event", "lang", "lang/diag", "plan"}, "it selects what a call can use, without using it"},
	{"eval/upkeep", []string{"eval/exit", "eval/history", "eval/kind", "eval/options", "eval/partition", "eval/validate", "backend", "cache", "event", "lang", "lang/diag", "report/text"}, "it maintains leftovers on machines; it evaluates nothing"},
	{"eval/selection", []string{"eval/exit", "graph", "lang", "plan", "report", "report/text", "verdict"}, "it knows words and results, and decides nothing"},
	{"eval/history", []string{"eval/exit", "eval/partition", "eval/selection", "cache", "event", "graph", "plan", "report", "tasks", "verdict"}, "it reads what runs recorded"},
	{"eval/causes", []string{"cache", "event", "graph", "plan", "report", "verdict"}, "it compares what runs recorded, and evaluates nothing"},
	{"eval/provenance", []string{"cache", "cache/pack", "graph", "plan", "report", "tasks", "verdict"}, "it checks a file by what is in it, and knows neither a project nor whose keys count"},
	{"eval/stores", []string{"eval/exit", "eval/options", "eval/user", "cache", "cache/remote", "reapi", "graph", "lang", "plan"}, "it opens stores with any content"},
	{"eval/packs", []string{"eval/causes", "eval/exit", "eval/history", "eval/options", "eval/partition", "eval/shards", "cache", "cache/pack", "event", "report"}, "it packs what it is given, and decides nothing"},
	{"eval/compare", []string{"eval/causes", "eval/exit", "eval/history", "eval/options", "eval/packs", "eval/selection", "eval/stores", "plan", "report", "report/text", "verdict"}, "it compares results, and evaluates nothing"},
	{"eval/shell", []string{"eval/exit", "backend", "cache", "graph", "lang", "plan", "tasks"}, "it opens a workspace, and brings nothing up to date"},
	{"eval/release", []string{"verdict"}, "it compares what it is handed, and knows neither a project nor nodes"},
	{"eval/user", []string{"eval/exit", "cache/remote"}, "the user's data does not depend on a project"},
	{"eval/validate", []string{"backend", "lang", "lang/diag", "report", "report/text", "tasks", "verdict"}, "it looks at a configuration and at results, and runs nothing"},
	{"eval/partition", []string{"lang", "lang/diag", "plan", "graph", "cache", "report", "tasks"}, "it keeps what was compiled and decided, and decides nothing"},
	{"eval", []string{"eval/compare", "eval/exit", "eval/history", "eval/kind", "eval/options", "eval/packs", "eval/pages", "eval/partition", "eval/provenance", "eval/release", "eval/selection", "eval/shards", "eval/shell", "eval/stores", "eval/user", "eval/validate", "cache/pack", "lang", "lang/diag", "plan", "graph", "cache", "event", "report", "report/page", "report/text", "verdict", "tasks", "backend", "cache/remote"}, "the application joins the rooms that work; it shows nothing, and knows no flags and no kind of backend"},
	{"eval/pages", []string{"eval/causes", "eval/exit", "eval/history", "eval/selection", "cache", "event", "graph", "plan", "report", "report/draw", "report/page"}, "it gathers what runs recorded, and evaluates nothing"},
	{"internal/capped", nil, "it is used by every room"},
	{"internal/pyjson", nil, "it knows how Python writes JSON, not what is in it"},
	{"internal/frozen", nil, "it encodes values, without their meaning"},
	{"internal/atomicfile", nil, "it writes files with any content"},
	{"internal/lockedfile", nil, "it locks any file"},
	{"internal/exhaustion", nil, "it knows errors of the system, of any operation"},
	{"internal/certificates", nil, "it looks at files of the machine, for any caller"},
	{"internal/dockerfile", nil, "it reads Dockerfiles, and builds nothing"},
	{"internal/lazyregexp", nil, "it compiles expressions for any text"},
	{"internal/subpath", nil, "it relates and finds paths of any files"},
	{"internal/procgroup", nil, "it sets up any command"},
	{"internal/seccomp", nil, "it denies system calls to any program"},
	{"internal/proof", nil, "it proves files with any content"},
	{"internal/retry", nil, "it retries any call"},
	{"internal/importmap", nil, "it is a test"},
	{"internal/testkit", []string{"cache", "reapi"}, "it is for tests of any room"},
	{"lang", []string{"lang", "lang/diag"}, "the language knows neither nodes nor how anything runs or is shown"},
	{"lang/diag", nil, "diagnostics are shown by rooms that know no HCL"},
	{"plan", []string{"lang", "lang/diag", "tasks", "graph", "cache", "event", "backend", "verdict", "report"}, "it compiles the language into tasks and reads results back; it runs and shows nothing"},
	{"graph", []string{"cache", "event"}, "the engine knows neither the language, nor pytest, nor backends"},
	{"verdict", nil, "a verdict is data that tasks create and others read"},
	{"compat/document", []string{"lang", "lang/diag"}, "it reads values, without their meaning"},
	{"compat", []string{"compat", "compat/document", "compat/scbench/workspace", "compat/frontier/batch", "compat/frontier/rules", "plan", "lang", "lang/diag", "report", "report/text", "verdict", "cache", "internal/dockerfile"}, "code for one benchmark builds on plan"},
	{"compat/scbench/workspace", nil, "they are names"},
	{"compat/frontier/batch", nil, "it reads and writes files of batches of any origin"},
	{"compat/frontier/rules", nil, "rules read text"},
	{"tasks", []string{"tasks", "graph", "backend", "verdict", "cache", "event", "compat/scbench/workspace"}, "a task knows values and digests, not HCL, and prints nothing"},
	{"backend", []string{"cache"}, "a backend runs commands on trees; it knows no nodes"},
	{"backend/workspace", []string{"backend", "cache"}, "a directory and the files in it; it starts no program"},
	{"backend/local", []string{"backend", "backend/workspace", "cache"}, "backends know the interface, not each other"},
	{"backend/docker", []string{"backend", "backend/worker", "backend/workspace", "cache", "eval/kind", "lang", "plan", "report/text", "internal/dockerfile"}, "a kind makes its backend of a block and knows no other kind"},
	{"backend/lightcp", []string{"backend", "eval/kind", "lang", "plan"}, "it hands submissions to a server that does all the rest"},
	{"backend/skypilot/api", nil, "it speaks to a server, with any program"},
	{"backend/gojudge", []string{"backend", "backend/workspace", "cache"}, "backends know the interface, not each other"},
	{"backend/kinds", []string{"eval/kind", "lang", "plan", "backend", "backend/local", "backend/docker", "backend/gojudge", "backend/lightcp", "backend/skypilot", "backend/remote"}, "it lists kinds, and contains those of backends that do not link the language"},
	{"backend/worker", []string{"backend", "backend/facts", "cache"}, "backends know the interface, not each other"},
	{"backend/worker/workerhost", []string{"backend", "backend/worker", "backend/local", "backend/gojudge", "cache"}, "it joins the parts of a worker"},
	{"backend/facts", []string{"backend"}, "it keeps facts about machines of any kind"},
	{"backend/remote/parcel", []string{"cache"}, "it packs and unpacks files, wherever they go"},
	{"backend/remote/wire", []string{"backend", "backend/facts", "backend/worker", "cache"}, "it is the protocol between any two programs"},
	{"backend/remote", []string{"backend", "backend/facts", "backend/remote/parcel", "backend/remote/wire", "backend/worker", "cache", "eval/kind", "graph", "lang", "plan", "reapi"}, "it knows neither kinds of engines nor the machines of actions"},
	{"backend/remote/remotehost", []string{"backend", "backend/facts", "backend/remote/parcel", "backend/remote/wire", "backend/worker", "backend/workspace", "backend/local", "backend/gojudge", "cache"}, "it joins the parts of an action"},
	{"backend/skypilot", []string{"backend", "backend/facts", "backend/local", "backend/skypilot/api", "backend/worker", "backend/worker/workerhost", "cache", "eval/kind", "graph", "lang", "plan"}, "it launches clusters and knows no other kind, but for the session of this machine that an API server runs in"},
	{"backend/fake", []string{"backend", "backend/backendtest", "cache"}, "backends know the interface, not each other"},
	{"backend/backendtest", []string{"backend", "cache", "internal/testkit"}, "the suite judges every backend alike"},
	{"cache", []string{"cache"}, "it keeps bytes under keys and knows nothing of what they mean"},
	{"reapi", []string{"cache"}, "it speaks to servers, with any data or action"},
	{"cache/remote", []string{"cache", "reapi"}, "it brings records and blobs from elsewhere and knows nothing of what they mean"},
	{"event", nil, "readers of runs need only this room"},
	{"report", []string{"report", "report/draw", "report/text", "verdict"}, "the model and its renderings run nothing"},
	{"report/page", []string{"event", "report", "report/draw", "report/text", "verdict"}, "it shows what it was handed, and reads no store"},
	{"report/draw", []string{"report/text"}, "it draws shapes with any meaning"},
	{"report/text", nil, "it lays out any text"},
	{"view", []string{"event", "report", "report/text", "verdict", "lang/diag"}, "it shows what others decided"},
	{"examples", nil, "they are files for humans"},
	{"docs", nil, "they are pages for humans, and schemas for programs"},
	{"bench", nil, "it measures from outside"},
	{"bench/remote", []string{"backend/remote/wire", "cache/remote"}, "it is an engine for one backend, and measures the program from outside"},
	{"bench/engine", []string{"backend", "backend/local", "cache", "event", "graph", "tasks"}, "it measures the engine alone, and the program from outside"},
}

// libraries lists the rooms that can import a library, by the prefix of its path. All rooms can import unlisted
// libraries.
var libraries = []struct {
	path  string
	rooms []string
}{
	{"github.com/hashicorp/hcl", []string{"lang", "plan"}},
	{"github.com/zclconf/go-cty", []string{"lang", "plan"}},
	{"github.com/zclconf/go-cty-yaml", []string{"lang"}},
	{"github.com/spf13/cobra", []string{"internal/cli"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/mcp"}},
	{"github.com/sourcegraph/jsonrpc2", []string{"internal/lsp"}},
	{"github.com/spf13/pflag", []string{"internal/cli"}},
	{"github.com/docker", []string{"backend/docker"}},
	{"github.com/openai", []string{"gen/model"}},
	{"go.opentelemetry.io", []string{"internal/otlp"}},
	{"github.com/moby/buildkit", []string{"internal/dockerfile"}},
	{"github.com/moby/patternmatcher", []string{"tasks"}},
	{"github.com/containerd", []string{"backend/docker"}},
	{"github.com/opencontainers", []string{"backend/docker"}},
	{"google.golang.org/grpc", []string{"reapi", "cache/remote/remotetest"}},
	{"github.com/bazelbuild", []string{"reapi", "cache/remote", "backend/remote", "internal/testkit", "bench/remote"}},
	{"github.com/vbauerster/mpb", []string{"view"}},
	{"gonum.org", []string{"verdict/statistics"}},
	{"github.com/jedib0t/go-pretty", []string{"report", "view"}},
	{"testing", []string{"backend/backendtest", "cache/cachetest", "internal/testkit"}},
}

// forTests are directories of packages that the program's code must not import.
var forTests = []string{"backend/fake", "backend/backendtest", "cache/cachetest", "cache/faulty", "cache/remote/remotetest", "bench/remote", "gen/modeltest", "internal/testkit"}

// listed is a package as `go list` reports it.
type listed struct {
	ImportPath string
	Name       string
	Doc        string   // the first sentence
	Imports    []string // of its code, not of its tests
}

// TestImports holds every package of both modules to the table of rooms.
func TestImports(t *testing.T) {
	packages := slices.Concat(list(t), listIn(t, "../../bench"))
	if len(packages) < len(rooms)/2 {
		t.Fatalf("go list knows only %d packages", len(packages))
	}
	for _, problem := range check(packages) {
		t.Error(problem)
	}
}

// list returns the packages of the program's module.
func list(t *testing.T) []listed {
	t.Helper()
	listOnce.Do(func() { listedOnce = listIn(t, "../..") })
	if listedOnce == nil {
		t.Fatal("another test failed to list the packages")
	}
	return listedOnce
}

var (
	listOnce   sync.Once
	listedOnce []listed
)

// listIn returns the packages of the module in dir.
func listIn(t *testing.T, dir string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, said.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// check returns a line for every import that the tables do not allow.
func check(packages []listed) []string {
	var problems []string
	for _, p := range packages {
		from, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue
		}
		r := findRoom(from)
		if r == nil {
			problems = append(problems, fmt.Sprintf("%s is in no room: add one to internal/importmap", from))
			continue
		}
		for _, path := range p.Imports {
			if problem := refuse(from, r, path); problem != "" {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// refuse returns why the package from must not import path, or "".
func refuse(from string, r *room, path string) string {
	to, ours := strings.CutPrefix(path, module)
	if !ours {
		for _, l := range libraries {
			if within(path, l.path) && !slices.ContainsFunc(l.rooms, func(folder string) bool { return within(from, folder) }) {
				return fmt.Sprintf("%s imports %s, which only %s may", from, path, strings.Join(l.rooms, ", "))
			}
		}
		return ""
	}
	target := findRoom(to)
	switch {
	case isForTests(to) && !isForTests(from):
		return fmt.Sprintf("%s imports %s, which is for tests", from, to)
	case target == nil || target == r || slices.Contains(anyone, to) || slices.Contains(r.may, target.folder):
		return ""
	}
	return fmt.Sprintf("%s imports %s, but of our own %s may import only [%s]: %s", from, to, r.folder, strings.Join(r.may, ", "), r.why)
}

// isForTests reports whether a package is in a folder of forTests.
func isForTests(folder string) bool {
	return slices.ContainsFunc(forTests, func(f string) bool { return within(folder, f) })
}

// findRoom returns the innermost room that a package is in.
func findRoom(folder string) *room {
	var found *room
	for i := range rooms {
		if within(folder, rooms[i].folder) && (found == nil || len(rooms[i].folder) > len(found.folder)) {
			found = &rooms[i]
		}
	}
	return found
}

// within reports whether path is prefix or below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// TestCheck: the test above can fail, and names the fault.
func TestCheck(t *testing.T) {
	for _, try := range []struct{ from, imports, want string }{
		{"graph", module + "cache", ""},
		{"graph", module + "internal/capped", ""},
		{"graph", "context", ""},
		{"graph", module + "tasks", "graph imports tasks, but of our own graph may import only [cache, event]: the engine knows neither the language, nor pytest, nor backends"},
		{"graph", module + "lang", "graph imports lang, but"},
		{"event", module + "cache", "event imports cache, but of our own event may import only []: readers"},
		{"tasks/pytest", module + "view", "tasks/pytest imports view, but of our own tasks may import only [tasks, graph,"},
		{"tasks", module + "tasks/pytest", ""},
		{"tasks/pytest", module + "backend/local", "tasks/pytest imports backend/local, but"},
		{"backend/local", module + "backend", ""},
		{"backend/local", module + "backend/fake", "backend/local imports backend/fake, which is for tests"},
		{"eval", module + "backend", ""},
		{"eval", module + "backend/local", "eval imports backend/local, but"},
		{"backend/docker", module + "backend/gojudge", "backend/docker imports backend/gojudge, but"},
		{"backend/local", module + "lang", "backend/local imports lang, but"},
		{"eval", module + "view", "eval imports view, but"},
		{"eval", "github.com/spf13/cobra", "eval imports github.com/spf13/cobra, which only internal/cli may"},
		{"internal/cli", module + "backend/local", "internal/cli imports backend/local, but"},
		{"internal/cli", module + "cache", "internal/cli imports cache, but"},
		{"internal/cli/describe", module + "eval/history", "internal/cli/describe imports eval/history, but"},
		{"internal/cli", module + "internal/testkit/fakeuv", "internal/cli imports internal/testkit/fakeuv, which is for tests"},
		{"lang/funcs", module + "lang/diag", ""},
		{"lang/funcs", "github.com/zclconf/go-cty-yaml", ""},
		{"tasks", "github.com/zclconf/go-cty/cty", "tasks imports github.com/zclconf/go-cty/cty, which only lang, plan may"},
		{"view", "github.com/hashicorp/hcl/v2", "view imports github.com/hashicorp/hcl/v2, which only lang, plan may"},
		{"view", "github.com/spf13/cobra", "view imports github.com/spf13/cobra, which only internal/cli may"},
		{"backend/local", "github.com/docker/docker/client", "backend/local imports github.com/docker/docker/client, which only backend/docker may"},
		{"cache", "google.golang.org/grpc/codes", "cache imports google.golang.org/grpc/codes, which only reapi, cache/remote/remotetest may"},
		{"report", "testing", "report imports testing, which only"},
		{"eval", module + "gen", "eval imports gen, but"},
		{"plan", module + "gen/answer", "plan imports gen/answer, but"},
		{"eval", module + "eval/generate", "eval imports eval/generate, but"},
		{"tools/x", "context", "tools/x is in no room"},
	} {
		got := check([]listed{{ImportPath: module + try.from, Imports: []string{try.imports}}})
		switch {
		case try.want == "":
			if len(got) > 0 {
				t.Errorf("%s imports %s: %q", try.from, try.imports, got)
			}
		case len(got) != 1 || !strings.HasPrefix(got[0], try.want):
			t.Errorf("%s imports %s: %q, want %s", try.from, try.imports, got, try.want)
		}
	}
}

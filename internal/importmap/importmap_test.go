// Package importmap tests that imports between the rooms go the one way that
// ARCHITECTURE.md draws. It holds no code.
package importmap

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fevalgraph/fevalgraph/"

// rooms lists, for each room, the rooms that its packages may import beside
// their own. A room is a package and everything below it.
var rooms = map[string][]string{
	"cmd":                {"internal/cli"},
	"internal/cli":       {"backend", "cache", "event", "examples", "graph", "lang", "plan", "report", "tasks", "view"},
	"internal/capped":    {},
	"internal/fakeuv":    {},
	"internal/importmap": {},
	"lang":               {},
	"plan":               {"backend", "cache", "event", "graph", "lang", "report", "tasks"},
	"graph":              {"cache", "event", "internal/capped"},
	"tasks":              {"backend", "cache", "event", "graph", "internal/capped", "report"},
	"backend":            {"cache"},
	"cache":              {},
	"event":              {},
	"report":             {},
	"view":               {"event", "lang/diag", "report/text"},
	"examples":           {},
	"docs":               {},
}

// libraries lists the third-party modules that only some rooms may import.
var libraries = map[string][]string{
	"github.com/hashicorp/hcl":     {"lang", "plan"},
	"github.com/zclconf/go-cty":    {"lang", "plan"},
	"github.com/spf13/cobra":       {"internal/cli"},
	"github.com/docker/docker":     {"backend/docker"},
	"google.golang.org/grpc":       {"cache/remote", "backend/remote"},
	"github.com/vbauerster/mpb":    {"view"},
	"github.com/jedib0t/go-pretty": {"report", "view"},
}

// leaves must not import any other package of their own room either: others
// import them so as not to depend on the room.
var leaves = []string{"lang/diag", "report/text"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		room := roomOf(from)
		if room == "" {
			t.Errorf("package %s is in no room of the import map", from)
			continue
		}
		for _, imported := range p.Imports {
			if to, ours := strings.CutPrefix(imported, module); ours {
				checkRoom(t, from, room, to)
			} else {
				checkLibrary(t, from, imported)
			}
		}
	}
}

func checkRoom(t *testing.T, from, room, to string) {
	t.Helper()
	if slices.Contains(leaves, from) {
		t.Errorf("%s imports %s; it must stay a leaf", from, to)
		return
	}
	if within(to, room) || slices.ContainsFunc(rooms[room], func(allowed string) bool { return within(to, allowed) }) {
		return
	}
	t.Errorf("%s imports %s; room %s may import only %v", from, to, room, rooms[room])
}

func checkLibrary(t *testing.T, from, imported string) {
	t.Helper()
	for library, allowed := range libraries {
		if !within(imported, library) {
			continue
		}
		if !slices.ContainsFunc(allowed, func(room string) bool { return within(from, room) }) {
			t.Errorf("%s imports %s, which only %v may", from, imported, allowed)
		}
	}
}

// roomOf returns the longest room that holds the package.
func roomOf(path string) string {
	best := ""
	for room := range rooms {
		if within(path, room) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// packages reads the module's packages as the go command sees them, without
// their tests: tests may reach across rooms.
func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decoding go list: %v", err)
		}
		list = append(list, p)
	}
	if len(list) < len(rooms) {
		t.Fatalf("go list knows %d packages only", len(list))
	}
	return list
}

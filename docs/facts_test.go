package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/funcs"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// tableName is the name in the first column of a table.
var tableName = regexp.MustCompile("(?m)^\\| `([a-z0-9_.]+)(?:\\([^`]*\\))?` \\|")

// The page of functions has exactly one row for every function.
func TestFunctions(t *testing.T) {
	var have []string
	for _, m := range tableName.FindAllStringSubmatch(readPage(t, "language/functions.md").text(), -1) {
		have = append(have, m[1])
	}
	slices.Sort(have)
	want := slices.Sorted(maps.Keys(funcs.Library(funcs.Files{})))
	if !slices.Equal(have, want) {
		t.Errorf("functions.md has rows for\n%v\nthe language has\n%v", have, want)
	}
}

// The page about events names every field of events, as code. Schemas describe the fields of other JSON.
func TestJSONFields(t *testing.T) {
	for path, types := range map[string][]any{
		"events.md": {event.RunStart{}, event.NodeQueued{}, event.NodeStart{}, event.NodeRetry{}, event.NodeDone{}, event.NodesSame{}, event.RunEnd{}, event.Change{}, event.Manifest{}},
	} {
		text := readPage(t, path).text()
		for _, v := range types {
			for i := range reflect.TypeOf(v).NumField() {
				name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
				if name == "" && reflect.TypeOf(v).Field(i).Anonymous {
					continue // the fields of a listed type
				}
				if !strings.Contains(text, "`"+name+"`") {
					t.Errorf("%s does not name the field `%s` of %T", path, name, v)
				}
			}
		}
	}
}

// The page about exports names the kinds of the language, and no other.
func TestExportKinds(t *testing.T) {
	var want []string
	for _, b := range lang.Describe(lang.Options{Extensions: extensions}).Blocks {
		if b.Name == "export" {
			for _, kind := range b.Kinds {
				want = append(want, kind.Name)
			}
		}
	}
	_, list, _ := strings.Cut(readPage(t, "language/export.md").text(), "\nThe formats are ")
	list, _, _ = strings.Cut(list, "## Notes")
	first, others, _ := strings.Cut(list, ", as in")
	var have []string
	for _, m := range regexp.MustCompile("`([a-z_-]+)`").FindAllStringSubmatch(first, -1) {
		have = append(have, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^- `([a-z_]+)`").FindAllStringSubmatch(others, -1) {
		have = append(have, m[1])
	}
	if !slices.Equal(have, want) {
		t.Errorf("export.md names %v, the language has %v", have, want)
	}
}

// Every word that results are made of is named in the page about them.
func TestResultWords(t *testing.T) {
	var words []string
	for _, g := range verdict.Groups {
		words = append(words, string(g))
	}
	for _, p := range verdict.Policies() {
		words = append(words, string(p))
	}
	words = append(words, report.Formats()...)
	for _, c := range []verdict.Class{verdict.Judged, verdict.CollectionError, verdict.NoTests, verdict.NoReport, verdict.Killed, verdict.SessionTimeout, verdict.CompileError, verdict.NoSubmission, verdict.Refused, verdict.NoScore, verdict.CheckerFailed,
		verdict.PytestFailed, verdict.InputError, verdict.NotJudged, verdict.NotReached, verdict.NotRun, verdict.ImportedVerdict} {
		words = append(words, string(c), string(c.Status()))
	}
	text := readPage(t, "results.md").text()
	for _, word := range words {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("results.md does not name `%s`", word)
		}
	}
	states := readPage(t, "events.md").text()
	for _, s := range []event.State{event.Done, event.Cached, event.Failed, event.Broken, event.Timeout, event.Blocked, event.Interrupted} {
		if !strings.Contains(states, "`"+string(s)+"`") {
			t.Errorf("events.md does not name `%s`", s)
		}
	}
}

// The table of policies matches the program's.
func TestPolicyMeanings(t *testing.T) {
	text := readPage(t, "results.md").text()
	for _, p := range verdict.Policies() {
		if row := "\n| `" + string(p) + "` | " + p.Meaning() + " |\n"; !strings.Contains(text, row) {
			t.Errorf("results.md: row %q not found", row)
		}
	}
	if want := "The default is `" + string(verdict.DefaultPolicy) + "`."; !strings.Contains(text, want) {
		t.Errorf("results.md: %q not found", want)
	}
}

// Each row of the page about staleness has a row with its scripts, and every
// staleness script is in one.
func TestStalenessScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "cmd", "fevalgraph", "testdata", "script", "stale", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, kind := range []string{"docker", "gojudge", "real"} {
		elsewhere, err := filepath.Glob(filepath.Join("..", "cmd", "fevalgraph", "testdata", "script", kind, "stale_*.txtar"))
		if err != nil || len(elsewhere) == 0 {
			t.Fatal(kind, elsewhere, err)
		}
		files = append(files, elsewhere...)
	}
	scripts := map[string]bool{}
	for _, file := range files {
		scripts[strings.TrimSuffix(filepath.Base(file), ".txtar")] = true
	}
	const index = "../cmd/fevalgraph/testdata/script/stale/README.md"
	text, err := os.ReadFile(filepath.FromSlash(index))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	var tested []string
	for _, columns := range tableRows(string(text)) {
		tested = append(tested, columns[0])
		for _, m := range scriptName.FindAllStringSubmatch(columns[1], -1) {
			named[m[1]] = true
			if !scripts[m[1]] {
				t.Errorf("%s names the script %s, which does not exist", index, m[1])
			}
		}
	}
	for script := range scripts {
		if !named[script] {
			t.Errorf("%s does not name the script %s", index, script)
		}
	}
	var rows []string
	for _, columns := range tableRows(namedLink.ReplaceAllStringFunc(readPage(t, "staleness.md").text(), linkText)) {
		rows = append(rows, columns[0])
	}
	if !slices.Equal(rows, tested) {
		t.Errorf("staleness.md has the rows\n%s\n%s has\n%s", strings.Join(rows, "\n"), index, strings.Join(tested, "\n"))
	}
}

// tableRows returns the cells of the rows of two columns, except the rules below heads.
func tableRows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if strings.HasPrefix(line, "|") && len(columns) == 2 && !strings.Contains(columns[0], "---") {
			rows = append(rows, []string{strings.TrimSpace(columns[0]), strings.TrimSpace(columns[1])})
		}
	}
	return rows
}

// linkText returns the text of a link.
func linkText(link string) string { return link[1:strings.Index(link, "](")] }

var scriptName = regexp.MustCompile("`([a-z_]+)`")

// The page about comparing shows inspect_ai's own figures of the logs that it compares.
func TestInspectErrors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(inspectLogs, "pair.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pair map[string]struct{ Accuracy, Stderr float64 }
	if err := json.Unmarshal(text, &pair); err != nil {
		t.Fatal(err)
	}
	small, large := pair["small.eval"], pair["large.eval"]
	by, of := 100*(large.Accuracy-small.Accuracy), 100*math.Hypot(large.Stderr, small.Stderr)
	row := fmt.Sprintf("| %.1f %% ± %.1f | %.1f %% ± %.1f | %+.1f %% ± %.1f, so %+.1f to %+.1f |",
		100*small.Accuracy, 100*small.Stderr, 100*large.Accuracy, 100*large.Stderr, by, of, by-1.96*of, by+1.96*of)
	if !strings.Contains(readPage(t, "comparing.md").text(), row) {
		t.Errorf("comparing.md does not have the row %s", row)
	}
}

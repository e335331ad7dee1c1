package importmap

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// retired is a word that the project has replaced by a plain one.
type retired struct {
	word    string // spaces between words
	instead string
	but     string // prefix of the paths that can contain it; "" means none
}

// retiredNames must not be, or be part of, an identifier: "give back" is giveBack. A name with an upper-case
// letter must not be a whole identifier. Words with another plain meaning, such as take, left and again, are
// not here.
var retiredNames = []retired{
	{"shelves", "no word: trees are copied", ""},
	{"shelver", "no word: trees are copied", ""},
	{"perishable", "Validator", ""},
	{"Lost", "Validate", ""},
	{"Given", "Pinned", ""},
	{"take back", "invalidate", ""},
	{"vain", "fruitlessHeals", ""},
	{"Look", "Probe", ""},
	{"Alone", "exclusive lock", ""},
	{"Standing", "GroupSummary", ""},
	{"Tell", "artifacts", ""},
	{"memo", "partition", ""},
	{"memorable", "partition", ""},
	{"conclusions", "facts", ""},
	{"somebody", "a noun", ""},
	{"anew", "again", ""},
	{"journal", "no word", ""},
	{"shelf", "uploader", ""},
	{"depot", "uploader", ""},
	{"lend", "acquire", ""},
	{"give back", "release", ""},
	{"ground", "base snapshot", ""},
	{"settle", "compact", ""},
	{"wish", "driver override", ""},
	{"wishes", "driver overrides", ""},
	{"grant", "driver override", ""},
	{"Answers", "Fingerprint", ""},
	{"Reopen", "Rehydrate", ""},
	{"Asking", "grading nodes", ""},
	{"Elsewhere", "remote host", ""},
	{"distant", "remote host", ""},
	{"Left", "artifacts", ""},
	{"Steady", "VerifyInputs", ""},
	{"Classed", "exit class", ""},
	{"nobody", "a noun; user 65534", ""},
}

// retiredPhrases must not be in a comment or in a page, outside its blocks. Forms of sentences are in bounds.
var retiredPhrases = []retired{
	{"shelves", "no word: trees are copied", ""},
	{"shelver", "no word: trees are copied", ""},
	{"perishable", "validator", ""},
	{"memo", "partition", ""},
	{"memorable", "partition", ""},
	{"conclusions", "facts", ""},
	{"lent", "leased", ""},
	{"come of", "the result of", ""},
	{"coming to", "resulting in", ""},
	{"journal", "last answers", ""},
	{"journals", "last answers", ""},
	{"shelf", "uploader", ""},
	{"depot", "uploader", ""},
	{"lend", "acquire", ""},
	{"lends", "acquires", ""},
	{"ground", "base snapshot", ""},
	{"grounds", "base snapshots", ""},
	{"settle", "compact", ""},
	{"settles", "compacts", ""},
	{"wish", "driver override", ""},
	{"wishes", "driver overrides", ""},
	{"in vain", "without effect", ""},
	{"anew", "again", ""},
	{"somebody", "the user, another process", ""},
	{"who wants", "the caller", ""},
	{"who needs", "the caller", ""},
	{"came to", "the result", ""},
	{"come to", "result in", ""},
	{"comes to", "results in", ""},
	{"came of", "the result of", ""},
	{"is told", "gets, receives", ""},
	{"are told", "get, receive", ""},
	{"says nothing", "is ignored", ""},
	{"say nothing", "are ignored", ""},
}

// text holds the searchable text of one file.
type text struct {
	path  string
	names []string // identifiers
	words []string // their words in lower case: " give back "
	prose string   // in lower case
}

// TestRetiredWords: words that the project has given up do not come back.
func TestRetiredWords(t *testing.T) {
	texts := readTexts(t)
	for _, r := range retiredNames {
		found := map[string]int{}
		for _, file := range texts {
			if n := file.countNames(r.word); n > 0 {
				found[file.path] = n
			}
		}
		r.report(t, "identifiers", found)
	}
	for _, r := range retiredPhrases {
		found := map[string]int{}
		pattern := phrase(r.word)
		first, _, _ := strings.Cut(r.word, " ") // found in a twentieth of the time
		for _, file := range texts {
			if !strings.Contains(file.prose, first) {
				continue
			}
			if n := len(pattern.FindAllString(file.prose, -1)); n > 0 {
				found[file.path] = n
			}
		}
		r.report(t, "comments and pages", found)
	}
}

// report fails for files that contain a word without permission.
func (r retired) report(t *testing.T, where string, found map[string]int) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if r.but == "" || !strings.HasPrefix(path, r.but) {
			t.Errorf("%s: %q is retired in %s; say %s", path, r.word, where, r.instead)
		}
	}
}

// phrase matches consecutive words, also across lines.
func phrase(words string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + strings.ReplaceAll(regexp.QuoteMeta(words), " ", `\s+`) + `\b`)
}

func (f text) countNames(words string) (n int) {
	whole := words != strings.ToLower(words)
	for i, name := range f.names {
		if whole && name == words || !whole && strings.Contains(f.words[i], " "+words+" ") {
			n++
		}
	}
	return n
}

// readTexts reads the Go files and pages of the modules of the project, but for this file.
func readTexts(t *testing.T) []text {
	t.Helper()
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("there are only %d files", len(all))
	}
	return all
}

// texts reads them once for all tests.
var texts = sync.OnceValues(func() (all []text, err error) {
	const root = "../.."
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || name == "words_test.go" || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".md":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if filepath.Ext(name) == ".md" {
			all = append(all, readPage(rel, string(content)))
		} else {
			all = append(all, readCode(rel, content))
		}
		return err
	})
	return all, err
})

// inlineCode matches the code that a page quotes within a line.
var inlineCode = regexp.MustCompile("`[^`\n]*`")

// readPage omits blocks and quotes of a page, which contain output of programs.
func readPage(path, content string) text {
	var prose strings.Builder
	inside := false
	for line := range strings.Lines(content) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			inside = !inside
		case !inside:
			prose.WriteString(inlineCode.ReplaceAllString(line, "``"))
		}
	}
	return text{path: path, prose: strings.ToLower(prose.String())}
}

func readCode(path string, content []byte) text {
	f := text{path: path}
	var prose strings.Builder
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile(path, set.Base(), len(content)), content, nil, scanner.ScanComments)
	apart := map[string]string{} // most identifiers come again
	for {
		_, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			f.prose = strings.ToLower(prose.String())
			return f
		case token.IDENT:
			words, known := apart[literal]
			if !known {
				words = splitWords(literal)
				apart[literal] = words
			}
			f.names, f.words = append(f.names, literal), append(f.words, words)
		case token.COMMENT:
			prose.WriteString(strings.Trim(literal, "/*") + "\n")
		}
	}
}

// splitWords splits an identifier: giveBack and GIVE_BACK become " give back ".
func splitWords(identifier string) string {
	var b strings.Builder
	runes := []rune(identifier)
	for i, r := range runes {
		upper := unicode.IsUpper(r)
		starts := i > 0 && upper && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts || r == '_' {
			b.WriteByte(' ')
		}
		if r != '_' {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return fmt.Sprintf(" %s ", b.String())
}

// TestRetiredWordsAreFound: the search finds retired words and no others.
func TestRetiredWordsAreFound(t *testing.T) {
	code := readCode("x.go", []byte("package x\n\n// It is\n// told.\nfunc (d *HTTPShelf) giveBack(shelfish, GIVE_BACK int) { _ = \"is told\" }\n"))
	page := readPage("x.md", "It is told.\n\n```console\nis told\n```\n")
	for _, try := range []struct {
		got, want int
		what      string
	}{
		{code.countNames("shelf"), 1, "a part of an identifier"},
		{code.countNames("give back"), 2, "two words of identifiers"},
		{code.countNames("back give"), 0, "words in another order"},
		{code.countNames("giveBack"), 1, "a whole identifier"},
		{code.countNames("Shelf"), 0, "a whole identifier that is only a part"},
		{len(phrase("is told").FindAllString(code.prose, -1)), 1, "a phrase on two lines of a comment, and none in a string"},
		{len(phrase("is told").FindAllString(page.prose, -1)), 1, "a phrase of a page, and none in a block"},
		{len(phrase("is to").FindAllString(page.prose, -1)), 0, "a part of a word"},
	} {
		if try.got != try.want {
			t.Errorf("%s: found %d times, want %d", try.what, try.got, try.want)
		}
	}
}

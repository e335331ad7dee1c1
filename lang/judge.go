package lang

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Judge is the judge driver of a problem. Paths are absolute. Files that a task makes have no path.
type Judge struct {
	Root          string
	Mode          string `hcl:"mode"` // ModeDefault or ModeInteractive
	Checker       string // C++ source of the checker or, in ModeInteractive, the interactor
	CheckerFrom   *OutputRef
	Include       []string // directories with headers for it
	IncludeFrom   *OutputRef
	TestDataFrom  *OutputRef    // contains the files of cases
	CheckerFlags  []string      `hcl:"checker_flags"`
	CheckerTime   time.Duration `hcl:"checker_time"`   // 0 means 10s or, with ModeInteractive, four times the case's
	CheckerMemory int64         `hcl:"checker_memory"` // 0 means 256MiB, or as above
	Language      string        `hcl:"language"`       // of every solution; "" means by file name
	Filename      string        `hcl:"filename"`       // of a solution's source; "" means by language
	Flags         []string      `hcl:"flags"`          // of the compiler for solutions
	CompileTime   time.Duration `hcl:"compile_time"`   // processor time
	CompileMemory int64         `hcl:"compile_memory"` // bytes
	Output        int64         `hcl:"output"`         // bytes of output that a solution can print
	Processes     int           `hcl:"processes"`      // of a solution at a time
	Compat        string        `hcl:"compat"`         // "safe", or the name of a benchmark whose rules apply
	Weights       bool          `hcl:"weights"`        // subtasks are weighted by Score
	Subtasks      []Subtask
	Range         diag.Range
}

// Subtask is a group of cases, at least one.
type Subtask struct {
	Score float64 // above 0
	Cases []Case
	Range diag.Range
}

// Case is one input of a judge problem, with the limits of a solution on it.
type Case struct {
	Name   string // unique in its problem: a number, or the input's name without its suffix
	Input  string // absolute path of a file, or a path in TestDataFrom
	Output string // as above; "" means an empty answer
	Time   time.Duration
	Clock  time.Duration
	Memory int64 // bytes
	Range  diag.Range
}

// Reference is a solution that a problem ships, with its expected result.
type Reference struct {
	Name        string // unique in its problem
	Checkpoints []SolutionCheckpoint
	Solver      *Solver // produces its answers; nil if they have sources
	Expect      string  // ExpectPass, ExpectFail, or a range of scores: "20..80", "..0"
	// Low and High bound the scores of a range. If a single score decides about passing, Low is the lowest that
	// passes.
	Low, High float64
	Range     diag.Range
}

const (
	defaultCaseTime   = time.Second
	defaultCaseMemory = 256 << 20
	fullScore         = 100
)

// judge reads the judge driver of a problem and checks that its files exist.
func (b *block) judge() *Judge {
	j := &Judge{Range: convertRange(b.header)}
	if root, g := b.path("root"); g == isSet && b.isDirectory("root", root, "it is relative to "+b.l.show(b.src.path)) {
		j.Root = root
	}
	b.fill(j)
	b.checkerSource(j)
	if j.IncludeFrom = b.treeOf("include"); j.IncludeFrom == nil {
		j.Include = b.includeDirs(j)
	}
	b.subtasks(j)
	return j
}

// checkerSource reads the checker or, depending on the mode, the interactor.
func (b *block) checkerSource(j *Judge) {
	wanted, other := "checker", "interactor"
	if j.Mode == ModeInteractive {
		wanted, other = other, wanted
	}
	if _, g := b.text(other); g == isSet && j.Mode != "" {
		b.reject(other, "unknown-attribute", "Attribute does not apply", fmt.Sprintf("%s has no effect with mode = %q.", other, j.Mode), "remove it, or write "+wanted+" = …")
	}
	if b.attrs[wanted] == nil {
		if j.Mode != "" {
			b.fail(finding{code: "missing-attribute", summary: "Missing attribute", rng: b.header,
				detail: fmt.Sprintf("With mode = %q the judge block needs the attribute %q.", j.Mode, wanted)})
		}
		return
	}
	if j.CheckerFrom = b.fileOf(wanted); j.CheckerFrom == nil {
		j.Checker = b.fileBelow(wanted, j.Root)
	}
}

// fileBelow reads the path of a regular file, relative to dir. dir is "" after an error in its own
// attribute.
func (b *block) fileBelow(name, dir string) string {
	text, g := b.text(name)
	if g != isSet || dir == "" {
		return ""
	}
	if text == "" || strings.ContainsRune(text, 0) {
		b.reject(name, "bad-path", "Bad path", fmt.Sprintf("%s must be a path, not %q.", name, text), "")
		return ""
	}
	file := b.l.files(dir).Resolve(filepath.FromSlash(text))
	info, ok := b.stat(name, file, "it is relative to "+b.l.show(dir))
	if ok && !info.Mode().IsRegular() {
		b.reject(name, "not-a-file", "Not a file", fmt.Sprintf("%q is not a file.", b.l.show(file)), "")
	}
	return file
}

func (b *block) isDirectory(name, dir, hint string) bool {
	info, ok := b.stat(name, dir, hint)
	if ok && !info.IsDir() {
		b.reject(name, "not-a-directory", "Not a directory", fmt.Sprintf("%q is not a directory.", b.l.show(dir)), "")
		ok = false
	}
	return ok
}

func (b *block) includeDirs(j *Judge) []string {
	written, _ := b.texts("include")
	var dirs []string
	for _, text := range written {
		if j.Root == "" {
			return nil
		}
		if dir := b.l.files(j.Root).Resolve(filepath.FromSlash(text)); b.isDirectory("include", dir, "it is relative to "+b.l.show(j.Root)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// limits contains the limits of a solution on a case that a block and the blocks around it set.
type limits struct {
	time, clock time.Duration // clock 0 is twice the time
	memory      int64
}

// limits reads the block's limits. Unset limits are inherited from outer.
func (b *block) limits(outer limits) limits {
	if d, g := b.duration("time"); g == isSet {
		outer.time = d
		outer.clock = 0
	}
	if d, g := b.duration("clock"); g == isSet {
		outer.clock = d
	}
	if n, g := b.size("memory"); g == isSet {
		outer.memory = n
	}
	return outer
}

func (l limits) of(c Case) Case {
	c.Time, c.Clock, c.Memory = l.time, l.clock, l.memory
	if c.Clock == 0 {
		c.Clock = 2 * c.Time
	}
	return c
}

// naming describes the file names of numbered cases.
type naming struct {
	dir                                                  string     // "" after an error in its own attribute
	from                                                 *OutputRef // instead of dir
	inputPrefix, inputSuffix, outputPrefix, outputSuffix string
}

func (b *block) naming(j *Judge) naming {
	var n naming
	if n.from = b.treeOf("testdata"); n.from != nil {
		j.TestDataFrom = n.from
	} else if text, g := b.text("testdata"); g.usable() && j.Root != "" {
		if dir := b.l.files(j.Root).Resolve(filepath.FromSlash(text)); b.isDirectory("testdata", dir, "testdata is relative to "+b.l.show(j.Root)) {
			n.dir = dir
		}
	}
	n.inputPrefix, _ = b.text("input_prefix")
	n.inputSuffix, _ = b.text("input_suffix")
	n.outputPrefix, _ = b.text("output_prefix")
	n.outputSuffix, _ = b.text("output_suffix")
	return n
}

// file reads the name of a file of a case.
func (n naming) file(b *block, name string) string {
	if n.from == nil {
		return b.fileBelow(name, n.dir)
	}
	text, g := b.text(name)
	if g == isSet && !isRelativeInside(text) {
		b.reject(name, "bad-path", "Bad path", fmt.Sprintf("%s must be a plain relative path in %s, not %q.", name, n.from, text), "")
	}
	return text
}

// maxCases prevents a typo from filling the memory with nodes: for files of a task, existence is unknown
// here.
const maxCases = 100_000

// subtasks reads the cases. Numbers continue from subtask to subtask.
func (b *block) subtasks(j *Judge) {
	outer, files := b.limits(limits{time: defaultCaseTime, memory: defaultCaseMemory}), b.naming(j)
	number, named := 0, map[string]Case{}
	for _, s := range b.children("subtask") {
		made := Subtask{Score: fullScore, Range: convertRange(s.header)}
		if score, g := s.number("score"); g == isSet {
			made.Score = score
		}
		own := s.limits(outer)
		n, g := s.integer("n_cases")
		if g == isSet && n > maxCases-number {
			s.reject("n_cases", "out-of-range", "Number out of range", fmt.Sprintf("A problem can have at most %d cases, not %d.", maxCases, n), "")
			g = isFailed
		}
		written := s.children("case")
		switch {
		case g == isFailed:
			continue
		case g == isSet == (len(written) > 0):
			s.fail(finding{code: "missing-attribute", summary: "Invalid cases", rng: s.header,
				detail: "A subtask needs either n_cases or case blocks, with at least one case.",
				hint:   `write n_cases = 3 for "1.in" to "3.in", or case { input = "1.in" output = "1.ans" }`})
			continue
		case g == isSet:
			made.Cases = s.numbered(files, own, number, n)
			number += n
		}
		for _, c := range written {
			made.Cases = append(made.Cases, c.explicitCase(files, own))
			number++
		}
		for _, c := range made.Cases {
			if before, taken := named[c.Name]; taken && (files.dir != "" || files.from != nil) {
				s.fail(finding{code: "duplicate", summary: "Duplicate name", rng: hclRange(c.Range),
					detail: fmt.Sprintf("The case in line %d is also named %q.", before.Range.Start.Line, c.Name)})
			}
			named[c.Name] = c
		}
		j.Subtasks = append(j.Subtasks, made)
	}
	if len(b.children("subtask")) == 0 && !b.decl.failed {
		b.fail(finding{code: "missing-block", summary: "Problem without cases", rng: b.header,
			detail: "A judge block needs at least one subtask.", hint: "write subtask { n_cases = 3 }"})
	}
}

// numbered returns n cases, numbered after a number. Only the first missing file is reported: the others
// rarely add information. Files that a task makes are checked when it has run.
func (b *block) numbered(files naming, own limits, after, n int) []Case {
	if files.dir == "" && files.from == nil {
		return nil
	}
	there := map[string]bool{}
	if files.from == nil && !b.listFiles(files.dir, there) {
		return nil
	}
	var cases []Case
	for i := after + 1; i <= after+n; i++ {
		input := fmt.Sprintf("%s%d%s", files.inputPrefix, i, files.inputSuffix)
		output := fmt.Sprintf("%s%d%s", files.outputPrefix, i, files.outputSuffix)
		for _, name := range []string{input, output} {
			if files.from == nil && !there[name] {
				b.reject("n_cases", "missing-file", "Missing test data",
					fmt.Sprintf("Case %d needs %q, which is missing.", i, b.l.show(filepath.Join(files.dir, name))),
					fmt.Sprintf("n_cases = %d starts at case %d; input_prefix, input_suffix, output_prefix and output_suffix define the names of files", n, after+1))
				return nil
			}
		}
		cases = append(cases, own.of(Case{Name: fmt.Sprint(i), Input: filepath.Join(files.dir, input), Output: filepath.Join(files.dir, output), Range: convertRange(b.at("n_cases").rng)}))
	}
	return cases
}

// listFiles adds the files of a directory of cases to a set.
func (b *block) listFiles(dir string, there map[string]bool) bool {
	b.l.input("fileset", dir+"\x00*")
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.reject("n_cases", "unreadable-file", "Unreadable directory", pathReason(b.l.show(dir), err), "")
		return false
	}
	for _, e := range entries {
		there[e.Name()] = there[e.Name()] || !e.IsDir()
	}
	return true
}

func (b *block) explicitCase(files naming, own limits) Case {
	c := Case{Range: convertRange(b.header), Input: files.file(b, "input")}
	if b.attrs["output"] != nil {
		c.Output = files.file(b, "output")
	}
	if rel, err := filepath.Rel(files.dir, c.Input); err == nil && c.Input != "" {
		c.Name = strings.TrimSuffix(filepath.ToSlash(rel), files.inputSuffix)
	}
	return b.limits(own).of(c)
}

// LanguageOf returns the language of a source file, from j or the file's name, or "".
func (j *Judge) LanguageOf(source string) string {
	if j.Language != "" {
		return j.Language
	}
	switch ext := path.Ext(filepath.ToSlash(source)); {
	case slices.Contains([]string{".cpp", ".cc", ".cxx", ".c++"}, ext):
		return LanguageCPP
	case ext == ".py":
		return LanguagePython
	}
	return ""
}

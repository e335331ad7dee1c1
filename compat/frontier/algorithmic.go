package frontier

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fevalgraph/fevalgraph/compat/document"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// earns is the score that a reference must reach at least: a reference promises only that it earns
// something.
const earns = 0.0001

// algorithmic is the config.yaml of a problem of the algorithmic track, read as its judge does.
type algorithmic struct {
	*document.File
	files *lang.ReaderFiles
	dir   string
}

func openAlgorithmic(files *lang.ReaderFiles, dir string) *algorithmic {
	return &algorithmic{document.OpenYAML(files, filepath.Join(dir, "config.yaml")), files, dir}
}

func readAlgorithmic(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	c := openAlgorithmic(files, given["path"])
	made := &lang.Made{Attributes: map[string]any{"name": filepath.Base(c.dir), "spec": filepath.Join(c.dir, "statement.txt")}}
	if c.Root == nil {
		return made, c.Mistakes
	}
	mode := first("default", document.At(c.Root, "type"))
	if mode != "default" && mode != "interactive" {
		c.Fail(document.At(c.Root, "type"), fmt.Sprintf("unsupported type %s", mode))
	}
	judge := lang.MadeBlock{Kind: "judge", Made: lang.Made{Attributes: map[string]any{
		"root": c.dir, "mode": mode, "include": []string{filepath.Join(c.dir, "..", "..", "judge", "include")}, // testlib.h
		// All of testlib is in its header. The last flag drops what a checker does not
		// use before it is optimized, which halves the time and changes no verdict.
		"checker_flags": []string{"-O2", "-pipe", "-std=gnu++17", "-fwhole-program"}, "output": "128MiB",
		// Checkers with testlib.h come near the 10 seconds that Frontier-CS gives them.
		"compile_time": "60s",
	}}}
	if mode == "interactive" {
		judge.Attributes["interactor"] = first("interactor.cc", document.At(c.Root, "interactor"))
	} else {
		judge.Attributes["checker"] = first("chk.cc", document.At(c.Root, "checker"))
	}
	if n := document.At(c.Root, "filename"); document.Scalar(n, "") != "" {
		judge.Attributes["filename"] = n.Value
	}
	if given["compat"] != "" {
		judge.Attributes["compat"] = given["compat"]
	}
	subtasks := c.subtasks()
	if len(subtasks) == 0 && len(c.Mistakes) == 0 {
		c.Fail(document.At(c.Root, "subtasks"), "no subtasks, so nothing can be judged")
	}
	if absent := c.absent(subtasks); len(absent) > 0 {
		c.Fail(document.At(c.Root, "subtasks"), "testdata lacks the files "+strings.Join(absent, ", "))
	}
	for i := range subtasks {
		judge.Blocks = append(judge.Blocks, subtasks[i].block(c))
	}
	tool := judge.Attributes["interactor"]
	if tool == nil {
		tool = judge.Attributes["checker"]
	}
	made.Blocks = append(made.Blocks, judge, seenBlock(c.File, nil, "testdata/**", lang.EscapeGlob(tool.(string))))
	for _, file := range []string{"reference.cpp", "examples/reference.cpp"} { // few problems ship one
		if path := filepath.Join(c.dir, file); files.Exists(path) {
			made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "reference", Made: lang.Made{Attributes: map[string]any{"source": path, "score": earns}}})
			break
		}
	}
	return made, c.Mistakes
}

// first returns the first non-empty value, or otherwise, as || does in JavaScript.
func first(otherwise string, values ...*yaml.Node) string {
	if n := firstOf(values...); n != nil {
		return n.Value
	}
	return otherwise
}

func firstOf(values ...*yaml.Node) *yaml.Node {
	for _, n := range values {
		if text := document.Scalar(n, ""); text != "" && text != "false" && text != "0" {
			return n
		}
	}
	return nil
}

// subtask names the files of its cases.
type subtask struct {
	node         *yaml.Node
	time, memory *yaml.Node // nil are the defaults
	cases        []testCase
}

type testCase struct {
	input, output string
	time, memory  *yaml.Node // nil are the subtask's
}

// subtasks returns the subtasks of the problem. Numbers of cases continue from one to the next.
func (c *algorithmic) subtasks() []subtask {
	list := document.At(c.Root, "subtasks")
	if list == nil || list.Kind != yaml.SequenceNode {
		c.Fail(list, "want a list of subtasks, each with n_cases or cases")
		return nil
	}
	name := func(prefix, suffix, otherwise string, n int) string {
		return first("", document.At(c.Root, prefix)) + strconv.Itoa(n) + first(otherwise, document.At(c.Root, suffix))
	}
	limit := func(n *yaml.Node, long, short string) *yaml.Node {
		return firstOf(document.At(n, long), document.At(n, short), document.At(c.Root, long), document.At(c.Root, short))
	}
	var all []subtask
	numbered := 0
	for _, n := range list.Content {
		s := subtask{node: n, time: limit(n, "time_limit", "time"), memory: limit(n, "memory_limit", "memory")}
		count, cases := document.At(n, "n_cases"), document.At(n, "cases")
		number, err := strconv.Atoi(document.Scalar(count, ""))
		switch {
		case count != nil && err == nil:
			for range number {
				numbered++
				s.cases = append(s.cases, testCase{input: name("input_prefix", "input_suffix", ".in", numbered), output: name("output_prefix", "output_suffix", ".ans", numbered)})
			}
		case count == nil && cases != nil && cases.Kind == yaml.SequenceNode:
			for _, one := range cases.Content {
				s.cases = append(s.cases, testCase{
					input: document.Scalar(document.At(one, "input"), ""), output: c.answer(document.Scalar(document.At(one, "output"), "")),
					time: document.At(one, "time"), memory: document.At(one, "memory"),
				})
			}
		default:
			c.Fail(n, "want a list of subtasks, each with n_cases or cases")
		}
		all = append(all, s)
	}
	return all
}

// answer returns the name of an answer's file by that of its output: 1.ans for 1.out.
func (c *algorithmic) answer(output string) string {
	if base, is := strings.CutSuffix(output, ".out"); is && c.files.Exists(filepath.Join(c.dir, "testdata", base+".ans")) {
		return base + ".ans"
	}
	return output
}

// absent returns the names of missing files of cases.
func (c *algorithmic) absent(subtasks []subtask) (names []string) {
	for _, s := range subtasks {
		for _, one := range s.cases {
			for _, file := range []string{one.input, one.output} {
				if !c.files.Exists(filepath.Join(c.dir, "testdata", file)) {
					names = append(names, file)
				}
			}
		}
	}
	return names
}

// isComplete reports whether all test data of a problem is there. A problem that cannot be
// read is complete: it is an error, not left out.
func isComplete(files *lang.ReaderFiles, dir string) bool {
	c := openAlgorithmic(files, dir)
	return c.Root == nil || len(c.absent(c.subtasks())) == 0
}

func (s *subtask) block(c *algorithmic) lang.MadeBlock {
	made := lang.MadeBlock{Kind: "subtask", At: c.Place(s.node)}
	for _, one := range s.cases {
		time, memory := s.time, s.memory
		if one.time != nil {
			time = one.time
		}
		if one.memory != nil {
			memory = one.memory
		}
		made.Blocks = append(made.Blocks, lang.MadeBlock{Kind: "case", At: made.At, Made: lang.Made{Attributes: map[string]any{
			"input": one.input, "output": one.output, "time": c.limit(time, "1s"), "memory": c.size(memory, "256MiB"),
		}}})
	}
	if len(s.cases) == 0 { // limits are checked, regardless of their content
		c.limit(s.time, "")
		c.size(s.memory, "")
	}
	return made
}

var (
	timeText = lazyregexp.New(`(?i)^([0-9.]+)\s*(ms|s|)$`)
	sizeText = lazyregexp.New(`(?i)^([0-9.]+)\s*([kmg]|)$`)
)

// limit reads a time. A bare number is in nanoseconds; a text without a unit is in seconds.
func (c *algorithmic) limit(n *yaml.Node, otherwise string) string {
	return c.amount(n, otherwise, timeText(), "ns", map[string]string{"": "s", "s": "s", "ms": "ms"}, "bad time %s: want a duration such as 2s or 500ms")
}

// size reads an amount of memory, in bytes if it has no unit.
func (c *algorithmic) size(n *yaml.Node, otherwise string) string {
	return c.amount(n, otherwise, sizeText(), "B", map[string]string{"": "B", "k": "KiB", "m": "MiB", "g": "GiB"}, "bad memory %s: want a size such as 256m or 1g")
}

func (c *algorithmic) amount(n *yaml.Node, otherwise string, form *regexp.Regexp, bare string, units map[string]string, mistake string) string {
	if n == nil {
		return otherwise
	}
	if n.Tag == "!!int" || n.Tag == "!!float" {
		return n.Value + bare
	}
	if parts := form.FindStringSubmatch(document.Scalar(n, "")); parts != nil {
		if number, err := strconv.ParseFloat(parts[1], 64); err == nil {
			return strconv.FormatFloat(number, 'f', -1, 64) + units[strings.ToLower(parts[2])]
		}
	}
	c.Fail(n, fmt.Sprintf(mistake, n.Value))
	return otherwise
}

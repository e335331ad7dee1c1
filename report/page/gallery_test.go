package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// gallery returns a page as a benchmark has: problems in checkpoints and problems that give scores, solutions
// of different skill with repeats, several runs, regressions with causes, and cells that broke.
func gallery(problems, repeats int) *Page {
	p := &Page{Project: "coding-bench", Version: "0.1.0",
		Words: func(c report.Checkpoint) []string {
			return map[bool][]string{true: {"passed"}, false: {"failed"}}[c.Passed]
		},
		Nodes: func(c *report.Cell) ([]Node, error) {
			return []Node{
				{Addr: "submission:" + c.Problem + "/checkpoint_1/" + c.Solution, Kind: "submission", State: "done", Cause: "source changed", Files: []string{"solutions/" + c.Solution + "/main.py (modified)"}, Seconds: 0.002, Attempt: 1},
				{Addr: "pytest:" + c.Problem + "/checkpoint_1/" + c.Solution, Kind: "pytest", State: "done", Cause: "submission changed", Log: "2 failed, 5 passed in 0.41s", Seconds: 3.2, Attempt: 1},
			}, nil
		},
		Sources: func(c *report.Cell) (all []Trees) {
			for i := range c.Checkpoints {
				all = append(all, Trees{Submission: fmt.Sprintf("%s %s %d", c.Problem, c.Solution, i), Tests: "tests"})
			}
			return all
		},
		Tree: galleryTree}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	causes := []string{"asset:requests changed", "tests/test_api.py changed", "image rebuilt", "policy core-cases -> all-cases"}
	for n := range 4 {
		r := galleryRun(fmt.Sprintf("2025123%d-030405-00000%d", n-2, n), problems, 1, n)
		p.Before = append(p.Before, report.NewHistoryPoint(r.Run, r, nil))
	}
	for n := range 5 {
		r := galleryRun(fmt.Sprintf("2026010%d-030405-00000%d", n+2, n), problems, repeats, n)
		p.Runs = append(p.Runs, Run{ID: r.Run, Start: begin.AddDate(0, 0, n), Seconds: 412.5 - 80*float64(n), Executed: 900 - 150*n, Cached: 300 + 150*n, Ended: true, Exit: 1, Results: r})
	}
	last := &p.Runs[len(p.Runs)-1]
	for i := range p.Runs[:len(p.Runs)-1] {
		d := report.Differ(p.Runs[i].Results, last.Results)
		for k := range d.Changes {
			d.Changes[k].Causes = causes[(k*k+i)%len(causes):][:1]
		}
		p.Runs[i].Difference = d
		p.Runs[i+1].Step = report.Differ(p.Runs[i].Results, p.Runs[i+1].Results)
		for k := range p.Runs[i+1].Step.Changes {
			p.Runs[i+1].Step.Changes[k].Causes = causes[i : i+1]
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := 0.0
	for n := range 400 {
		kind, seconds := "parse", 0.02
		switch n % 4 {
		case 0:
			kind, seconds = "pytest", 2
		case 1:
			kind, seconds = "submission", 0.005
		case 2:
			kind, seconds = "task", 0.8
		}
		seconds *= math.Exp(random.NormFloat64() / 2)
		at += 0.4
		p.Work = append(p.Work, Work{Addr: fmt.Sprintf("%s:kvstore/checkpoint_%d/agent", kind, n), Kind: kind, Pool: "cpu", State: "done", Start: at, Seconds: seconds})
	}
	return p
}

// galleryTree returns the files of a submission, which grow with checkpoints and differ between solutions.
func galleryTree(id string) (*Tree, error) {
	if id == "tests" {
		return &Tree{Files: []File{{Path: "test_checkpoint_2.py"}, {Path: "test_checkpoint_1.py", Text: strings.Repeat("# setup\n", 9) + "def test():\n    store = Store()\n    store.put(\"a\", 1)\n    # survives a restart\n    assert store.get(\"a\") == 1\n"}}}, nil
	}
	random := rand.New(rand.NewPCG(uint64(len(id)), uint64(id[len(id)-1])))
	var b strings.Builder
	b.WriteString("# " + id + "\nclass Store:\n")
	for n := range 12 + 3*int(id[len(id)-1]-'0') {
		fmt.Fprintf(&b, "\tdef method_%d(self, key, value=None):\n\t\t\"\"\"Keeps what was given, and returns it.\"\"\"\n\t\treturn self.kept.get(key, %d)\n\n", n, random.IntN(4))
	}
	return &Tree{Files: []File{{Path: "README.md", Text: "# Store\n"}, {Path: "data.bin", Note: "4096 bytes, not text"}, {Path: "src/store.py", Text: b.String()}}}, nil
}

var gallerySolutions = []struct {
	name, model string
	skill       float64
}{
	{"reference", "human", 3.2}, {"opus-agent", "opus", 1.6}, {"opus-bare", "opus", 1.2}, {"sonnet-agent", "sonnet", 0.9}, {"gpt-agent", "gpt", 1.0},
	{"gpt-bare", "gpt", 0.3}, {"qwen-agent", "qwen", -0.2}, {"hasty", "none", -1.8},
}

var galleryNames = []string{"kvstore", "json-path", "rate-limiter", "diff-tool", "query-planner", "cron", "markdown", "tokenizer", "vm", "regex", "scheduler", "ledger"}

func galleryRun(id string, problems, repeats, n int) *report.Results {
	r := &report.Results{Schema: report.Schema, Run: id}
	for i := range problems {
		name := galleryNames[i%len(galleryNames)]
		if i >= len(galleryNames) {
			name = fmt.Sprintf("%s-%d", name, i/len(galleryNames)+1)
		}
		for k, s := range gallerySolutions {
			for repeat := range repeats {
				seed := uint64(i*1000 + k*10 + repeat)
				if i%5 == n { // some verdicts differ between runs
					seed += uint64(n) * 1e6
				}
				random := rand.New(rand.NewPCG(seed, 7))
				skill := s.skill - 0.15*float64(i%9) + 0.5 + 0.1*float64(n)
				cell := report.Cell{Problem: name, Solution: s.name, Backend: "local.host", Repeat: repeat + 1, Status: verdict.Success, Labels: map[string]string{"model": s.model}}
				switch {
				case i%4 == 3:
					galleryScore(&cell, random, skill)
				case i%6 == 2 && k == 6 && repeat == 0:
					cell.Status, cell.Message = verdict.Broken, ptr("docker: the daemon went away (exit status 125)")
				default:
					galleryCheckpoints(&cell, random, skill)
				}
				r.Cells = append(r.Cells, cell)
			}
		}
	}
	return r
}

func galleryScore(cell *report.Cell, random *rand.Rand, skill float64) {
	score := 100 / (1 + math.Exp(-skill-random.NormFloat64()))
	c := report.Checkpoint{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: &score, DurationMS: 900 * math.Exp(random.NormFloat64()/3), Groups: verdict.GroupCounts{}}
	for t := range 5 {
		c.Tests = append(c.Tests, report.Test{Test: verdict.Test{ID: fmt.Sprintf("case_%d", t+1), Group: verdict.Core, Status: verdict.TestPassed}, DurationMS: 120})
	}
	cell.Score, cell.Checkpoints = &score, []report.Checkpoint{c}
}

func galleryCheckpoints(cell *report.Cell, random *rand.Rand, skill float64) {
	for n := range 4 {
		c := report.Checkpoint{Name: fmt.Sprintf("checkpoint_%d", n+1), Class: verdict.Judged, Policy: string(verdict.StrictCoreCases), Passed: true,
			DurationMS: 1000 * math.Exp(random.NormFloat64()/2-skill/4), Groups: verdict.GroupCounts{}, Collected: 9}
		for t := range 9 {
			group := []verdict.Group{verdict.Core, verdict.Functionality, verdict.ErrorGroup}[t/3]
			passed := random.Float64() < 1/(1+math.Exp(-skill-3+0.5*float64(n)+0.3*float64(t%3)))
			test := report.Test{Test: verdict.Test{ID: fmt.Sprintf("test_%s_%d", []string{"api", "state", "errors"}[t/3], t%3+1), File: fmt.Sprintf("tests/test_checkpoint_%d.py", n+1), Group: group, Status: verdict.TestPassed}, DurationMS: 40}
			count := c.Groups[group]
			count.Total++
			if passed {
				count.Passed++
			} else {
				test.Status, test.Message = verdict.TestFailed, ptr("def test():\n>       assert store.get(\"a\") == 1\nE       AssertionError: assert None == 1\n\nFile \"/workspace/src/store.py\", line 5, in get\ntests/test_checkpoint_1.py:14: AssertionError")
				c.Passed = c.Passed && group != verdict.Core
			}
			c.Groups[group] = count
			c.Tests = append(c.Tests, test)
		}
		cell.Checkpoints = append(cell.Checkpoints, c)
	}
}

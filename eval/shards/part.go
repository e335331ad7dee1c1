package shards

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// Part is the part of all cells for one machine.
type Part struct {
	Shard string // I/N selects the Ith of N parts of the cells; or Shared; "" means all
	Cells string // file that lists cells, as named by the user; Shard can take a part of them; "" means all
	Path  string // path of that file
}

// Shared is the Shard of the tasks that several shards of a Division need, instead of cells.
const Shared = "shared"

// Keep returns the targets for the part's cells; targets outside of cells are included as dependencies. An
// invalid problem without cells is in every part, and a task that no cell needs is in the first one, so that
// none is lost between parts.
func (part Part) Keep(p *plan.Plan, targets []graph.ID) ([]graph.ID, error) {
	if part.Shard == Shared {
		return part.sharedTargets(p)
	}
	picks, err := part.picks(p.Config)
	if err != nil {
		return nil, err
	}
	mine, needed := map[plan.CellID]bool{}, map[string]bool{}
	plan.EachCell(p.Config, func(c lang.Cell) {
		needed[c.Solution.Problem.Name] = true
		if picks(c) {
			mine[plan.IDOf(c)] = true
		}
	})
	standalone := map[string]bool{}
	if strings.HasPrefix(part.Shard, "1/") {
		for _, t := range plan.Standalone(p.Config) {
			standalone[plan.TaskAddress(t)] = true
		}
	}
	var kept []graph.ID
	for _, id := range targets {
		n := p.Graph.Node(id)
		alone := n.Kind == plan.KindProblem && !needed[n.Label("problem")] || standalone[n.Addr]
		if alone || mine[plan.NodeCell(n).Cell()] {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// sharedTargets returns the tasks that several shards need.
func (part Part) sharedTargets(p *plan.Plan) (kept []graph.ID, err error) {
	if part.Cells == "" {
		return nil, errors.New("--shard shared takes the tasks that several shards need from --cells FILE, which `fevalgraph plan --shards` prints")
	}
	d, err := ReadDivision(part.Path)
	if err != nil {
		return nil, fmt.Errorf("--cells %s: %w", part.Cells, err)
	}
	for _, addr := range d.Shared {
		id, ok := p.Graph.Lookup(addr)
		if !ok {
			return nil, fmt.Errorf("--cells %s: the configuration has no %s", part.Cells, addr)
		}
		kept = append(kept, id)
	}
	return kept, nil
}

// picks returns the predicate for the part's cells: by a file of cells, or by hash.
func (part Part) picks(cfg *lang.Config) (func(lang.Cell) bool, error) {
	if part.Cells == "" {
		index, count, err := Parse(part.Shard)
		return func(c lang.Cell) bool { return plan.InShard(c, index, count) }, err
	}
	listed, err := readCells(part.Path, part.Shard)
	if err != nil {
		return nil, fmt.Errorf("--cells %s: %w", part.Cells, err)
	}
	wanted := make(map[string]bool, len(listed))
	for _, name := range listed {
		wanted[name] = true
	}
	absent := len(wanted)
	plan.EachCell(cfg, func(c lang.Cell) {
		if wanted[plan.IDOf(c).String()] {
			absent--
		}
	})
	if absent > 0 {
		known := map[string]bool{}
		plan.EachCell(cfg, func(c lang.Cell) { known[plan.IDOf(c).String()] = true })
		var unknown []string
		for _, name := range listed {
			if !known[name] {
				unknown = append(unknown, name)
			}
		}
		return nil, fmt.Errorf("--cells %s: the configuration has no cell %s; `fevalgraph list cells` shows them", part.Cells, text.Some(unknown, 3))
	}
	return func(c lang.Cell) bool { return wanted[plan.IDOf(c).String()] }, nil
}

// readCells reads the names of cells from a file with one name in each line, where comments begin with "#"; or
// from a Division: all cells, or those of shard I/N.
func readCells(file, shard string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		if shard != "" {
			return nil, fmt.Errorf("it has no shards, so --shard %s has no effect; `fevalgraph plan --shards auto --json` prints some", shard)
		}
		var listed []string
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				listed = append(listed, line)
			}
		}
		return listed, nil
	}
	d, err := parseDivision(content)
	if err != nil {
		return nil, err
	}
	if shard == "" {
		var all []string
		for _, s := range d.Shards {
			all = append(all, s.Cells...)
		}
		return all, nil
	}
	index, count, err := Parse(shard)
	if err != nil {
		return nil, err
	}
	if count != len(d.Shards) {
		return nil, fmt.Errorf("it has %s, so %s does not exist", text.Count(len(d.Shards), "shard"), shard)
	}
	return d.Shards[index-1].Cells, nil
}

package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// shard keeps the targets of some of the cells; whatever belongs to no cell comes along as
// a dependency. An invalid problem that no cell needs is in every part, and a task that no
// cell needs in the first one: they must not fall between them.
func (p *Project) shard(targets []graph.ID, r Request) ([]graph.ID, error) {
	picks, err := p.shardOf(r)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	mine, needed := map[plan.CellID]bool{}, map[string]bool{}
	plan.EachCell(p.Config, func(c lang.Cell) {
		needed[c.Solution.Problem.Name] = true
		if picks(c) {
			mine[plan.IDOf(c)] = true
		}
	})
	standalone := map[string]bool{}
	if strings.HasPrefix(r.Shard, "1/") {
		for _, t := range plan.Standalone(p.Config) {
			standalone[plan.TaskAddress(t)] = true
		}
	}
	var kept []graph.ID
	for _, id := range targets {
		n := p.Plan.Graph.Node(id)
		alone := n.Kind == plan.KindProblem && !needed[n.Label("problem")] || standalone[n.Addr]
		if alone || mine[plan.NodeCell(n).Cell()] {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// shardOf returns what picks the cells of a request: by a file of cells, or by hash.
func (p *Project) shardOf(r Request) (func(lang.Cell) bool, error) {
	if r.Cells == "" {
		index, count, err := shards.Parse(r.Shard)
		return func(c lang.Cell) bool { return plan.InShard(c, index, count) }, err
	}
	listed, err := readCells(p.options.Path(r.Cells), r.Shard)
	if err != nil {
		return nil, fmt.Errorf("--cells %s: %w", r.Cells, err)
	}
	wanted := make(map[string]bool, len(listed))
	for _, name := range listed {
		wanted[name] = true
	}
	absent := len(wanted)
	plan.EachCell(p.Config, func(c lang.Cell) {
		if wanted[plan.IDOf(c).String()] {
			absent--
		}
	})
	if absent > 0 {
		known := map[string]bool{}
		plan.EachCell(p.Config, func(c lang.Cell) { known[plan.IDOf(c).String()] = true })
		var unknown []string
		for _, name := range listed {
			if !known[name] {
				unknown = append(unknown, name)
			}
		}
		return nil, fmt.Errorf("--cells %s: the configuration has no cell %s; `fevalgraph list cells` shows them", r.Cells, text.Some(unknown, 3))
	}
	return func(c lang.Cell) bool { return wanted[plan.IDOf(c).String()] }, nil
}

// readCells reads the names of cells from a file: one on each line, with comments after
// "#" and empty lines ignored; or of a Division, all of them or those of shard I/N.
func readCells(file, shard string) ([]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		if shard != "" {
			return nil, fmt.Errorf("it has no shards, so --shard %s means nothing; `fevalgraph plan --shards auto --json` prints some", shard)
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
	index, count, err := shards.Parse(shard)
	if err != nil {
		return nil, err
	}
	if count != len(d.Shards) {
		return nil, fmt.Errorf("it has %s, so none is %s", text.Count(len(d.Shards), "shard"), shard)
	}
	return d.Shards[index-1].Cells, nil
}

// parseDivision reads a Division in JSON.
func parseDivision(content []byte) (*Division, error) {
	d := new(Division)
	if err := json.Unmarshal(content, d); err != nil {
		return nil, fmt.Errorf("it is not what `fevalgraph plan --shards auto --json` prints: %w", err)
	}
	if d.Schema != divisionSchema {
		return nil, fmt.Errorf("it has schema %d, and this version reads %d", d.Schema, divisionSchema)
	}
	return d, nil
}

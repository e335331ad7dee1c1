package plan

import (
	"cmp"
	"strconv"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// CellID names a cell: one solution of a problem on one backend, once. With a
// Checkpoint it names that checkpoint of the cell. It is comparable, and names
// the same cell in a graph, in results and in last answers.
type CellID struct {
	Problem    string
	Checkpoint string // "" is the whole cell, or the only checkpoint of a problem that names none
	Solution   string
	Backend    string // "local.host"
	Repeat     int    // from 1; 0 for a node that belongs to no cell
}

// At is a checkpoint of the cell.
func (id CellID) At(checkpoint string) CellID {
	id.Checkpoint = checkpoint
	return id
}

// GradedAt are the addresses that the node with the verdict on the checkpoint may have. The
// first one that a run has is it.
func (id CellID) GradedAt() [2]string {
	return [2]string{KindScore + ":" + id.String(), KindAggregate + ":" + id.String()}
}

// Cell is the whole cell.
func (id CellID) Cell() CellID { return id.At("") }

// Compare orders cells as results do, whatever their checkpoints.
func (id CellID) Compare(o CellID) int {
	return cmp.Or(cmp.Compare(id.Problem, o.Problem), cmp.Compare(id.Solution, o.Solution), cmp.Compare(id.Backend, o.Backend), cmp.Compare(id.Repeat, o.Repeat))
}

// name is the cell's part of addresses: agent["small"]@local.host, with "#2" for a
// second repeat.
func (id CellID) name() string {
	name := id.Solution + "@" + id.Backend
	if id.Repeat > 1 {
		name += "#" + strconv.Itoa(id.Repeat)
	}
	return name
}

// String is the cell's name as people write it, problem/solution@backend, or that of its
// checkpoint, problem/checkpoint/solution@backend. No other has it.
func (id CellID) String() string { return pathOf(id.Problem, id.Checkpoint, id.name()) }

// ID names the cell.
func (c *Cell) ID() CellID {
	return CellID{Problem: c.Problem.Name, Solution: c.Solution.Name, Backend: c.Backend.Addr(), Repeat: c.Repeat}
}

// Name is how the cell is called within its problem: agent["small"]@local.host,
// with "#2" for a second repeat.
func (c *Cell) Name() string { return c.ID().name() }

// NodeCell names the checkpoint, or the cell, that a node belongs to. Of a node that
// several cells share it has what they have in common.
func NodeCell(n *graph.Node) CellID {
	repeat, _ := strconv.Atoi(n.Label("repeat")) // "" of a node that is shared
	return CellID{Problem: n.Label("problem"), Checkpoint: n.Label("checkpoint"), Solution: n.Label("solution"), Backend: n.Label("backend"), Repeat: repeat}
}

// ResultCell names the cell that a result is about.
func ResultCell(c *report.Cell) CellID {
	return CellID{Problem: c.Problem, Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}
}

// address is kind:of/part/…, and no other names have it; see pathOf.
func address(kind, of string, parts ...string) string {
	return kind + ":" + pathOf(append([]string{of}, parts...)...)
}

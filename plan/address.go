package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// CellID identifies a cell, which is a repeat of a solution of a problem on a backend, or a Checkpoint of
// a cell. It is comparable, and equal in graphs, results and last answers.
type CellID struct {
	Problem    string
	Checkpoint string // "" means the whole cell, or the only checkpoint of a problem without named ones
	Solution   string
	Backend    string // "local.host"
	Repeat     int    // from 1; 0 for a node without a cell
}

// At returns the ID of a checkpoint of the cell.
func (id CellID) At(checkpoint string) CellID {
	id.Checkpoint = checkpoint
	return id
}

// GradedAt returns the possible addresses of the node with the verdict on the checkpoint. The first address
// that a run contains is its address.
func (id CellID) GradedAt() [2]string {
	return [2]string{KindScore + ":" + id.String(), KindAggregate + ":" + id.String()}
}

// Cell returns the ID of the whole cell.
func (id CellID) Cell() CellID { return id.At("") }

// Compare orders cells like results, regardless of their checkpoints.
func (id CellID) Compare(o CellID) int {
	return cmp.Or(cmp.Compare(id.Problem, o.Problem), cmp.Compare(id.Solution, o.Solution), cmp.Compare(id.Backend, o.Backend), cmp.Compare(id.Repeat, o.Repeat))
}

// name returns the cell's part of addresses: agent["small"]@local.host, with "#2" for a second repeat.
func (id CellID) name() string {
	name := id.Solution + "@" + id.Backend
	if id.Repeat > 1 {
		name += "#" + strconv.Itoa(id.Repeat)
	}
	return name
}

// String returns the cell's name in messages, problem/solution@backend, or that of its checkpoint,
// problem/checkpoint/solution@backend. It is unique.
func (id CellID) String() string { return pathOf(id.Problem, id.Checkpoint, id.name()) }

// ID names the cell.
func (c *Cell) ID() CellID {
	return CellID{Problem: c.Problem.Name, Solution: c.Solution.Name, Backend: c.Backend.Addr(), Repeat: c.Repeat}
}

// Name returns the cell's name within its problem: agent["small"]@local.host, with "#2" for a second repeat.
func (c *Cell) Name() string { return c.ID().name() }

// CellName returns the name of the cell that a node belongs to, problem/solution@backend, given the node's
// address; "" for a node that cells share.
func CellName(addr string) string {
	_, body, _ := strings.Cut(addr, ":")
	first, last, at := -1, -1, -1 // positions of "/" and "@"
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '[':
			i += max(len(quotedKey(body[i:])), 1) - 1
		case '/':
			if last = i; first < 0 {
				first = i
			}
		case '@':
			at = i
		}
	}
	if first < 0 || at < last {
		return ""
	}
	return body[:first] + body[last:]
}

// NodeCell returns the checkpoint, or the cell, that a node belongs to. For a node that several cells share,
// it has the fields that they have in common.
func NodeCell(n *graph.Node) CellID {
	repeat, _ := strconv.Atoi(n.Label("repeat")) // "" for a shared node
	return CellID{Problem: n.Label("problem"), Checkpoint: n.Label("checkpoint"), Solution: n.Label("solution"), Backend: n.Label("backend"), Repeat: repeat}
}

// ResultCell names the cell that a result is about.
func ResultCell(c *report.Cell) CellID {
	return CellID{Problem: c.Problem, Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}
}

// address returns kind:of/part/…, which is unique; see pathOf.
func address(kind, of string, parts ...string) string {
	return kind + ":" + pathOf(append([]string{of}, parts...)...)
}

// pathOf joins names by "/", injectively. It omits empty names, such as that of a nameless checkpoint.
func pathOf(names ...string) string {
	joined := ""
	for _, name := range names {
		switch {
		case name == "":
		case joined == "":
			joined = escape(name, "/")
		default:
			joined += "/" + escape(name, "/")
		}
	}
	return joined
}

// escape encodes "%" and the special characters in a name as "%" and two hexadecimal digits. The quoted
// key of an instance, as in agent["a/b"], stays unchanged: the quotes show where the key ends. Other
// quotes are escaped, too.
func escape(name, special string) string {
	if !strings.ContainsAny(name, special+`%"`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if key := quotedKey(name[i:]); key != "" {
			b.WriteString(key)
			i += len(key) - 1
		} else if c == '%' || c == '"' || strings.IndexByte(special, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quotedKey returns the key, with its brackets, at the start of text, or "".
func quotedKey(text string) string {
	if !strings.HasPrefix(text, `["`) {
		return ""
	}
	key, err := strconv.QuotedPrefix(text[1:])
	if end := 1 + len(key); err == nil && end < len(text) && text[end] == ']' {
		return text[:end+1]
	}
	return ""
}

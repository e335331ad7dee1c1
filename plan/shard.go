package plan

import (
	"fmt"
	"hash/fnv"

	"github.com/fevalgraph/fevalgraph/lang"
)

// InShard reports whether the cell belongs to part index of count.
func (c *Cell) InShard(index, count int) bool {
	return inShard(lang.Cell{Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}, index, count)
}

// inShard spreads cells over shards by their names, so that adding one moves
// none of the others.
func inShard(c lang.Cell, index, count int) bool {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %q %q %d", c.Solution.Problem.Name, c.Solution.Name, c.Backend.Addr(), c.Repeat)
	return int(h.Sum32()%uint32(count)) == index-1
}

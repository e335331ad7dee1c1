package plan

import (
	"fmt"
	"hash/fnv"

	"github.com/fevalgraph/fevalgraph/lang"
)

// InShard reports whether a cell is in part index of count, from 1.
func InShard(c lang.Cell, index, count int) bool { return ShardOf(c, count) == index }

// ShardOf returns the shard, from 1 to count, that contains a cell. It distributes cells by name, so that
// a new cell moves no other cells.
func ShardOf(c lang.Cell, count int) int {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %q %q %d", c.Solution.Problem.Name, c.Solution.Name, c.Backend.Addr(), c.Repeat)
	return int(h.Sum32()%uint32(count)) + 1
}

package cache

import (
	"encoding/binary"
	"math"
)

// weights are the last uses and sizes of everything in a store, to find the time
// before whose last use something has to go.
type weights struct{ spill *spill }

// add notes something of size bytes that was last used at used.
func (w weights) add(hash [32]byte, used, size int64) error {
	var entry [16]byte
	binary.LittleEndian.PutUint64(entry[:], orderOf(used))
	binary.LittleEndian.PutUint64(entry[8:], uint64(size))
	return w.spill.add(hash[0], entry[:])
}

// orderOf makes times numbers without a sign that are in the same order.
func orderOf(used int64) uint64 { return uint64(used) ^ 1<<63 }

func timeOf(order uint64) int64 { return int64(order ^ 1<<63) }

// cut returns the earliest time at which all that was used then or later has at
// most room bytes, or the beginning of time when all there is has. It finds its
// bits sixteen at a time, the highest first, so that nothing needs to be sorted.
func (w weights) cut(room int64) (int64, error) {
	const step = 16
	var prefix uint64 // of the last use at which there is too much
	var above int64   // bytes of what was used after all with that prefix
	sizes := make([]int64, 1<<step)
	for shift := 64 - step; shift >= 0; shift -= step {
		clear(sizes)
		for part := range spillParts {
			err := w.spill.read(byte(part), func(b []byte) {
				for ; len(b) > 0; b = b[16:] {
					order := binary.LittleEndian.Uint64(b)
					if order>>shift>>step == prefix {
						sizes[order>>shift&(1<<step-1)] += int64(binary.LittleEndian.Uint64(b[8:]))
					}
				}
			})
			if err != nil {
				return 0, err
			}
		}
		i := len(sizes) - 1
		for ; i >= 0 && above+sizes[i] <= room; i-- {
			above += sizes[i]
		}
		if i < 0 {
			return math.MinInt64, nil // only at first: there is room for all
		}
		prefix = prefix<<step | uint64(i)
	}
	return timeOf(prefix) + 1, nil
}

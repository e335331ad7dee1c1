package verdict

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Group of a test. The order of Groups is the order of display.
type Group string

const (
	Core          Group = "core"
	Functionality Group = "functionality"
	Regression    Group = "regression"
	ErrorGroup    Group = "error"
)

// Groups lists every group in display order.
var Groups = [...]Group{Core, Functionality, Regression, ErrorGroup}

// Count of tests in a group. Skipped tests count in Total and not in Passed.
type Count struct {
	Passed int `json:"passed"` // tests
	Total  int `json:"total"`
}

// Plus adds two counts.
func (c Count) Plus(d Count) Count { return Count{c.Passed + d.Passed, c.Total + d.Total} }

// GroupCounts has an entry for each of Groups. Its JSON is an object with all four groups, in display
// order.
type GroupCounts map[Group]Count

// NoTestCounts returns counts of 0 for all groups.
func NoTestCounts() GroupCounts {
	counts := make(GroupCounts, len(Groups))
	for _, g := range Groups {
		counts[g] = Count{}
	}
	return counts
}

// Add counts one more test.
func (g GroupCounts) Add(group Group, status TestStatus) {
	n := Count{Total: 1}
	if status == TestPassed {
		n.Passed = 1
	}
	g[group] = g[group].Plus(n)
}

// AddAll adds the counts of Groups in other.
func (g GroupCounts) AddAll(other GroupCounts) {
	for _, group := range Groups {
		g[group] = g[group].Plus(other[group])
	}
}

// Sum returns the total count of some groups.
func (g GroupCounts) Sum(groups ...Group) Count {
	var n Count
	for _, group := range groups {
		n = n.Plus(g[group])
	}
	return n
}

// MarshalJSON writes all of Groups in display order, then any other group by
// name.
func (g GroupCounts) MarshalJSON() ([]byte, error) {
	order := Groups[:]
	var others []Group
	for name := range g {
		if !slices.Contains(order, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	var b bytes.Buffer
	for i, name := range slices.Concat(order, others) {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b.WriteByte(separator)
		label, err := json.Marshal(string(name))
		if err != nil {
			return nil, err
		}
		count, err := json.Marshal(g[name])
		if err != nil {
			return nil, err
		}
		b.Write(label)
		b.WriteByte(':')
		b.Write(count)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

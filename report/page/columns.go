package page

// column stores strings as a table of distinct values and an index for each row: names repeat often, and the
// page compares numbers faster. A missing value has the index -1.
type column struct {
	Values []string `json:"values"`
	At     []int    `json:"at"`

	known map[string]int
}

func newColumn(rows int) *column {
	return &column{Values: []string{}, At: make([]int, 0, rows), known: map[string]int{}}
}

func (c *column) add(s string) {
	at, ok := c.known[s]
	if !ok {
		at = len(c.Values)
		c.known[s] = at
		c.Values = append(c.Values, s)
	}
	c.At = append(c.At, at)
}

func (c *column) addIf(s string, has bool) {
	if has {
		c.add(s)
	} else {
		c.At = append(c.At, -1)
	}
}

// numbers is a column of optional numbers; nil if all are missing.
type numbers []*float64

func (n numbers) orNil() numbers {
	for _, v := range n {
		if v != nil {
			return n
		}
	}
	return nil
}

package describe

import "github.com/fevalgraph/fevalgraph/eval"

// Found returns a line for each node of a query, or for each cell or file.
func Found(f *eval.Found, cells, files bool) (lines []string) {
	switch {
	case files:
		return f.Files
	case cells:
		for _, c := range f.Cells {
			lines = append(lines, c.String())
		}
		return lines
	}
	for _, n := range f.Nodes {
		lines = append(lines, n.Addr)
	}
	return lines
}

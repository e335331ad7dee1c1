package cli

import (
	"encoding/json"
)

// orEmpty makes a list that is not there an empty one: [] in JSON, not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// writeJSON prints one object, as commands that read do with --json.
func (a *app) writeJSON(v any) error {
	encoder := json.NewEncoder(a.io.Out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

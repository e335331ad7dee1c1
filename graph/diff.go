package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
)

// Diff lists how new differs from old, in the order of new, followed by removed fields.
func Diff(old, new []Field) []event.Change {
	before := make(map[string]string, len(old))
	for _, f := range old {
		before[f.Label] = f.Value
	}
	var changes []event.Change
	after := make(map[string]bool, len(new))
	for _, f := range new {
		after[f.Label] = true
		was, had := before[f.Label]
		switch {
		case !had:
			changes = append(changes, event.Change{Field: f.Label, New: f.Value})
		case was != f.Value:
			changes = append(changes, event.Change{Field: f.Label, Old: was, New: f.Value})
		}
	}
	for _, f := range old {
		if !after[f.Label] {
			changes = append(changes, event.Change{Field: f.Label, Old: f.Value})
		}
	}
	if _, was := before[RefusedOutput]; was != after[RefusedOutput] {
		// A refused source lists no files, although they exist.
		changes = slices.DeleteFunc(changes, func(c event.Change) bool { return strings.HasPrefix(c.Field, "file ") })
	}
	return changes
}

// ChangeText summarizes a change: how a file changed, or both values of another field if they are short.
func ChangeText(c event.Change) string {
	const maxShown = 40
	file, isFile := strings.CutPrefix(c.Field, "file ")
	switch {
	case isFile && c.Old == "":
		return file + " added"
	case isFile && c.New == "":
		return file + " deleted"
	case isFile && fileContent(c.Old) == fileContent(c.New):
		return file + " changed its mode"
	case isFile:
		return file + " changed"
	case c.Field == RefusedOutput && c.Old == "":
		return "refused"
	case c.Field == RefusedOutput && c.New == "":
		return "no longer refused"
	case c.Via != "":
		return cmp.Or(c.Field, c.Via) + " changed"
	case c.Old == "":
		return c.Field + " added"
	case c.New == "":
		return c.Field + " removed"
	case len(c.Old) <= maxShown && len(c.New) <= maxShown:
		return c.Field + ": " + c.Old + " -> " + c.New
	}
	return c.Field + " changed"
}

// fileContent returns the digest in the value of a file field, without its mode.
func fileContent(value string) string {
	content, _, _ := strings.Cut(value, " ")
	return content
}

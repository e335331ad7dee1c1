package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Known holds the names that selectors can use, by axis.
type Known map[string]map[string]bool

// Add adds a name to an axis, unless it is "".
func (k Known) Add(axis, name string) {
	if k[axis] == nil {
		k[axis] = map[string]bool{}
	}
	if name != "" {
		k[axis][name] = true
	}
}

// Names returns the sorted names of an axis, or of all axes.
func (k Known) Names(axis string) []string {
	var all []string
	for of, names := range k {
		if axis == "" || of == axis {
			for name := range names {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Summary lists problems, solutions and tasks, as far as there are any.
func (k Known) Summary() string {
	var all []string
	for _, axis := range []string{"problem", "solution", "task"} {
		if names := k.Names(axis); len(names) > 0 {
			all = append(all, axis+"s "+someOf(names))
		}
	}
	return cmp.Or(strings.Join(all, " and "), "no names")
}

// DidYouMean returns ", did you mean X?" for the first unknown name in selectors that resembles a known one,
// or "".
func (k Known) DidYouMean(args []string) string {
	for _, arg := range args {
		for term := range strings.SplitSeq(arg, ",") {
			axis, value, found := strings.Cut(term, "=")
			if !found {
				axis, value = "", term
				if _, body, hasKind := strings.Cut(term, ":"); hasKind {
					value = body
				}
			}
			parts := []string{value}
			if !found {
				parts = strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '@' })
			}
			names := k.Names(strings.TrimSpace(axis))
			for _, part := range parts {
				if part = strings.TrimSpace(part); strings.ContainsAny(part, "*?") || slices.ContainsFunc(names, func(n string) bool { return sameName(part, n) }) {
					continue
				}
				if near := text.Nearest(part, names); near != "" {
					return fmt.Sprintf("; did you mean %q?", near)
				}
			}
			// A name alone denotes a problem, since addresses begin with it.
			for _, of := range []string{"solution", "backend", "suite", "tag"} {
				if !found && slices.ContainsFunc(k.Names(of), func(n string) bool { return sameName(value, n) }) {
					return fmt.Sprintf("; did you mean %s=%s?", of, value)
				}
			}
		}
	}
	return ""
}

// sameName reports whether got equals name, with or without its instance key.
func sameName(got, name string) bool {
	plain := unquoted(name)
	base, _, _ := strings.Cut(plain, "[")
	got = unquoted(got)
	return got == plain || got == base
}

func someOf(names []string) string {
	const shown = 8
	slices.Sort(names)
	return text.Some(slices.Compact(names), shown)
}

package plan

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/backend"
)

// identity is like ask, and adds the programs that lines of commands start. Every word of a line is
// included, since any of them can be a program, as in `env nice node`.
func (d *driver) identity(ask func(context.Context) (backend.Identity, error), lines ...string) func(context.Context) (backend.Identity, error) {
	words := ProgramWords(lines)
	if d.Capabilities().Programs == nil || len(words) == 0 {
		return ask
	}
	d.handle.Use.addPrograms(words)
	return func(ctx context.Context) (backend.Identity, error) {
		identity, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		programs, err := d.handle.programs(ctx, words)
		return slices.Concat(identity, programs), err
	}
}

// ProgramWords returns the sorted, distinct words in lines that can be names or absolute paths of
// programs.
func ProgramWords(lines []string) []string {
	var words []string
	for _, line := range lines {
		for _, word := range strings.FieldsFunc(line, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._+-", r)
		}) {
			if !strings.HasPrefix(word, "-") && (strings.HasPrefix(word, "/") || !strings.Contains(word, "/")) {
				words = append(words, word)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// withoutPython removes Python from the words of a line that runs in an environment of uv, whose
// interpreter is first in PATH and is part of the backend's identity.
func withoutPython(line string) string {
	return strings.Join(slices.DeleteFunc(ProgramWords([]string{line}), func(word string) bool {
		return strings.HasPrefix(word, "python")
	}), " ")
}

// addPrograms adds sorted words to the programs in keys.
func (u *Use) addPrograms(words []string) {
	all := append(strings.Fields(u.Programs), words...)
	slices.Sort(all)
	u.Programs = strings.Join(slices.Compact(all), " ")
}

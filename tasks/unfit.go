package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
)

// unfit is what is wrong with a source by the doing of whoever made it, not of the machine
// that reads it.
type unfit struct {
	at  string // absolute path of the source, or of a file of it
	why string // with paths relative to the source: it is part of keys
}

func (e *unfit) Error() string { return e.at + ": " + e.why }

func unfitf(at, format string, args ...any) error {
	return &unfit{at, fmt.Sprintf(format, args...)}
}

// denied is err as an *unfit if permissions, or names that are too long, keep rel from being
// read; otherwise err.
func denied(at, rel string, err error) error {
	for _, kept := range []error{fs.ErrPermission, syscall.ENAMETOOLONG} {
		if errors.Is(err, kept) {
			return unfitf(at, "%s cannot be read: %v", shown(rel), kept)
		}
	}
	return err
}

// joinUnfit joins the errors of a source. What the machine cannot read comes before what
// whoever made it is responsible for.
func joinUnfit(at string, errs []error) error {
	var whys []error
	others := slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
		var wrong *unfit
		if errors.As(err, &wrong) {
			whys = append(whys, errors.New(wrong.why))
			return true
		}
		return false
	})
	if len(others) > 0 || len(whys) == 0 {
		return joinSome(others)
	}
	return &unfit{at, joinSome(whys).Error()}
}

// shown is a path within a source as a line of text shows it: without what is not
// printable. That of the source itself is "".
func shown(rel string) string {
	if rel == "" {
		return "the source"
	}
	if quoted := strconv.Quote(rel); quoted != `"`+rel+`"` {
		return quoted
	}
	return rel
}

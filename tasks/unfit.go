package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
)

// unfit is a defect of a source that its author caused, not the machine that reads it.
type unfit struct {
	at  string // absolute path of the source, or of a file of it
	why string // with paths relative to the source: it is part of keys
}

func (e *unfit) Error() string { return e.at + ": " + e.why }

func unfitf(at, format string, args ...any) error {
	return &unfit{at, fmt.Sprintf(format, args...)}
}

// asUnfit returns err as an *unfit if rel is unreadable because of permissions or long names; otherwise it
// returns err unchanged.
func asUnfit(at, rel string, err error) error {
	for _, kept := range []error{fs.ErrPermission, syscall.ENAMETOOLONG} {
		if errors.Is(err, kept) {
			return unfitf(at, "%s cannot be read: %v", displayPath(rel), kept)
		}
	}
	return err
}

// joinUnfit joins the errors of a source. Errors of the machine take precedence over defects that the
// author caused.
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

// displayPath formats a path within a source as a line of text, without unprintable characters. The source itself
// is "".
func displayPath(rel string) string {
	if rel == "" {
		return "the source"
	}
	if quoted := strconv.Quote(rel); quoted != `"`+rel+`"` {
		return quoted
	}
	return rel
}

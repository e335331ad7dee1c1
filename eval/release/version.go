package release

import (
	"fmt"
	"strconv"
	"strings"
)

// Version compares the bump of a problem's version with the change.
type Version struct {
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	Bump  Bump   `json:"bump"`  // from Old to New
	Needs Bump   `json:"needs"` // the smallest that fits the change
	Wrong string `json:"wrong,omitempty"`
}

// Bump is the part of a version that differs. To programs that go by versions, a patch keeps verdicts, a minor one has
// answers graded again, and a major one has problems solved again.
type Bump string

const (
	None  Bump = "none"
	Patch Bump = "patch"
	Minor Bump = "minor"
	Major Bump = "major"
)

func (b Bump) size() int { return strings.Index("none patch minor major", string(b)) }

// needs returns the smallest bump that fits a change; edited reports that a file of the problem differs.
func needs(c Class, edited bool) Bump {
	switch {
	case c == Rerun:
		return Major
	case c == Regrade:
		return Minor
	case c == Reuse && edited:
		return Patch
	}
	return None
}

// CompareVersions compares versions of a problem of a class. A whole number is raised by whatever changes verdicts.
func CompareVersions(old, new string, c Class, edited bool) Version {
	v := Version{Old: old, New: new, Bump: None, Needs: needs(c, edited)}
	if c == Added || c == Removed {
		v.Needs = None
		return v
	}
	before, oldOK := parse(old)
	after, newOK := parse(new)
	if whole(old) && whole(new) && v.Needs == Patch {
		v.Needs = None
	}
	switch {
	case new == "" && v.Needs != None:
		v.Wrong = "it has no version"
	case old == new && v.Needs != None:
		v.Wrong = "its version is the same"
	case old == new, old == "":
	case !newOK, !oldOK:
		if v.Bump = Major; !newOK {
			v.Wrong = fmt.Sprintf("%q is not a version such as 1.2.0", new)
		}
	default:
		v.compare(before, after, whole(old) && whole(new))
	}
	if old == "" && new != "" { // the first one
		v.Bump = Major
	}
	return v
}

func (v *Version) compare(before, after number, whole bool) {
	switch {
	case after.less(before):
		v.Wrong = "its version decreases"
	case before.parts[0] != after.parts[0], after.pre != before.pre:
		v.Bump = Major
	case before.parts[1] != after.parts[1]:
		v.Bump = Minor
	case before.parts[2] != after.parts[2]:
		v.Bump = Patch
	}
	if whole && v.Bump != None {
		v.Bump = Major
	}
	if v.Wrong == "" && v.Bump.size() < v.Needs.size() {
		v.Wrong = fmt.Sprintf("its version has a %s increment, but the changes need a %s one", v.Bump, v.Needs)
	}
}

// Next returns the smallest version after Old that fits the change; "" if Old has no form that is known.
func (v *Version) Next() string {
	n, ok := parse(v.Old)
	switch {
	case v.Needs == None:
		return v.Old
	case !ok:
		return ""
	case whole(v.Old):
		return strconv.Itoa(n.parts[0] + 1)
	}
	at := map[Bump]int{Major: 0, Minor: 1, Patch: 2}[v.Needs]
	n.parts[at]++
	clear(n.parts[at+1:])
	return fmt.Sprintf("%d.%d.%d", n.parts[0], n.parts[1], n.parts[2])
}

// number is a semantic version.
type number struct {
	parts [3]int
	pre   string
}

func (n number) less(o number) bool {
	for i := range n.parts {
		if n.parts[i] != o.parts[i] {
			return n.parts[i] < o.parts[i]
		}
	}
	return n.pre != "" && (o.pre == "" || n.pre < o.pre)
}

// parse reads a version of one to three numbers, with what may follow them.
func parse(text string) (n number, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	text, n.pre, _ = strings.Cut(text, "-")
	parts := strings.Split(text, ".")
	if len(parts) > len(n.parts) {
		return n, false
	}
	for i, part := range parts {
		value, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return n, false
		}
		n.parts[i] = int(value)
	}
	return n, true
}

// whole reports whether a version is a whole number.
func whole(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}

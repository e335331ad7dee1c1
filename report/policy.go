package report

import "github.com/fevalgraph/fevalgraph/report/text"

// Policy decides from the counts of a judged checkpoint whether it passes.
type Policy string

const (
	CoreCases        Policy = "core-cases"          // every core test passes, and there is one
	AllCases         Policy = "all-cases"           // every test passes, and there is one
	AllNonErrorCases Policy = "all-non-error-cases" // as AllCases, leaving out the error group
	AnyCase          Policy = "any-case"            // some test passes
	AnyCoreCases     Policy = "any-core-cases"      // some core test passes
	AnyJudged        Policy = "any"                 // being judged is enough
)

// Policies lists every policy.
func Policies() []Policy {
	return []Policy{CoreCases, AllCases, AllNonErrorCases, AnyCase, AnyCoreCases, AnyJudged}
}

// ParsePolicy returns the policy called s. The error for another word lists
// the policies and names the nearest.
func ParsePolicy(s string) (Policy, error) {
	var known []string
	for _, p := range Policies() {
		if string(p) == s {
			return p, nil
		}
		known = append(known, string(p))
	}
	return "", text.Unknown("policy", s, known)
}

// Passes reports whether c passes. A checkpoint that was not judged never
// does, and "all of no tests" is not a pass: a verdict needs evidence. An
// unknown policy passes nothing.
func (p Policy) Passes(c *Checkpoint) bool {
	if c.Class != Judged {
		return false
	}
	core, all := c.Groups[Core], Count{}
	for _, g := range Groups {
		all = all.plus(c.Groups[g])
	}
	switch p {
	case CoreCases:
		return core.all()
	case AllCases:
		return all.all()
	case AllNonErrorCases:
		return core.plus(c.Groups[Functionality]).plus(c.Groups[Regression]).all()
	case AnyCase:
		return all.Passed > 0
	case AnyCoreCases:
		return core.Passed > 0
	case AnyJudged:
		return true
	}
	return false
}

func (c Count) plus(d Count) Count { return Count{c.Passed + d.Passed, c.Total + d.Total} }

// all reports whether every test passed and there was one.
func (c Count) all() bool { return c.Total > 0 && c.Passed == c.Total }

package report

import "github.com/fevalgraph/fevalgraph/report/text"

// Policy decides from the counts of a judged checkpoint whether it passes.
//
// The plain ones count as SlopCodeBench's reports do: a policy that asks for
// all of some tests holds when there are none, see Vacuous. Their strict forms
// want at least one. Those that ask for any need a test to pass anyway.
type Policy string

// What each of them asks for is told by Meaning.
const (
	CoreCases        Policy = "core-cases"
	AllCoreCases     Policy = "all-core-cases" // another name of CoreCases
	AnyCoreCases     Policy = "any-core-cases"
	AllCases         Policy = "all-cases"
	AllNonErrorCases Policy = "all-non-error-cases"
	AnyCase          Policy = "any-case"
	AnyJudged        Policy = "any"

	StrictCoreCases        Policy = "strict-core-cases"
	StrictAllCoreCases     Policy = "strict-all-core-cases" // another name of StrictCoreCases
	StrictAllCases         Policy = "strict-all-cases"
	StrictAllNonErrorCases Policy = "strict-all-non-error-cases"
)

// DefaultPolicy decides where a configuration names none: a verdict that
// nobody asked to be lenient needs evidence.
const DefaultPolicy = StrictCoreCases

// Policies lists every policy.
func Policies() []Policy {
	return []Policy{
		CoreCases, AllCoreCases, AnyCoreCases, AllCases, AllNonErrorCases, AnyCase, AnyJudged,
		StrictCoreCases, StrictAllCoreCases, StrictAllCases, StrictAllNonErrorCases,
	}
}

// Meaning is the end of the sentence "a judged checkpoint passes when".
func (p Policy) Meaning() string {
	switch p {
	case CoreCases:
		return "every core test passes"
	case AllCoreCases:
		return "the same as core-cases"
	case AnyCoreCases:
		return "some core test passes"
	case AllCases:
		return "every test passes"
	case AllNonErrorCases:
		return "every test outside of the error group passes"
	case AnyCase:
		return "some test passes"
	case AnyJudged:
		return "it was judged"
	case StrictCoreCases:
		return "every core test passes, and there is one"
	case StrictAllCoreCases:
		return "the same as strict-core-cases"
	case StrictAllCases:
		return "every test passes, and there is one"
	case StrictAllNonErrorCases:
		return "every test outside of the error group passes, and there is one"
	}
	return "never: there is no such policy"
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
// does, and an unknown policy passes nothing.
func (p Policy) Passes(c *Checkpoint) bool {
	if c.Class != Judged {
		return false
	}
	n, _ := p.scope(c.Groups)
	switch p {
	case CoreCases, AllCoreCases, AllCases, AllNonErrorCases:
		return n.Passed == n.Total
	case StrictCoreCases, StrictAllCoreCases, StrictAllCases, StrictAllNonErrorCases:
		return n.Total > 0 && n.Passed == n.Total
	case AnyCase, AnyCoreCases:
		return n.Passed > 0
	case AnyJudged:
		return true
	}
	return false
}

// Vacuous reports whether c passes although p asks for tests and c has none
// of those that it looks at.
func (p Policy) Vacuous(c *Checkpoint) bool {
	n, _ := p.scope(c.Groups)
	return p != AnyJudged && n.Total == 0 && p.Passes(c)
}

// scope counts the tests that p looks at, and says which these are.
func (p Policy) scope(groups GroupCounts) (n Count, which string) {
	switch p {
	case CoreCases, AllCoreCases, AnyCoreCases, StrictCoreCases, StrictAllCoreCases:
		return groups[Core], "core tests"
	case AllNonErrorCases, StrictAllNonErrorCases:
		return groups[Core].plus(groups[Functionality]).plus(groups[Regression]), "tests outside of the error group"
	}
	for _, g := range Groups {
		n = n.plus(groups[g])
	}
	return n, "tests"
}

// Caveat is what to know about c beside that it passed, or empty:
//
//	passes core-cases with no core tests
func (c *Checkpoint) Caveat() string {
	if verdictOf(c) != verdictPassed || !c.Vacuous {
		return ""
	}
	_, which := Policy(c.Policy).scope(c.Groups)
	return "passes " + c.Policy + " with no " + which
}

func (c Count) plus(d Count) Count { return Count{c.Passed + d.Passed, c.Total + d.Total} }

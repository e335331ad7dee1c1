package verdict

// Policy decides from the counts of a judged checkpoint whether it passes.
//
// A policy that requires all tests of some groups holds if these have no tests, see Vacuous; its strict
// form requires at least one test. Policies that require any test to pass need one anyway.
type Policy string

// Meaning describes each policy.
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

	// NoRule is the policy of a problem that gives scores and has no pass rule. Nothing passes or fails by
	// it, and a configuration cannot name it.
	NoRule Policy = "none"
)

// DefaultPolicy is the default policy. Unless the user chooses a lenient one, a pass needs evidence.
const DefaultPolicy = StrictCoreCases

// Policies lists every policy.
func Policies() []Policy {
	return []Policy{
		CoreCases, AllCoreCases, AnyCoreCases, AllCases, AllNonErrorCases, AnyCase, AnyJudged,
		StrictCoreCases, StrictAllCoreCases, StrictAllCases, StrictAllNonErrorCases,
	}
}

// Meaning returns the end of the sentence "a judged checkpoint passes when".
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
		return "every non-error test passes"
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
		return "every non-error test passes, and there is one"
	}
	return "never: the policy is unknown"
}

// Text implements Rule.
func (p Policy) Text() string { return string(p) }

// Passes implements Rule.
func (p Policy) Passes(c *Checkpoint) (bool, error) { return p.Holds(c.Class, c.Groups), nil }

// Holds reports whether a checkpoint of a class and with such counts passes. A checkpoint without a verdict
// never does, and an unknown policy passes nothing.
func (p Policy) Holds(class Class, groups GroupCounts) bool {
	if class != Judged {
		return false
	}
	n, _ := p.Scope(groups)
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

// Vacuous reports whether p holds only because there are no tests of the groups that it requires.
func (p Policy) Vacuous(class Class, groups GroupCounts) bool {
	n, _ := p.Scope(groups)
	return p != AnyJudged && n.Total == 0 && p.Holds(class, groups)
}

// Scope returns the number of tests that p considers, and a name for them.
func (p Policy) Scope(groups GroupCounts) (n Count, which string) {
	switch p {
	case CoreCases, AllCoreCases, AnyCoreCases, StrictCoreCases, StrictAllCoreCases:
		return groups[Core], "core tests"
	case AllNonErrorCases, StrictAllNonErrorCases:
		return groups.Sum(Core, Functionality, Regression), "tests outside of the error group"
	}
	return groups.Sum(Groups[:]...), "tests"
}

// Caveat restricts a pass by p that no test supports.
func (p Policy) Caveat(groups GroupCounts) string {
	_, which := p.Scope(groups)
	return "passes " + string(p) + " with no " + which
}

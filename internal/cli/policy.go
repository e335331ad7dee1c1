package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// policyFlag is the value of --policy. Its policy is nil when the flag is not
// given: each checkpoint's own decides.
type policyFlag struct{ policy *verdict.Policy }

// add gives cmd the flag, and its values to shells that complete.
func (f *policyFlag) add(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(f, "policy", usage)
	var values []cobra.Completion
	for _, p := range verdict.Policies() {
		values = append(values, cobra.CompletionWithDesc(string(p), p.Meaning()))
	}
	if err := cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was just added, so only a second call of add comes here
	}
}

// Set implements pflag.Value.
func (f *policyFlag) Set(name string) error {
	var known []string
	for _, p := range verdict.Policies() {
		if string(p) == name {
			f.policy = &p
			return nil
		}
		known = append(known, string(p))
	}
	return text.Unknown("policy", name, known)
}

// String implements pflag.Value.
func (f *policyFlag) String() string {
	if f.policy == nil {
		return ""
	}
	return string(*f.policy)
}

// Type implements pflag.Value.
func (f *policyFlag) Type() string { return "name" }

// policyHelp is the part of a command's help about the values of --policy.
func policyHelp() string {
	var b strings.Builder
	b.WriteString("A judged checkpoint passes a policy when\n")
	for _, p := range verdict.Policies() {
		fmt.Fprintf(&b, "  %-27s %s\n", p, p.Meaning())
	}
	fmt.Fprintf(&b, "One that was not judged passes none. Without a pass block it is\n%s; what gives scores then neither passes nor fails.", verdict.DefaultPolicy)
	return b.String()
}

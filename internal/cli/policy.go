package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// policyFlag is the value of --policy. A nil policy means that the flag is not set: each checkpoint's own
// applies.
type policyFlag struct{ policy *verdict.Policy }

// add adds the flag and its completions to cmd.
func (f *policyFlag) add(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(f, "policy", usage)
	var values []cobra.Completion
	for _, p := range verdict.Policies() {
		values = append(values, cobra.CompletionWithDesc(string(p), p.Meaning()))
	}
	if err := cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // reached only if add is called twice
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

// policyHelp is the part of help texts about the values of --policy.
func policyHelp() string {
	var b strings.Builder
	b.WriteString("A judged checkpoint passes a policy when\n")
	for _, p := range verdict.Policies() {
		fmt.Fprintf(&b, "  %-27s %s\n", p, p.Meaning())
	}
	fmt.Fprintf(&b, "A checkpoint that was not judged passes none. Without a pass block it is\n%s; what gives scores then neither passes nor fails.", verdict.DefaultPolicy)
	return b.String()
}

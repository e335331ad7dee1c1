package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// flagUsers lists the commands that a global flag applies to; flags that are not listed apply to all.
var flagUsers = map[string][]string{
	"chdir":    {"run", "watch", "plan", "eval", "merge", "shell", "explain", "status", "list", "show", "results", "runs", "log", "graph", "init", "validate", "fmt", "console", "variables", "lock", "trust", "cache", "clean", "doctor", "bundle", "verify", "diff", "compare", "report", "gen", "mcp"},
	"file":     {"run", "watch", "plan", "eval", "merge", "shell", "explain", "status", "list", "show", "results", "runs", "log", "graph", "validate", "console", "variables", "lock", "trust", "cache", "clean", "doctor", "bundle", "verify", "diff", "compare", "report", "gen", "mcp"},
	"var":      {"init", "run", "watch", "plan", "eval", "merge", "shell", "explain", "status", "list", "show", "results", "graph", "validate", "console", "variables", "lock", "trust", "cache", "clean", "doctor", "verify", "diff", "compare", "gen", "lsp", "mcp"},
	"var-file": {"run", "watch", "plan", "eval", "merge", "shell", "explain", "status", "list", "show", "results", "graph", "validate", "console", "variables", "lock", "trust", "cache", "clean", "doctor", "verify", "diff", "compare", "gen", "lsp", "mcp"},
	"cache":    {"run", "watch", "plan", "eval", "merge", "shell", "explain", "status", "list", "graph", "validate", "cache"},
	"jobs":     {"run", "watch", "plan", "eval", "merge", "validate", "verify"},
	"progress": {"run", "watch", "eval", "merge", "validate", "gen"},
	"offline":  {"run", "watch", "eval", "shell", "validate", "lock", "verify"},
	"locked":   {"run", "watch", "eval", "shell", "validate", "lock", "verify"},
	"trust":    {"plan", "explain", "status", "results", "cache", "doctor", "diff", "compare", "gen", "mcp"},
	"json":     {"run", "watch", "plan", "eval", "merge", "explain", "status", "list", "show", "results", "runs", "log", "graph", "validate", "variables", "trust", "keygen", "cache", "doctor", "version", "bundle", "verify", "diff", "compare", "report", "gen", "schema"},
}

// relevant reports whether a global flag applies to a command. The program without a command is run.
func relevant(cmd *cobra.Command, flag string) bool {
	users, listed := flagUsers[flag]
	for ; listed && cmd.HasParent() && cmd.Parent().HasParent(); cmd = cmd.Parent() {
	}
	return !listed || !cmd.HasParent() || slices.Contains(users, cmd.Name())
}

// focus hides global flags that do not apply to a command from its help.
func focus(cmd *cobra.Command) {
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = f.Hidden || !relevant(cmd, f.Name)
	})
}

// argumentError matches pflag's error for an invalid value.
var argumentError = lazyregexp.New(`^invalid argument (".*") for "(?:-\w, )?(--[\w-]+)" flag: (?s)(.*)$`)

// shorthand matches how pflag names a flag of one letter.
var shorthand = lazyregexp.New(`'(\w)' in -\w+`)

// flagError rewords an error about the flags of a command.
func flagError(cmd *cobra.Command, err error) error {
	said := shorthand().ReplaceAllString(err.Error(), "-$1")
	switch m := argumentError().FindStringSubmatch(said); {
	case m != nil && strings.Contains(m[3], "strconv.Parse"):
		kind := "a number"
		if strings.Contains(m[3], "ParseBool") {
			kind = "true or false"
		}
		said = fmt.Sprintf("%s %s: want %s", m[2], strings.Trim(m[1], `"`), kind)
	case m != nil:
		said = fmt.Sprintf("%s %s: %s", m[2], strings.Trim(m[1], `"`), m[3])
	case strings.HasPrefix(said, "unknown flag: "):
		if near := nearFlag(cmd, strings.TrimPrefix(said, "unknown flag: --")); near != "" {
			said += fmt.Sprintf("; did you mean --%s?", near)
		}
	case strings.HasPrefix(said, "unknown shorthand flag: "):
		said = strings.Replace(said, "unknown shorthand flag: ", "unknown flag: ", 1)
	case strings.HasPrefix(said, "flag needs an argument: "):
		said = strings.TrimPrefix(said, "flag needs an argument: ") + " needs a value"
	}
	return usageError(cmd, errors.New(said))
}

func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return text.Nearest(name, names)
}

// usageError returns an error about how a command was called, with a hint at its help.
func usageError(cmd *cobra.Command, err error) error {
	return exit.With(exit.Usage, fmt.Errorf("%w\n  hint: `%s --help` shows its usage", err, cmd.CommandPath()))
}

// arguments checks the number of arguments; what describes them.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError(cmd, fmt.Errorf("%s needs %s", cmd.Name(), what))
		case len(args) > 0 && cmd.HasSubCommands():
			said := fmt.Sprintf("unknown command %q of %s", args[0], cmd.Name())
			cmd.SuggestionsMinimumDistance = cmd.Root().SuggestionsMinimumDistance // cobra does not inherit it
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				said += fmt.Sprintf("; did you mean %s?", near[0])
			}
			return usageError(cmd, errors.New(said))
		case len(args) > most && most == 0:
			return usageError(cmd, fmt.Errorf("%s takes no arguments: %s", cmd.Name(), strings.Join(args, " ")))
		case len(args) > most:
			return usageError(cmd, fmt.Errorf("%s: too many arguments: %s", cmd.Name(), strings.Join(args[most:], " ")))
		}
		return nil
	}
}

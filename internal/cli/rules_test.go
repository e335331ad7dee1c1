package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestRules tests that every command has a rule, and that the table of docs has the same.
func TestRules(t *testing.T) {
	commands := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		commands[path] = true
		c.Flags().VisitAll(func(f *pflag.Flag) { commands[path+" --"+f.Name] = true })
		if _, ok := Rules[path]; !ok && !slices.Contains(notOfProjects, path) {
			t.Errorf("rule of %q not found", path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&app{io: IO{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}}).rootCommand())
	byRule := map[Rule][]string{}
	for name, r := range Rules {
		if !commands[name] {
			t.Errorf("%q has a rule, but is not a command", name)
		}
		if name != "" {
			byRule[r] = append(byRule[r], "`"+name+"`")
		}
	}
	var rows []string
	for r, names := range byRule {
		slices.Sort(names)
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", r.Executes, r.Contacts, r.Writes, strings.Join(names, ", ")))
	}
	slices.Sort(rows)
	table := "<!-- rules -->\n| Executes | Contacts | Writes | Commands |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "") + "\n"
	const page = "../../docs/commands/trust.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), table) {
		t.Errorf("%s does not have the table\n%s", page, table)
	}
}

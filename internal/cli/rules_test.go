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
			t.Errorf("%q has no rule", path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&app{io: IO{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}}).rootCommand())
	var rows []string
	for name, r := range Rules {
		if !commands[name] {
			t.Errorf("%q has a rule and is no command", name)
		}
		if name != "" {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, r.Executes, r.Contacts, r.Writes))
		}
	}
	slices.Sort(rows)
	table := "<!-- rules -->\n| Command | Executes | Contacts | Writes |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "") + "\n"
	const page = "../../docs/commands/trust.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), table) {
		t.Errorf("%s does not have the table\n%s", page, table)
	}
}

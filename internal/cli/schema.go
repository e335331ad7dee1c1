package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/lang"
)

// schemaObject describes the schema of the language.
type schemaObject struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"`
	lang.Language
}

func (a *app) schemaCommand() *cobra.Command {
	return command("schema", "Print the language's schema as JSON",
		`Schema prints the language of configurations as one JSON object: blocks with
their labels, attributes and nested blocks, references, and functions. The
loader, the documentation and the language server use the same table.`,
		`  fevalgraph schema
  fevalgraph schema | jq '.blocks[] | select(.name == "suite").attributes'`,
		func(cmd *cobra.Command, args []string) error {
			return a.writeJSON(schemaObject{Schema: 1, Version: Version(), Language: lang.Describe(a.langOptions())})
		})
}

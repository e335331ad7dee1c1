// Package docs embeds the JSON schemas of what commands print.
package docs

import (
	"embed"
	"encoding/json"
)

//go:embed schema/*.json
var schemas embed.FS

// Schema returns the JSON schema of the object that a command prints with --json, or nil if it has none.
func Schema(name string) json.RawMessage {
	text, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		return nil
	}
	return text
}

package text

import "strings"

// markdown marks what would otherwise be read as formatting, HTML or a link.
// The bar is left to the table writer, which escapes it. An underscore inside
// a word is literal in GitHub's Markdown, but one at its edge is not.
var markdown = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	`\`, `\\`, "`", "\\`", "*", `\*`, "~", `\~`, "[", `\[`, "]", `\]`, "_", `\_`,
	// a zero-width space keeps a name from notifying a person
	"@", "@\u200b",
)

// Markdown returns s, made a safe line first, as literal text for Markdown.
func Markdown(s string) string { return markdown.Replace(Line(s, 0)) }

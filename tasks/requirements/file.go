package requirements

import (
	"net/url"
	"path/filepath"
	"strings"
)

// File returns the absolute path of this machine that a requirement is installed from,
// or "" if it comes from elsewhere.
func File(requirement string) string {
	text, _, _ := strings.Cut(requirement, ";")
	if _, link, found := strings.Cut(text, "@"); found {
		text = link
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "#")
	if link, err := url.Parse(text); err == nil && link.Scheme == "file" {
		text = link.Path
	}
	if !filepath.IsAbs(text) {
		return ""
	}
	return filepath.Clean(strings.TrimSpace(text))
}

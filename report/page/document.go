package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// The output of building web/: `make web` builds it, and `make test` checks that it is current.
var (
	//go:embed dist/app.js
	program string
	//go:embed dist/app.css
	appStyle string

	style = appStyle + draw.PageStyle()
)

// inline is a piece of data within the document.
type inline struct{ id, data string }

// document returns the file that a browser opens, with some pieces of data inside. The others are in a
// directory next to it.
func (x *index) document(dir string, pieces []inline) (string, error) {
	_, data, err := packed(x)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="` + policy(x.Live) + "\">\n" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" +
		`<meta name="referrer" content="no-referrer">` + "\n" +
		`<meta name="color-scheme" content="light dark">` + "\n" +
		"<title>" + html.EscapeString(text.Line("fevalgraph: "+x.Project, 0)) + "</title>\n" +
		"<style>" + style + "</style>\n</head>\n<body>\n" +
		"<noscript>This report needs JavaScript.</noscript>\n" +
		`<div id="app" data-directory="` + html.EscapeString(dir) + "\"></div>\n")
	for _, p := range append([]inline{{"index", data}}, pieces...) {
		b.WriteString(`<script type="text/plain" id="data-` + p.id + `">` + p.data + "</script>\n")
	}
	b.WriteString("<script>" + program + "</script>\n</body>\n</html>\n")
	return b.String(), nil
}

// policy allows the page's own program and style by their hashes, its data, which are loaded as scripts, and
// nothing else.
func policy(live bool) string {
	p := "default-src 'none'; script-src '" + hash(program) + "' 'strict-dynamic'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'"
	if live {
		p += "; connect-src 'self'"
	}
	return p
}

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

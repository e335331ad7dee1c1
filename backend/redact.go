package backend

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MinSecret is the minimum length in bytes of masked secrets: masking every "1" in a log would make it
// unreadable and reveal the secret.
const MinSecret = 4

const mask = "***"

// Redact returns a writer that passes its input to w with every occurrence of a secret replaced by "***",
// even if an occurrence is split between writes. Overlapping and adjacent occurrences become one mask.
// Each line of a multi-line secret is also masked, because logs are cut and prefixed by line, and so is
// each form that encodings returns.
//
// A possible beginning of a secret is held back until the next Write or Close. Close flushes it and does
// not close w. The writer is not safe for concurrent use.
func Redact(w io.Writer, secrets []string) io.WriteCloser {
	return &redactor{w: w, secrets: compilePatterns(secrets)}
}

// RedactBytes returns b with every secret masked as by Redact.
func RedactBytes(b []byte, secrets []string) []byte {
	return compilePatterns(secrets).mask(b)
}

// pattern describes a form of a secret. Line breaks can interrupt a form that wraps.
type pattern struct {
	text  []byte
	wraps bool
}

// patterns finds patterns by their beginnings.
type patterns struct {
	begins [256]bool
	pairs  map[[2]byte][]pattern // by the first two bytes of a text
}

func (p *patterns) mask(b []byte) []byte {
	r := redactor{secrets: p}
	return r.scan(nil, b, true)
}

// compilePatterns returns the distinct texts to mask.
func compilePatterns(secrets []string) *patterns {
	var parts []string
	for _, s := range secrets {
		parts = append(parts, s, strings.TrimSpace(s))
		for line := range strings.Lines(s) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return len(s) < MinSecret })
	wraps := map[string]bool{}
	for _, s := range parts {
		wraps[s] = false
		add := func(forms []string, wrapped bool) {
			for _, form := range forms {
				if len(form) >= max(min(leastForm, len(s)), MinSecret) {
					wraps[form] = wrapped
				}
			}
		}
		add(letterings(s), false)
		add(encodings(s), true)
	}
	out := &patterns{pairs: map[[2]byte][]pattern{}}
	for s, wraps := range wraps {
		p := pattern{[]byte(s), wraps}
		pairs := [][2]byte{{s[0], s[1]}}
		if wraps {
			pairs = append(pairs, [2]byte{s[0], '\r'}, [2]byte{s[0], '\n'})
		}
		for _, pair := range pairs {
			out.pairs[pair] = append(out.pairs[pair], p)
		}
		out.begins[s[0]] = true
	}
	return out
}

// letterings returns the forms in which programs print a text as letters: in JSON, as a literal of
// Python, Go or the shell, in a URL, in XML or HTML.
func letterings(s string) []string {
	quoted := strconv.Quote(s)
	ascii := strconv.QuoteToASCII(s)
	forms := []string{
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1], strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`),
		strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s),
		url.QueryEscape(s), url.PathEscape(s),
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s),
	}
	if encoded, err := json.Marshal(s); err == nil { // with <, > and & as numbers
		forms = append(forms, string(encoded[1:len(encoded)-1]))
	}
	for _, quotes := range [][2]string{{"&quot;", "'"}, {"&quot;", "&#x27;"}, {"&quot;", "&#39;"}, {"&quot;", "&apos;"}, {"&#34;", "&#39;"}} {
		forms = append(forms, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, quotes[0], "'", quotes[1]).Replace(s))
	}
	const unreserved = "-._~" // besides letters and digits; then the characters that urllib and JavaScript do not escape either
	for _, safe := range []string{"", "/", "!'()*", "!#$&'()*+,/:;=?@"} {
		for _, verb := range []string{"%%%02X", "%%%02x"} {
			forms = append(forms, formatBytes(s, verb, "", unreserved+safe))
		}
	}
	const printable = " !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"
	for verb, escaped := range map[string]string{
		`\x%02x`: "'", `\x%02X`: "'", `\%03o`: "'", "&#%d;": "&<>", "&#x%x;": "&<>", "&#x%X;": "&<>", "=%02X": "=",
	} {
		safe := strings.Map(func(r rune) rune {
			if strings.ContainsRune(escaped, r) {
				return -1
			}
			return r
		}, printable)
		forms = append(forms, formatBytes(s, verb, "", printable), formatBytes(s, verb, "", safe))
	}
	return forms
}

// leastForm is the minimum length of masked forms other than the text itself.
const leastForm = 2 * MinSecret

// formatBytes formats each byte of s with a verb and a separator, except for letters, digits and the bytes in
// safe. If safe is empty, it formats all bytes.
func formatBytes(s, verb, between, safe string) string {
	var out strings.Builder
	for i := range len(s) {
		if i > 0 {
			out.WriteString(between)
		}
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if safe != "" && (letter || strings.IndexByte(safe, c) >= 0) {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, verb, c)
		}
	}
	return out.String()
}

// encodings returns the numeric and transport encodings of a text that programs print: with each byte
// escaped, in hexadecimal, and in base64, alone or inside a longer text.
func encodings(s string) []string {
	var forms []string
	for _, verb := range []string{"%02x", "%02X", `\x%02x`, `\x%02X`, `\%03o`, `\%o`, `\u%04x`, `\u%04X`, "&#%d;", "&#x%x;", "&#x%X;", "%%%02x", "%%%02X", "=%02X"} {
		forms = append(forms, formatBytes(s, verb, "", ""))
	}
	for _, between := range []string{":", " ", "-", ", ", ","} {
		for _, verb := range []string{"%02x", "%02X", "0x%02x", "%d"} {
			forms = append(forms, formatBytes(s, verb, between, ""))
		}
	}
	for before := range 3 { // number of preceding bytes in the first group of three
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := code.EncodeToString(append(make([]byte, before), s...))
			text = text[(before*8+5)/6:]
			if (before+len(s))%3 != 0 { // the last letter also depends on the following bytes
				text = text[:max(len(text)-1, 0)]
			}
			forms = append(forms, text)
		}
	}
	forms = append(forms, base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)))
	return forms
}

// RedactJSON masks the secrets in the texts of a JSON document, except in keys and in the values of the keys
// in facts, with everything below them. Content that is not JSON is masked as by RedactBytes.
func RedactJSON(content []byte, secrets []string, facts ...string) []byte {
	known := compilePatterns(secrets)
	masked := known.mask(content)
	if bytes.Equal(masked, content) {
		return content // avoids decoding almost every report
	}
	if !json.Valid(content) {
		return masked
	}
	return known.maskTexts(content, facts)
}

// maskTexts masks the strings in a valid JSON document, except the values of keys in facts and everything
// below them. It does not decode the document: a document of empty objects would take many times its size
// in memory.
func (p *patterns) maskTexts(document []byte, facts []string) []byte {
	out := make([]byte, 0, len(document))
	fact := false          // the next value belongs to a key in facts
	depth, spared := 0, -1 // of open containers, and of the open value of a fact
	for i := 0; i < len(document); i++ {
		switch c := document[i]; c {
		case '"':
			end := i + 1
			for document[end] != '"' {
				if document[end] == '\\' {
					end++
				}
				end++
			}
			text := document[i : end+1]
			i = end
			switch {
			case bytes.HasPrefix(bytes.TrimLeft(document[end+1:], " \t\r\n"), []byte(":")):
				fact = slices.Contains(facts, decodedText(text))
			case fact:
				fact = false
			case spared < 0:
				text = p.maskText(text)
			}
			out = append(out, text...)
			continue
		case '{', '[':
			if fact && spared < 0 {
				spared = depth
			}
			fact = false
			depth++
		case '}', ']':
			if depth--; depth == spared {
				spared = -1
			}
		case ',':
			fact = false
		}
		out = append(out, document[i])
	}
	return out
}

// maskText masks an encoded JSON string.
func (p *patterns) maskText(text []byte) []byte {
	plain := decodedText(text)
	masked := p.mask([]byte(plain))
	if string(masked) == plain {
		return text
	}
	encoded, err := json.Marshal(string(masked))
	if err != nil {
		return []byte(`"` + mask + `"`)
	}
	return encoded
}

func decodedText(text []byte) (plain string) {
	_ = json.Unmarshal(text, &plain) // it is valid
	return plain
}

type redactor struct {
	w       io.Writer
	secrets *patterns
	pending []byte // read, not yet decided
	covered int    // bytes from here on that belong to a secret found before
	masking bool   // the byte before belonged to a secret
	err     error  // first error of w; sticky, and the held bytes are lost
}

// Write implements io.Writer. It reports len(p) unless w fails.
func (r *redactor) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if len(r.secrets.pairs) == 0 {
		return r.w.Write(p)
	}
	r.pending = append(r.pending, p...)
	r.flush(false)
	if r.err != nil {
		return 0, r.err
	}
	return len(p), nil
}

// Close implements io.Closer.
func (r *redactor) Close() error {
	if r.err == nil {
		r.flush(true)
	}
	return r.err
}

func (r *redactor) flush(last bool) {
	out := r.scan(make([]byte, 0, len(r.pending)), r.pending, last)
	if len(out) > 0 {
		_, r.err = r.w.Write(out)
	}
}

// scan appends the masked form of text to out, as far as it can be determined, and keeps the rest in
// r.held. The result depends only on the whole stream, not on how it is split into writes.
func (r *redactor) scan(out, text []byte, last bool) []byte {
	i := 0
	for ; i < len(text); i++ {
		n, undecided := r.match(text[i:])
		if undecided && !last {
			break
		}
		r.covered = max(r.covered, n)
		switch {
		case r.covered == 0:
			out = append(out, text[i])
			r.masking = false
		case !r.masking:
			out = append(out, mask...)
			r.masking = true
		}
		r.covered = max(r.covered-1, 0)
	}
	r.pending = append(r.pending[:0], text[i:]...)
	return out
}

// match returns the length of the longest secret at the beginning of text, and whether more input could
// complete a longer one.
func (r *redactor) match(text []byte) (n int, undecided bool) {
	if !r.secrets.begins[text[0]] || len(text) == 1 {
		return 0, r.secrets.begins[text[0]]
	}
	for _, p := range r.secrets.pairs[[2]byte{text[0], text[1]}] {
		length, more := p.match(text)
		n, undecided = max(n, length), undecided || more
	}
	return n, undecided
}

// match returns the length of the pattern at the beginning of text, or 0, and whether more input could
// complete it.
func (p pattern) match(text []byte) (n int, more bool) {
	switch {
	case bytes.HasPrefix(text, p.text):
		return len(p.text), false
	case bytes.HasPrefix(p.text, text):
		return 0, true
	case !p.wraps:
		return 0, false
	}
	at := 0
	for i, c := range p.text {
		if i > 0 {
			at += lineBreak(text[at:])
		}
		switch {
		case at >= len(text):
			return 0, true
		case text[at] != c:
			return 0, false
		}
		at++
	}
	return at, false
}

// lineBreak returns the length of a line break with the indentation after it.
func lineBreak(text []byte) int {
	const indentation = 16
	n := 0
	if bytes.HasPrefix(text, []byte("\r")) {
		n++
	}
	if !bytes.HasPrefix(text[n:], []byte("\n")) {
		if n == len(text) { // the next bytes are not known yet
			return n
		}
		return 0
	}
	n++
	for end := n + indentation; n < len(text) && n < end && (text[n] == ' ' || text[n] == '\t'); n++ {
	}
	return n
}

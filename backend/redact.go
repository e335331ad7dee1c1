package backend

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
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

// patterns finds texts by their first two bytes.
type patterns struct {
	begins [256]bool
	pairs  map[[2]byte][][]byte
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
	forms := map[string]bool{}
	for _, s := range parts {
		forms[s] = true
		for _, form := range encodings(s) {
			if len(form) >= max(min(leastForm, len(s)), MinSecret) {
				forms[form] = true
			}
		}
	}
	out := &patterns{pairs: map[[2]byte][][]byte{}}
	for s := range forms {
		pair := [2]byte{s[0], s[1]}
		out.pairs[pair] = append(out.pairs[pair], []byte(s))
		out.begins[s[0]] = true
	}
	return out
}

// leastForm is the minimum length of masked forms other than the text itself.
const leastForm = 2 * MinSecret

// encodings returns the forms of a text that programs print: in JSON or a literal, in a
// URL, and in base64, alone or inside a longer text.
func encodings(s string) []string {
	quoted, ascii, percent := strconv.Quote(s), strconv.QuoteToASCII(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	forms := []string{
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1],
		strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s), // by Python's repr
		url.QueryEscape(s), url.PathEscape(s), percent, strings.ReplaceAll(percent, "%2F", "/"),
	}
	if encoded, err := json.Marshal(s); err == nil { // with <, > and & as numbers
		forms = append(forms, string(encoded[1:len(encoded)-1]))
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
	return append(forms, base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)))
}

// RedactJSON masks the secrets in the texts of JSON documents that follow each other, except in keys and in the
// values of the keys in facts, with everything below them. Other content is masked as by RedactBytes.
func RedactJSON(content []byte, secrets []string, facts ...string) []byte {
	known := compilePatterns(secrets)
	masked := known.mask(content)
	if bytes.Equal(masked, content) {
		return content // avoids decoding almost every report
	}
	var document json.RawMessage
	d := json.NewDecoder(bytes.NewReader(content))
	err := d.Decode(&document)
	for ; err == nil; err = d.Decode(&document) {
	}
	if !errors.Is(err, io.EOF) {
		return masked
	}
	return known.maskTexts(content, facts)
}

// maskTexts masks the strings in valid JSON, except the values of keys in facts and everything
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
			fact = false
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
	for _, secret := range r.secrets.pairs[[2]byte{text[0], text[1]}] {
		if bytes.HasPrefix(text, secret) {
			n = max(n, len(secret))
		} else if bytes.HasPrefix(secret, text) {
			undecided = true
		}
	}
	return n, undecided
}

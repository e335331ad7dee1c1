package view

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// WriteJSON writes an object, as commands with --json do.
func WriteJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// OrEmpty returns an empty list instead of nil: [] in JSON, not null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// WriteJSONList writes an object like WriteJSON, with a schema of 1, a list and the fields of tail, a struct
// with at least one field. It writes element by element: the text of all of them at once could need more
// memory than the list itself.
func WriteJSONList[T any](w io.Writer, name string, list iter.Seq[T], tail any) error {
	out := bufio.NewWriter(w)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	indented := func(v any, prefix string) ([]byte, error) {
		text.Reset()
		encoder.SetIndent(prefix, "  ")
		err := encoder.Encode(v)
		return bytes.TrimSpace(text.Bytes()), err
	}
	fmt.Fprintf(out, "{\n  \"schema\": 1,\n  %q: [", name)
	count := 0
	for element := range list {
		text, err := indented(element, "    ")
		if err != nil {
			return err
		}
		if count > 0 {
			out.WriteByte(',')
		}
		count++
		fmt.Fprintf(out, "\n    %s", text)
	}
	if count > 0 {
		out.WriteString("\n  ")
	}
	rest, err := indented(tail, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "],%s\n", bytes.TrimPrefix(rest, []byte("{")))
	return out.Flush()
}

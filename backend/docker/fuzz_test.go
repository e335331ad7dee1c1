package docker

import (
	"io"
	"strings"
	"testing"
)

// FuzzBuild: the messages of a build end with the ID of an image or an error.
func FuzzBuild(f *testing.F) {
	f.Add(`{"stream":"Step 1/1 : FROM x\n"}` + "\n" + `{"aux":{"ID":"sha256:1"}}`)
	f.Add(`{"error":"no"}`)
	f.Add(`{"stream":"\u001b[91mred\u001b[0m"}`)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := readBuild(strings.NewReader(text), io.Discard)
		if (id == "") != (err != nil) {
			t.Errorf("%q: %q, %v", text, id, err)
		}
	})
}

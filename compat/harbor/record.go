package harbor

import (
	"io"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
	"github.com/fevalgraph/fevalgraph/lang"
)

// recordOptions limit what is kept of a record: trials are not trusted, and what an agent's run leaves in a result.json
// can be as large as the disk.
var recordOptions = pyjson.Options{Max: 8 << 20, Text: 64 << 10, Omit: []string{"rollout_details"}, Exact: true}

// readRecord decodes a JSON file of a job without large values.
func readRecord(files *lang.ReaderFiles, path string, into any) error {
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return decodeRecord(file, into)
}

func decodeRecord(in io.Reader, into any) error {
	r := pyjson.NewReader(in, recordOptions)
	return r.Only(func() error { return r.Value(into) })
}

package gojudge

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Any answer of a server gives an ending that follows from it, or an error.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`[{"status":"Accepted","exitStatus":0,"time":1000,"runTime":2000,"memory":4096,"files":{"stderr":"text"},"fileIds":{"stdout":"A"}}]`))
	f.Add([]byte(`[{"status":"Signalled","exitStatus":9,"time":3000000000},{"status":"Internal Error","error":"text file busy"}]`))
	f.Add([]byte(`[{"status":"File Error","fileError":[{"name":"stdout","type":"CollectSizeExceeded"},{"type":"CopyOutSizeExceeded"}]}]`))
	f.Add([]byte(`[{"status":"Output Limit Exceeded","fileError":[{"name":"x","type":"CopyOutOpen"}]},{"status":"Dangerous Syscall"},null]`))
	p := &backend.Program{Argv: []string{"/bin/x"}, Limits: backend.Limits{CPU: time.Second, Clock: 2 * time.Second, Stderr: 10}}
	f.Fuzz(func(t *testing.T, text []byte) {
		var results []wireResult
		if json.Unmarshal(text, &results) != nil {
			return
		}
		for i := range results {
			r := &results[i]
			end, err := ending(r, p)
			if len(end.Stderr) > 10 {
				t.Errorf("%q is too much", end.Stderr)
			}
			if err != nil {
				continue
			}
			if end.Status == backend.Exited && end.Signal != "" || end.Status == backend.Signalled && end.Code != 0 {
				t.Errorf("%+v", end)
			}
			if r.Status == statusInternal || r.Status == "" {
				t.Errorf("%+v is an ending of the program: %+v", r, end)
			}
			if end.Status == backend.CPULimit && end.CPU <= p.Limits.CPU {
				t.Errorf("%+v did not reach its limit", end)
			}
		}
	})
}

package batch

import (
	"bytes"
	"testing"
)

// FuzzDecodeCSV: a results.csv is read, or refused; what was read is written as a
// file that says the same.
func FuzzDecodeCSV(f *testing.F) {
	score := 85.5
	f.Add(resultsCSV([]Result{{Pair: Pair{Solution: "echo/a/good.py", Problem: "echo/a"}, Score: &score, Status: Success, Seconds: 1.5}}))
	f.Add([]byte("solution,problem,score,status\na,b,nan,success\na,b,inf,error\n"))
	f.Add([]byte("solution,problem,score,status\n\"a\n,\"\"\",b,,pending\r\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		results, err := DecodeCSV(bytes.NewReader(content))
		if err != nil {
			return
		}
		written := resultsCSV(results)
		again, err := DecodeCSV(bytes.NewReader(written))
		if err != nil || len(again) != len(results) {
			t.Fatalf("%q is read as %d results, written as\n%s\nand read as %d, %v", content, len(results), written, len(again), err)
		}
		if twice := resultsCSV(again); !bytes.Equal(twice, written) {
			t.Fatalf("%s\nis written again as\n%s", written, twice)
		}
	})
}

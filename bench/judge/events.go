package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// runSeconds returns the duration of a run from its event stream.
func runSeconds(path string) (float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Type    string  `json:"type"`
			Seconds float64 `json:"seconds"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		if e.Type == "run.end" {
			return e.Seconds, nil
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return 0, fmt.Errorf("reading %s: it does not end with run.end", path)
}

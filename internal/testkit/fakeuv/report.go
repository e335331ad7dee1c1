package fakeuv

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// reportFiles specifies the reports to write.
type reportFiles struct {
	json, ctrf string // paths; "" means no report
	half, none bool
	fill       int    // bytes of further tests in the plugin's report
	key        []byte // key of the seal
}

func (r *reportFiles) write(s *suite, code int) error {
	if r.none {
		return nil
	}
	reports := map[string][]byte{}
	if r.key != nil {
		reports[filepath.Join(filepath.Dir(r.json), "stages")] = s.stages(code, r.fill)
	}
	for _, path := range []string{r.json, r.ctrf} {
		if path != "" {
			reports[path] = fmt.Appendf(nil, `{"exitcode": %d}`, code)
		}
	}
	proofs := map[string]string{}
	for path, content := range reports {
		if r.half {
			content = content[:len(content)/2]
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			return err
		}
		mac := hmac.New(sha256.New, r.key)
		fmt.Fprintf(mac, "%s\x00%s", filepath.Base(path), content)
		proofs[filepath.Base(path)] = hex.EncodeToString(mac.Sum(nil))
	}
	seal, err := json.Marshal(proofs)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(r.json), "seal"), seal, 0o644)
}

// takeKey reads and removes the key with which reports are sealed, like the plugin that fevalgraph loads into
// pytest.
func (r *reportFiles) takeKey() error {
	path := filepath.Join(filepath.Dir(r.json), "key")
	var err error
	if r.key, err = os.ReadFile(path); err != nil {
		return err
	}
	return os.Remove(path)
}

// object is a JSON object.
type object map[string]any

// stages returns the report of the plugin, with a number of bytes of further tests.
func (s *suite) stages(code, fill int) []byte {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, t := range s.tests {
		if s.collectError {
			break
		}
		_ = lines.Encode(object{"nodeid": t.id(), "stage": "setup", "outcome": "passed", "seconds": 0.0001,
			"keywords": slices.Concat([]string{t.name}, t.markers, []string{t.file, t.dir, ""})})
		call := object{"nodeid": t.id(), "stage": "call", "outcome": t.status, "seconds": 0.001}
		if t.status == "failed" {
			call["message"] = "E   AssertionError: " + t.name
		}
		after := object{"nodeid": t.id(), "stage": "teardown", "outcome": "passed", "seconds": 0.0001}
		if t.status == "error" {
			call["outcome"], after["outcome"], after["message"] = "passed", "failed", "E   AssertionError: "+t.name
		}
		_ = lines.Encode(call)
		_ = lines.Encode(after)
	}
	if s.collectError {
		_ = lines.Encode(object{"nodeid": "tests/test.py", "stage": "collect", "outcome": "failed", "message": "E   SyntaxError: invalid syntax"})
	}
	for whole := b.Len() + fill; b.Len() < whole; {
		_ = lines.Encode(object{"nodeid": fmt.Sprint(b.Len())})
	}
	_ = lines.Encode(object{"end": object{"exit": code, "collected": len(s.tests)}})
	return b.Bytes()
}

package tasks

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// realVariable makes Python's own module the judge.
const realVariable = "FEVALGRAPH_TEST_REAL"

// judge answers for a list of pairs of pattern and name.
const judge = `
import fnmatch, json, sys
json.dump([fnmatch.fnmatchcase(name, pattern) for pattern, name in json.load(sys.stdin)], sys.stdout)
`

// TestAgainstPython compares answers for random patterns and names, which are
// of few characters, so that many match.
func TestAgainstPython(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs Python: set %s=1, or use `make test-all`", realVariable)
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func(of string, most int) string {
		characters := []rune(of)
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteRune(characters[random.IntN(len(characters))])
		}
		return b.String()
	}
	var pairs [][2]string
	for len(pairs) < 50_000 {
		pattern := text("aab/*?[[]]!-^é\\", 9)
		if strings.Contains(pattern, "-") && strings.Contains(strings.ReplaceAll(pattern, "[!", ""), "!") {
			continue // see compileFnmatch
		}
		pairs = append(pairs, [2]string{pattern, text("aab/-^!]é\\", 4)})
	}
	asked, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-W", "ignore", "-c", judge)
	cmd.Stdin = strings.NewReader(string(asked))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []bool
	if err := json.Unmarshal(said, &want); err != nil || len(want) != len(pairs) {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	matching, wrong := 0, 0
	for i, pair := range pairs {
		if want[i] {
			matching++
		}
		if compileFnmatch(pair[0]).Match(pair[1]) != want[i] {
			if wrong++; wrong <= 10 {
				t.Errorf("%q on %q: Python has %t", pair[0], pair[1], want[i])
			}
		}
	}
	if matching < len(pairs)/50 {
		t.Errorf("only %d of %d match: the test shows little", matching, len(pairs))
	}
}

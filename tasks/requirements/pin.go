package requirements

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// hashOption precedes each hash in a line of requirements.txt.
const hashOption = " --hash="

var hashText = lazyregexp.New(`^sha(256|384|512):[0-9a-f]{64,128}$`)

// Cut splits a line of requirements.txt into the pin, name==version, and the hashes of the
// installable files, if any: some indexes, repositories and directories provide none.
func Cut(line string) (pin string, hashes []string) {
	parts := strings.Split(line, hashOption)
	return parts[0], parts[1:]
}

// Hashed reports whether every line has hashes, so that uv can require them.
func Hashed(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, hashOption) })
}

// Unhashed returns the pins of an index's packages in lines without hashes.
func Unhashed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return strings.Contains(line, hashOption) || !strings.Contains(line, "==")
	})
}

// ReadPins reads a requirements.txt of uv: a line for each package, sorted.
func ReadPins(content string) ([]string, error) {
	var pins []string
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		line, _, _ = strings.Cut(" "+line, " #") // a URL can have another #
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			pins = append(pins, line)
		}
	}
	if len(pins) == 0 {
		return nil, errors.New("resolving requirements: uv printed no packages")
	}
	slices.Sort(pins)
	return pins, nil
}

// checkPin returns an error if a pin or its hashes cannot be from uv: a lock file can be
// untrusted, and its lines could be parsed as options.
func checkPin(pin string, hashes []string) error {
	if !strings.Contains(pin, "==") && !strings.Contains(pin, " @ ") {
		return fmt.Errorf("%q pins no version", pin)
	}
	if strings.HasPrefix(pin, "-") || strings.Contains(pin, " -") || strings.ContainsFunc(pin, unicode.IsControl) {
		return fmt.Errorf("%q is more than a pin", pin)
	}
	for _, hash := range hashes {
		if !hashText().MatchString(hash) {
			return fmt.Errorf("%q is not a hash of %q", hash, pin)
		}
	}
	return nil
}

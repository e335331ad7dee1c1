package requirements

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// hashOption goes before each hash of a line of requirements.txt.
const hashOption = " --hash="

var hashText = lazyregexp.New(`^sha(256|384|512):[0-9a-f]{64,128}$`)

// Cut parts a line of requirements.txt into what it pins, name==version, and the hashes
// of the files that can be installed for it; none where an index, a repository or a
// directory has none to give.
func Cut(line string) (pin string, hashes []string) {
	parts := strings.Split(line, hashOption)
	return parts[0], parts[1:]
}

// Hashed reports whether every line has hashes, so that uv can be told to demand them.
func Hashed(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, hashOption) })
}

// Unhashed returns the pins among lines without hashes, though packages of an index have some.
func Unhashed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return strings.Contains(line, hashOption) || !strings.Contains(line, "==")
	})
}

// ReadPins reads the requirements.txt that uv wrote: a line for each package, sorted.
func ReadPins(content string) ([]string, error) {
	var pins []string
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		line, _, _ = strings.Cut(" "+line, " #") // a URL can have another #
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			pins = append(pins, line)
		}
	}
	if len(pins) == 0 {
		return nil, errors.New("resolving requirements: uv named no packages")
	}
	slices.Sort(pins)
	return pins, nil
}

// checkPin returns why a pin, or its hashes, can be none of uv's: a lock file can come from
// anywhere, and its lines become options if they look like some.
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

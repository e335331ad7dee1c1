package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// build makes an environment in $2: $1 is the interpreter, $3 an option of uv or
// nothing, and the lines of what uv chose follow. It is made beside its place and then moved
// there, whole.
const build = `set -eu
[ ! -f "$2/complete" ] || exit 0
mkdir -p "${2%/*}"
new=$(mktemp -d "${2%/*}/new.XXXXXX")
uv venv --quiet --no-config --no-project --relocatable --python "$1" "$new/venv"
place=$2 option=$3
shift 3
printf '%s\n' "$@" >"$new/pins.txt"
uv pip install --quiet --no-config --no-deps --compile-bytecode $option --python "$new/venv/bin/python" --requirements "$new/pins.txt"
touch "$new/complete"
mv -T "$new" "$place" 2>/dev/null || { rm -rf "$new"; [ -f "$place/complete" ]; }`

// Environment returns the command by which uv makes a Python environment with exactly the packages of lines,
// unless it exists. Files must have the hashes, if lines have any. Its directory is Venv of dir.
func Environment(python, dir string, lines []string) (argv []string) {
	demand := ""
	if Hashed(lines) { // otherwise existing ones count
		demand = "--require-hashes"
	}
	return append([]string{"/bin/sh", "-c", build, "sh", python, dir, demand}, lines...)
}

// Name returns the name of the directory for the environment with the packages of lines and an
// interpreter.
func Name(python, version string, lines []string) string {
	h := sha256.New()
	for _, part := range []string{python, version, strings.Join(lines, "\n")} {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// Venv returns the environment that Environment made in a directory.
func Venv(dir string) string { return path.Join(dir, "venv") }

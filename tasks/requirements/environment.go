package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// build creates an environment in $2: $1 is the interpreter, $3 an option of uv or "", followed by the
// lines of locked packages. The environment is created next to its final path and then moved atomically. Its
// files are copies, since commands of other sessions might write to uv's cache.
const build = `set -eu
[ ! -f "$2/complete" ] || exit 0
mkdir -p "${2%/*}"
new=$(mktemp -d "${2%/*}/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
uv venv --quiet --no-config --no-project --relocatable --python "$1" "$new/venv"
place=$2 option=$3
shift 3
printf '%s\n' "$@" >"$new/pins.txt"
uv pip install --quiet --no-config --link-mode copy --no-deps --compile-bytecode $option --python "$new/venv/bin/python" --requirements "$new/pins.txt"
touch "$new/complete"
mv -T "$new" "$place" 2>/dev/null || { rm -rf "$new"; [ -f "$place/complete" ]; }`

// Environment returns the command with which uv creates a Python environment with exactly the packages of
// lines, unless it exists. If lines have hashes, the files must match them. The environment is in Venv of
// dir.
func Environment(python, dir string, lines []string) (argv []string) {
	demand := ""
	if Hashed(lines) { // otherwise installed packages count
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

// Venv returns the path of the environment that Environment created in a directory.
func Venv(dir string) string { return path.Join(dir, "venv") }

// Package fakeuv stands in for uv and uvx in tests of the command line, so that
// they need neither Python nor a network. It is for tests only and supports
// only the invocations that fevalgraph makes:
//
//	uv --version
//	uv python find --no-project [VERSION]     the path of a stand-in interpreter
//	uv pip compile ... --output-file OUT IN   pins what IN requires
//	uv venv ... DIR                           makes an environment without packages
//	uv pip install ... --requirements FILE    checks the hashes in it
//	uv pip install --python DIR/bin/python ...    puts pytest into DIR, too
//	uvx ... pytest --version
//	uvx ... pytest DIR/ OPTION...             "runs" the test files in DIR
//	uvx ... pytest DIR/FILE OPTION...         "runs" that file
//	DIR/bin/pytest ...                        does what uvx ... pytest does
//
// It does not interpret Python: a test file is valid Python for the real tools, and comments tell the stand-in
// about its tests:
//
//	# fake: test_get passed
//	# fake: test_slow failed slow            marked with slow
//	# fake: test_put kv.py~def.put           passes if kv.py has "def put"; each dot is a space
//	# fake-session: kill                     what happens to the whole run, see Directive
//
// Files are read in pytest's order: test_*.py and *_test.py by name; directives in conftest.py also apply.
//
// Every run of tests appends a line to uvx.log in UV_CACHE_DIR, one of the few directories that a session shares with
// its caller.
package fakeuv

import (
	"fmt"
	"os"
	"path/filepath"
)

// LogFile is the name of the log of pytest runs in UV_CACHE_DIR.
const LogFile = "uvx.log"

// cacheDir returns the cache directory of the stand-ins: UV_CACHE_DIR, as for uv.
func cacheDir() string {
	if dir := os.Getenv("UV_CACHE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".cache", "uv")
}

// fail ends the process with an error in the style of uv.
func fail(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}

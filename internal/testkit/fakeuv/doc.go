// Package fakeuv stands in for uv and uvx in tests of the command line, so that
// they need neither Python nor a network. It is for tests only and knows just
// the invocations that fevalgraph makes:
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
// It is no Python: a test file is valid Python for the real tools, and says in
// comments what the stand-in shall take its tests for:
//
//	# fake: test_get passed
//	# fake: test_slow failed slow            marked with slow
//	# fake: test_put kv.py~def.put           passes if kv.py has "def put"; each dot is a space
//	# fake-session: kill                     what happens to the whole run, see Directive
//
// Files are read as pytest would: test_*.py and *_test.py in order of their
// names, and directives in conftest.py, too.
//
// Every run of tests appends a line to uvx.log in UV_CACHE_DIR, which is
// one of the few places that a session shares with its caller.
package fakeuv

import (
	"fmt"
	"os"
	"path/filepath"
)

// LogFile is the name of the log of pytest runs in UV_CACHE_DIR.
const LogFile = "uvx.log"

// cacheDir is where the stand-ins keep things: UV_CACHE_DIR as uv has it.
func cacheDir() string {
	if dir := os.Getenv("UV_CACHE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".cache", "uv")
}

// fail ends the process as uv does when it says no.
func fail(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}

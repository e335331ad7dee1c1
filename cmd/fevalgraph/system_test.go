package main

import "github.com/rogpeppe/go-internal/testscript"

// systemCommands are the commands that change more than files.
func systemCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){}
}

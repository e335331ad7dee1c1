package answer

import (
	"path"
	"slices"
	"strings"
)

// languages lists the tags of fenced blocks that contain the same language, which are also the extensions of
// its files.
var languages = [][]string{
	{"python", "py", "python3", "py3", "pyi", "cpython", "pypy", "pypy3"},
	{"cpp", "c++", "cc", "cxx", "c", "h", "hh", "hpp", "hxx", "cuda", "cu"},
	{"javascript", "js", "mjs", "cjs", "jsx", "node", "node.js", "nodejs", "typescript", "ts", "mts", "cts", "tsx"},
	{"bash", "sh", "shell", "zsh", "console", "shellsession", "shell-session", "sh-session", "terminal"},
	{"rust", "rs"}, {"go", "golang"}, {"java"}, {"kotlin", "kt", "kts"}, {"scala", "sc"}, {"csharp", "cs", "c#"}, {"fsharp", "fs", "f#"},
	{"ruby", "rb"}, {"php"}, {"perl", "pl"}, {"haskell", "hs"}, {"ocaml", "ml"}, {"julia", "jl"}, {"r"}, {"lua"}, {"swift"}, {"dart"},
	{"pascal", "pas"}, {"zig"}, {"elixir", "ex", "exs"}, {"erlang", "erl"}, {"clojure", "clj"}, {"lisp", "cl", "common-lisp"}, {"nim"}, {"d"},
	{"verilog", "v", "systemverilog", "sv"}, {"assembly", "asm", "nasm", "s"}, {"fortran", "f90", "f"}, {"sql"}, {"html"}, {"css"},
	{"json"}, {"yaml", "yml"}, {"toml"}, {"markdown", "md"}, {"text", "txt", "plaintext", "plain", "output"}, {"makefile", "make", "mk"}, {"dockerfile", "docker"},
}

// language returns one name for all tags of a language. Unknown tags are languages of their own.
func language(tag string) string {
	tag = strings.ToLower(tag)
	for _, all := range languages {
		if slices.Contains(all, tag) {
			return all[0]
		}
	}
	return tag
}

// languageOf returns the language of a file.
func languageOf(name string) string {
	if ext := path.Ext(name); ext != "" {
		return language(ext[1:])
	}
	return language(path.Base(name))
}

// in reports whether b is tagged with a language, or named like one of its files.
func (b *block) in(wanted string) bool {
	if b.language != "" {
		return language(b.language) == wanted
	}
	return b.name != "" && languageOf(b.name) == wanted
}

// untagged reports whether the language of b is unknown.
func (b *block) untagged() bool { return b.language == "" && b.name == "" }

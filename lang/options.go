package lang

// Options says what to load and where outside values come from.
type Options struct {
	Dir      string   // directory that holds fevalgraph.hcl; "" is "."
	File     string   // used in place of fevalgraph.hcl, relative to Dir; its siblings *.feval.hcl still load
	Vars     []string // "k=v" as given by --var, in order
	VarFiles []string // as given by --var-file, in order, relative to Dir

	// Env is the only access to the environment: variables' FEVALGRAPH_VAR_x
	// and what secrets name. Nil is an empty environment.
	Env func(name string) (string, bool)

	// Within are directories that count as the project's, besides its own.
	Within []string

	// Overlay is the text of a file that an editor has open, by its absolute path; it is read
	// in place of what is on disk. False, or nil, is that none has.
	Overlay func(path string) (text []byte, open bool)

	// Done ends the evaluation when it is closed; nil never does.
	Done <-chan struct{}

	Version string // of the program, for required_version; not a version number: unchecked
	AdHoc   *AdHoc // adds one solution that no block declares
	// References adds the solutions that problems ship, and a suite that has each so often;
	// 0 adds none.
	References int
	// Records are directories in which other programs recorded solutions, which are added to those that blocks declare.
	Records []string
	// Readers read problems and solutions that are written down in other forms.
	Readers   []Reader
	Functions []Function // for such forms
}

// AdHoc is the solution of `fevalgraph eval PROBLEM PATH`. It is named "eval"
// and is the only cell of a suite "eval".
type AdHoc struct {
	Problem string // a problem's name or reference
	Path    string // relative to Options.Dir
	// Checkpoint is the one that Path answers; "" is every checkpoint that
	// Path has a sub-directory for, or else the last one by order.
	Checkpoint string
	Backend    string // "local.host"; "" is the first declared, or the implicit one
}

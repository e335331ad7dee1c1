package lang

// Options specifies what to load, and the sources of outside values.
type Options struct {
	Inputs

	// Env reads the environment, for FEVALGRAPH_VAR_x of variables and for secrets. Nil means an empty
	// environment.
	Env func(name string) (string, bool)

	// Overlay returns the text of a file that is open in an editor, by its absolute path; it replaces the
	// file on disk. It returns false for other files. Nil means that no file is open.
	Overlay func(path string) (text []byte, open bool)

	// Done ends the evaluation when it is closed; nil never does.
	Done <-chan struct{}

	Version string // of the program, for required_version; not a version number: unchecked
	Additions
	Extensions
}

// Inputs are the files and variables of a configuration.
type Inputs struct {
	Dir      string   // directory of fevalgraph.hcl; "" means "."
	File     string   // replaces fevalgraph.hcl, relative to Dir; its siblings *.feval.hcl still load
	Vars     []string // "k=v" from --var, in order
	VarFiles []string // from --var-file, in order, relative to Dir
	Within   []string // directories that count as the project's, besides Dir

	// Moved returns where an absolute path that is written in the configuration, or by the user, is read. Nil means at
	// the path itself.
	Moved func(path string) string
}

// Additions are solutions that no block declares.
type Additions struct {
	AdHoc *AdHoc // nil adds none
	// References is the number of repeats in a suite of the solutions that problems ship; 0 means no such
	// suite.
	References int
	// Recorded are directories with solutions that other programs recorded.
	Recorded []string
}

// Any reports whether solutions are added.
func (a *Additions) Any() bool { return a.AdHoc != nil || a.References > 0 || len(a.Recorded) > 0 }

// Extensions contains parts of the language that the program provides.
type Extensions struct {
	// Readers read problems and solutions in other formats.
	Readers   []Reader
	Functions []Function // for such formats
	// Results reads files with results of other programs, by contender. The error names a file.
	Results func(files *ReaderFiles, paths []string) ([]*RecordedResults, error)
	Kinds   []BackendKind
}

// AdHoc is the solution of `fevalgraph eval PROBLEM PATH`. It is named "eval"
// and is the only cell of a suite "eval".
type AdHoc struct {
	Problem string // a problem's name or reference
	Path    string // relative to Options.Dir
	// Checkpoint is the checkpoint that Path answers. "" means every checkpoint for which Path has a
	// sub-directory, or else the last one by order.
	Checkpoint string
	Backend    string // "local.host"; "" means the first declared, or the implicit one
}

package frontier

import (
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// block is the name of the blocks that read Frontier-CS's own files.
const block = "frontier"

func readers() []lang.Reader {
	return []lang.Reader{
		{
			Owner: "problem", Read: readProblem,
			Block: lang.BlockSchema{
				Name: block, Doc: "Reads a problem of Frontier-CS, of either track, from its config.yaml; attributes and blocks next to it win.",
				Attributes: []lang.AttributeSchema{
					{Name: "path", Type: lang.TypeText, Path: true, Required: true, Doc: "Directory of the problem, below a directory problems."},
					{Name: "compat", Type: lang.TypeText, Doc: "As of judge and command. The default is safe for the algorithmic track, frontier for research."},
					{Name: "type", Type: lang.TypeText, Default: `"local"`, Values: []string{"local", "docker"}, Doc: "Where a research problem is graded. On a local machine, /work in the text of graders is replaced by the workspace."},
					{Name: "import", Type: lang.TypeText, Values: []string{lang.ImportSeparate, lang.ImportDirect}, Doc: "As of command."},
					{Name: "images", Type: lang.TypeText, Default: `"backend"`, Values: []string{"backend", "own"}, Doc: "Image of a research problem's containers: the backend's, or its config.yaml's."},
				},
			},
		},
		{
			Owner: "solution", Read: readSolution,
			Block: lang.BlockSchema{
				Name: block, Doc: "Reads a solution from the name of its file: MODEL.cpp or MODEL_N.cpp, .py on the research track, or MODEL.FAILED. Replaces name, source, failed and the labels model and variant, or attempt.",
				Attributes: []lang.AttributeSchema{{Name: "path", Type: lang.TypeText, Path: true, Required: true, Doc: "The file."}},
			},
		},
	}
}

func readProblem(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	if isResearch(files, given["path"]) {
		return readResearch(files, given)
	}
	return readAlgorithmic(files, given)
}

// isResearch reports whether a directory is a problem of the research track: it has a grader.
func isResearch(files *lang.ReaderFiles, dir string) bool {
	return files.Exists(filepath.Join(dir, "evaluate.sh")) || files.Exists(filepath.Join(dir, "evaluator.py"))
}

// functions find problems and solutions in a checkout.
func functions() []lang.Function {
	return []lang.Function{
		{
			Name: "frontier_problems", Params: []string{"directory"}, Call: findProblems,
			Doc: "Directories of Frontier-CS's problems in a directory, by name: those of the algorithmic track with all of their test data, and those of the research track with a grader.",
		},
		{
			Name: "frontier_solutions", Params: []string{"directory"}, Call: findSolutions,
			Doc: "Files of solutions in a directory, by problem and name: \"1/gpt5\". A file MODEL.FAILED counts if no other file has its name.",
		},
	}
}

func findProblems(files *lang.ReaderFiles, args []string) (map[string]string, error) {
	dir := args[0]
	found := map[string]string{}
	configs, err := files.Glob(dir, "*/config.yaml")
	if err != nil {
		return nil, err
	}
	for _, config := range configs {
		name := filepath.Dir(config)
		if at := filepath.Join(dir, name); !isResearch(files, at) && isComplete(files, at) {
			found[name] = at
		}
	}
	graders, err := files.Glob(dir, "**/{evaluator.py,evaluate.sh}")
	if err != nil {
		return nil, err
	}
	for _, grader := range graders {
		if name := filepath.Dir(grader); name != "." && !isCommon(name) {
			found[name] = filepath.Join(dir, name)
		}
	}
	return found, nil
}

// isCommon reports whether a path is in a directory without problems: shared files, caches, hidden files.
func isCommon(name string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part == "common" || part == "resources" || part == "__pycache__" || strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

func findSolutions(files *lang.ReaderFiles, args []string) (map[string]string, error) {
	names, err := files.Glob(args[0], "*/**/*.{cpp,py,FAILED}")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		key := strings.TrimSuffix(name, filepath.Ext(name))
		if _, other := found[key]; !other || filepath.Ext(name) != failed {
			found[key] = filepath.Join(args[0], name)
		}
	}
	return found, nil
}

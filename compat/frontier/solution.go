package frontier

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// failed is the ending of a file that says why a model gave no answer.
const failed = ".FAILED"

// attempt is a name of a solution: the model and, except for the first, the variant.
var attempt = lazyregexp.New(`^(.*?)(?:_([0-9]+))?$`)

func readSolution(files *lang.ReaderFiles, given map[string]string) (*lang.Made, diag.List) {
	path := given["path"]
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	parts := attempt().FindStringSubmatch(name)
	counts, otherwise, reason := "variant", "no reason given", "generation failed: "
	if strings.Contains(filepath.ToSlash(path), "/research/") {
		counts, otherwise, reason = "attempt", "Generation failed", ""
	}
	labels := map[string]string{"model": parts[1], counts: "0"}
	if parts[2] != "" {
		labels[counts] = parts[2]
	}
	made := &lang.Made{Attributes: map[string]any{"name": name, "source": path, "labels": labels}}
	if filepath.Ext(path) == failed {
		text, err := files.Read(path)
		if err != nil {
			return nil, diag.List{{Code: "unreadable-file", Summary: "Unreadable file", Detail: err.Error() + "."}}
		}
		var said struct{ Error string }
		if json.Unmarshal([]byte(text), &said) != nil || said.Error == "" {
			said.Error = otherwise
		}
		made.Attributes["failed"] = reason + said.Error
	}
	return made, nil
}

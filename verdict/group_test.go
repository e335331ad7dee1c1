package verdict

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestGroupsAreAlwaysFourInOrder(t *testing.T) {
	for _, groups := range []GroupCounts{nil, {}, {ErrorGroup: {1, 2}, "zeta": {0, 1}, "alpha": {0, 0}}} {
		out, err := json.Marshal(groups)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, g := range Groups {
			at := strings.Index(string(out), `"`+string(g)+`":`)
			if at <= last {
				t.Errorf("%s: %s is missing or early", out, g)
			}
			last = at
		}
		if len(groups) == 3 && !strings.HasSuffix(string(out), `"error":{"passed":1,"total":2},"alpha":{"passed":0,"total":0},"zeta":{"passed":0,"total":1}}`) {
			t.Errorf("other groups: %s", out)
		}
	}
}

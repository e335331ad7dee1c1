package requirements

import "testing"

func TestFile(t *testing.T) {
	for requirement, want := range map[string]string{
		"mylib @ file:///src/lib":                       "/src/lib",
		"mylib@file:///src/my%20lib.whl#sha256=12":      "/src/my lib.whl",
		`mylib[x] @ file:///a.whl ; python_version>"3"`: "/a.whl",
		"/src/lib":                       "/src/lib",
		"mylib @ https://host/a.whl":     "",
		"mylib @ git+file:///src/lib@v1": "",
		"mylib==1.0":                     "",
		"pytest":                         "",
	} {
		if got := File(requirement); got != want {
			t.Errorf("%s: got %q, want %q", requirement, got, want)
		}
	}
}

package release

import "testing"

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		old, new string
		class    Class
		edited   bool
		needs    Bump
		bump     Bump
		next     string
		wrong    bool
	}{
		{"1.0.0", "1.0.0", Reuse, false, None, None, "1.0.0", false},
		{"1.0.0", "1.0.0", Reuse, true, Patch, None, "1.0.1", true},
		{"1.0.0", "1.0.1", Reuse, true, Patch, Patch, "1.0.1", false},
		{"1.0.0", "2.0.0", Reuse, false, None, Major, "1.0.0", false},
		{"1.2.3", "1.2.4", Regrade, true, Minor, Patch, "1.3.0", true},
		{"1.2.3", "1.3.0", Regrade, true, Minor, Minor, "1.3.0", false},
		{"1.2.3", "1.3.0", Rerun, true, Major, Minor, "2.0.0", true},
		{"1.2.3", "2.0", Rerun, true, Major, Major, "2.0.0", false},
		{"v1.2", "1.3.0-rc.1", Rerun, true, Major, Major, "2.0.0", false}, // programs take a pre-release for a major version
		{"1.3.0-rc.1", "1.3.0-rc.0", Rerun, true, Major, None, "2.0.0", true},
		{"1.2.3", "1.2.2", Reuse, false, None, None, "1.2.3", true},
		{"", "", Regrade, true, Minor, None, "", true},
		{"", "1.0.0", Regrade, true, Minor, Major, "", false},
		{"1.0.0", "", Regrade, true, Minor, None, "1.1.0", true},
		{"1.0.0", "soon", Regrade, true, Minor, Major, "1.1.0", true},
		{"3", "3", Reuse, true, None, None, "3", false},
		{"3", "3", Regrade, true, Minor, None, "4", true},
		{"3", "4", Rerun, true, Major, Major, "4", false},
		{"3", "2", Rerun, true, Major, None, "4", true},
		{"", "1.0.0", Added, true, None, None, "", false},
		{"1.0.0", "", Removed, true, None, None, "1.0.0", false},
	} {
		v := CompareVersions(c.old, c.new, c.class, c.edited)
		if v.Needs != c.needs || v.Bump != c.bump || v.Next() != c.next || (v.Wrong != "") != c.wrong {
			t.Errorf("%q to %q, %s: %+v, next %q; want needs %s, bump %s, next %q, wrong %v", c.old, c.new, c.class, v, v.Next(), c.needs, c.bump, c.next, c.wrong)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1", "1.2.3", "v1.2-rc+x", "99999999999", "-", "..", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := parse(text); ok && (n.parts[0] < 0 || n.less(n)) {
			t.Errorf("%q: %+v", text, n)
		}
	})
}

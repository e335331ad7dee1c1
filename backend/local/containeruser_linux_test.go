package local

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestFindUser(t *testing.T) {
	dir := t.TempDir()
	passwd, group := filepath.Join(dir, "passwd"), filepath.Join(dir, "group")
	for file, text := range map[string]string{
		passwd: "root:x:0:0:root:/root:/bin/sh\nann:x:7:8::/home/ann:/bin/sh\nbroken\nodd:x:-1:y::/:\n",
		group:  "root:x:0:\nstaff:x:50:ann,root\nvideo:x:44:bob,ann\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]*containerUser{
		"ann":       {uid: 7, gid: 8, groups: []uint32{50, 44}},
		"7":         {uid: 7, gid: 8, groups: []uint32{50, 44}},
		"ann:staff": {uid: 7, gid: 50},
		"7:9":       {uid: 7, gid: 9},
		"1000:1000": {uid: 1000, gid: 1000},
		"1000":      {uid: 1000},
		"root":      {groups: []uint32{50}},
		"stranger":  nil, "odd": nil, "ann:strangers": nil, "-1": nil, "4294967296": nil,
	} {
		if got, err := findUserIn(text, passwd, group); !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	if got, err := findUserIn("0", filepath.Join(dir, "absent"), filepath.Join(dir, "absent")); err != nil || got.uid != 0 {
		t.Errorf("an image without users: %+v, %v", got, err)
	}
}

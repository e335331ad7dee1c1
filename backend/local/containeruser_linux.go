package local

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// containerUser is a user of a container.
type containerUser struct {
	uid, gid uint32
	groups   []uint32
}

// findUser parses a user as docker does: "name" or "uid", optionally with ":group" or ":gid". Without a
// group, the user has the groups that the container's files list.
func findUser(text string) (*containerUser, error) {
	return findUserIn(text, "/etc/passwd", "/etc/group")
}

func findUserIn(text, passwd, group string) (*containerUser, error) {
	name, groupName, withGroup := strings.Cut(text, ":")
	u := &containerUser{}
	number, err := strconv.ParseUint(name, 10, 31)
	isNumber, known := err == nil, false
	u.uid = uint32(number)
	each(passwd, func(fields []string) {
		if known || len(fields) < 4 || fields[0] != name && !(isNumber && fields[2] == name) {
			return
		}
		uid, uidErr := strconv.ParseUint(fields[2], 10, 31)
		gid, gidErr := strconv.ParseUint(fields[3], 10, 31)
		if uidErr == nil && gidErr == nil {
			known, name, u.uid, u.gid = true, fields[0], uint32(uid), uint32(gid)
		}
	})
	if !known && !isNumber {
		return nil, fmt.Errorf("unable to find user %s: no matching entries in passwd file", name)
	}
	if !withGroup {
		each(group, func(fields []string) {
			if len(fields) < 4 || !known || !slices.Contains(strings.Split(fields[3], ","), name) {
				return
			}
			if gid, err := strconv.ParseUint(fields[2], 10, 31); err == nil {
				u.groups = append(u.groups, uint32(gid))
			}
		})
		return u, nil
	}
	gid, err := strconv.ParseUint(groupName, 10, 31)
	found := err == nil
	each(group, func(fields []string) {
		if len(fields) >= 3 && fields[0] == groupName && !found {
			if gid, err = strconv.ParseUint(fields[2], 10, 31); err == nil {
				found = true
			}
		}
	})
	if !found {
		return nil, fmt.Errorf("unable to find group %s: no matching entries in group file", groupName)
	}
	u.gid = uint32(gid)
	return u, nil
}

// each calls read with the fields of each line of a file, which need not exist.
func each(file string, read func(fields []string)) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		read(strings.Split(strings.TrimSpace(lines.Text()), ":"))
	}
}

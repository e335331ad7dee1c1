package cache

import (
	"crypto/rand"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// ID implements Store.
func (d *Disk) ID() string { return d.id }

// identify reads the store's ID, and creates a missing one. If two processes create one at the same time,
// or if it cannot be written, a process can use an ID that no store has: its answers are then looked up
// among the records.
func (d *Disk) identify() {
	path := d.path(idTag)
	b, err := files.ReadFile(d.files, path)
	if (err != nil || len(b) == 0) && !d.readOnly {
		_ = d.writeFile(path, []byte(rand.Text()))
		b, err = files.ReadFile(d.files, path)
	}
	if d.id = string(b); err != nil || d.id == "" {
		d.id = rand.Text()
	}
}

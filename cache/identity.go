package cache

import (
	"crypto/rand"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// ID implements Store.
func (d *Disk) ID() string { return d.id }

// identify reads the store's ID, and makes one if it has none. Of two processes that do so at once, one can
// go on with an ID that no store has, and so does a process that cannot write it: answers that are logged
// with it are then looked up among the records.
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

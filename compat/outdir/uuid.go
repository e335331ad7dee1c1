package outdir

import (
	"bytes"
	"fmt"
)

// UUID returns the UUID of a version whose other bits are the first ones of a hash: equal exports have equal names.
func UUID(version byte, hash []byte) string {
	id := bytes.Clone(hash[:16])
	id[6], id[8] = id[6]&0x0f|version<<4, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

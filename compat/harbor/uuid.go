package harbor

import (
	"crypto/sha1"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
)

// namespace is that of the ids of exported jobs and trials.
var namespace = [16]byte{0x6f, 0x1c, 0x5a, 0x52, 0x9b, 0x0e, 0x4d, 0x0b, 0xa5, 0x37, 0x21, 0x8e, 0xd4, 0x4c, 0x90, 0x7e}

// uuid returns the UUID, version 5, of parts: the same for the same parts.
func uuid(parts ...string) string {
	h := sha1.New()
	h.Write(namespace[:])
	h.Write([]byte(strings.Join(parts, "\x00")))
	return outdir.UUID(5, h.Sum(nil))
}

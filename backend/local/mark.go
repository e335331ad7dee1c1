package local

import (
	"crypto/sha256"
	"encoding/binary"
)

// cookieVariable is added to the environment of every command. Its value is random, and equal for all
// commands of a session.
const cookieVariable = "FEVALGRAPH_SESSION"

// mark identifies every process of a session, even if it left the process group and session, was orphaned,
// or closed all files. It is inherited in two ways, because a process can remove either:
//
//   - in the environment, as cookieVariable, and
//   - as the soft limit on file locks, which Linux keeps, hands down and shows
//     in /proc but has ignored since 2.4.25. It survives a cleared
//     environment and can be read from processes of other users too.
type mark struct {
	cookie string
	limit  uint64 // derived from cookie
}

func newMark(cookie string) mark {
	sum := sha256.Sum256([]byte(cookie))
	return mark{cookie: cookie, limit: markBit | binary.BigEndian.Uint64(sum[:])%markBit}
}

// markBit makes every mark a number between 2^61 and 2^62: not infinity, and different from any limit in
// use.
const markBit = 1 << 61

func isMark(limit uint64) bool { return limit/markBit == 1 }

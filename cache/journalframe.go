package cache

import (
	"encoding/binary"
	"time"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

type kind byte

const (
	blobKind   kind = 'b'
	recordKind kind = 'r'
)

// ref is what a frame is found by.
type ref struct {
	kind kind
	hash [32]byte
}

// frameHead is the size of a payload without content.
const frameHead = 1 + 8 + 32

// frame is what a payload says.
type frame struct {
	ref
	used    int64
	content []byte
}

// isRecent reports whether a use that was noted then may stand for one now.
func isRecent(used int64) bool { return time.Since(time.Unix(0, used)).Abs() < touchInterval }

func appendFrame(b []byte, f frame) []byte {
	b = append(b, byte(f.kind))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.used))
	b = append(b, f.hash[:]...)
	return append(b, f.content...)
}

// decodeFrame reads a payload; ok is false when it is none.
func decodeFrame(payload []byte) (f frame, ok bool) {
	if len(payload) < frameHead {
		return frame{}, false
	}
	f.kind = kind(payload[0])
	f.used = int64(binary.LittleEndian.Uint64(payload[1:]))
	f.hash = [32]byte(payload[9:])
	f.content = payload[frameHead:]
	return f, f.kind == blobKind || f.kind == recordKind
}

// readFrame reads the frame of r at p; ok is false when something else is there.
func readFrame(framer framer, file files.File, r ref, p place) (f frame, ok bool) {
	b := make([]byte, frameHeader+frameHead+p.size)
	if _, err := file.ReadAt(b, p.at); err != nil || framer.frameAt(b, 0) != len(b) {
		return frame{}, false
	}
	f, ok = decodeFrame(b[frameHeader:])
	return f, ok && f.ref == r
}

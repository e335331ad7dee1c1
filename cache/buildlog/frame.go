package buildlog

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// A build log is a sequence of frames and nothing else:
//
//	0  mark      "\xffFG\xfe": not UTF-8, so no text in a payload holds it
//	4  length    uint32, little-endian, of the payload
//	8  checksum  uint32, CRC-32C of length, proof and payload
//	12 proof     [16]byte, of the payload by the log's key
//	28 payload
//
// A reader that meets anything else looks for the next mark, so that damage
// costs the frames it touches and no more. A torn tail is such damage. Frames whose
// checksum is right and whose proof is not are foreign: another user, or another
// project, wrote them.
const (
	frameMark   = "\xffFG\xfe"
	frameSum    = 8
	frameProof  = 12
	proofSize   = 16
	frameHeader = frameProof + proofSize
)

// maxPayload bounds one entry: above any honest one, and small enough that a
// damaged length is recognised.
const maxPayload = 16 << 20

// crc32c is the CRC-32C of parts, one after the other.
func crc32c(parts ...[]byte) (sum uint32) {
	for _, part := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
	return sum
}

type framer struct {
	table *crc32.Table
	key   proof.Key
}

func newFramer(key proof.Key) framer { return framer{crc32.MakeTable(crc32.Castagnoli), key} }

// start appends the room for a frame's header to b; seal fills it in once the
// payload follows.
func (framer) start(b []byte) []byte { return append(b, make([]byte, frameHeader)...) }

func (f framer) seal(frame []byte) {
	copy(frame, frameMark)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(frame)-frameHeader))
	copy(frame[frameProof:frameHeader], f.key.Of(frame[frameHeader:]))
	binary.LittleEndian.PutUint32(frame[frameSum:], f.checksum(frame))
}

func (f framer) checksum(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[4:8], f.table), f.table, frame[frameProof:])
}

// scan calls fn with the place of each good frame in b and returns how many
// frames were lost: within each stretch that is not a frame, the marks in it,
// and at least one. Foreign frames are counted and skipped.
func (f framer) scan(b []byte, fn func(start, end int)) (lost, foreign int) {
	gap := 0 // where the stretch since the last good frame begins
	for at := 0; at < len(b); {
		end := f.frameAt(b, at)
		if end > 0 {
			lost += lostIn(b[gap:at])
			if f.proven(b[at:end]) {
				fn(at, end)
			} else {
				foreign++
			}
			at, gap = end, end
			continue
		}
		next := bytes.Index(b[at+1:], []byte(frameMark))
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return lost + lostIn(b[gap:]), foreign
}

// streamBuffer is how much of a log stream has in memory, unless a frame is larger.
const streamBuffer = 256 << 10

// stream calls fn with each frame that r holds, which is valid until fn returns and
// whose checksum is for fn to look at, if it is of use. It is false as soon as fn
// is, and when there is anything but frames: to find those behind it takes scan.
func (f framer) stream(r io.Reader, fn func(frame []byte) bool) (whole bool, err error) {
	b := make([]byte, 0, streamBuffer)
	for {
		if len(b) == cap(b) {
			if len(b) > frameHeader+maxPayload {
				return false, nil
			}
			b = slices.Grow(b, cap(b))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		at := 0
		for end := f.endOf(b, at); end > 0; end = f.endOf(b, at) {
			if !fn(b[at:end]) {
				return false, nil
			}
			at = end
		}
		b = b[:copy(b, b[at:])]
		if errors.Is(err, io.EOF) {
			return len(b) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// readAt returns the good, proven frame at an offset of r; nil when there is none.
func (f framer) readAt(r io.ReaderAt, offset int64) ([]byte, error) {
	const most = 1 << 10 // of the frames are shorter
	b := make([]byte, most)
	n, err := r.ReadAt(b, offset)
	if b = b[:n]; len(b) >= frameHeader && errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if size := int(binary.LittleEndian.Uint32(b[4:])); size <= maxPayload && frameHeader+size > len(b) {
		b = make([]byte, frameHeader+size)
		if n, err = r.ReadAt(b, offset); n < len(b) {
			return nil, err
		}
	}
	if end := f.frameAt(b, 0); end > 0 && f.proven(b[:end]) {
		return b[:end], nil
	}
	return nil, nil
}

func lostIn(stretch []byte) int {
	if len(stretch) == 0 {
		return 0
	}
	return max(1, bytes.Count(stretch, []byte(frameMark)))
}

// frameAt returns the end of the good frame that begins at at, or 0.
func (f framer) frameAt(b []byte, at int) int {
	end := f.endOf(b, at)
	if end == 0 || !f.good(b[at:end]) {
		return 0
	}
	return end
}

// endOf returns the end of the frame that begins at at, be it good or not, or 0.
func (framer) endOf(b []byte, at int) int {
	if len(b)-at < frameHeader || string(b[at:at+4]) != frameMark {
		return 0
	}
	n := binary.LittleEndian.Uint32(b[at+4:])
	if n > maxPayload || int(n) > len(b)-at-frameHeader {
		return 0
	}
	return at + frameHeader + int(n)
}

// good reports whether the checksum of a frame is right.
func (f framer) good(frame []byte) bool {
	return f.checksum(frame) == binary.LittleEndian.Uint32(frame[frameSum:])
}

// proven reports whether the proof of a frame is right.
func (f framer) proven(frame []byte) bool {
	return hmac.Equal(frame[frameProof:frameHeader], f.key.Of(frame[frameHeader:])[:proofSize])
}

package buildlog

import (
	"unsafe"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// read makes what the file holds the content of the log.
func (l *Log) read() error {
	if l.wanted != nil {
		if whole, err := l.pick(); whole || err != nil {
			return err
		}
	}
	if forged, err := l.forged(); err != nil {
		return err
	} else if forged {
		l.reset()
		l.foreign = 1
		return nil
	}
	b, err := files.ReadFile(l.files, l.path)
	if err != nil {
		return err
	}
	l.load(b)
	return nil
}

// trustedSize is the size from which on a log is read only if its first entry is proven.
const trustedSize = 64 << 20

// forged reports whether a large file does not begin with a proven entry: it is more likely another
// user's than damaged, and could be larger than memory.
func (l *Log) forged() (bool, error) {
	f, err := files.Open(l.files, l.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < trustedSize {
		return false, err
	}
	first, err := l.framer.readAt(f, 0)
	return first == nil, err
}

// pick is read for a caller that wants a few of many entries: nothing else of the file stays
// in memory, and it is not checked. Pick is false when there is anything
// in the file but entries, or a wanted one is not good.
func (l *Log) pick() (whole bool, err error) {
	f, err := files.Open(l.files, l.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	was := l.content
	defer func() {
		if err != nil {
			l.content = was
		}
	}()
	if x := l.indexFor(f); x != nil {
		l.reset()
		if whole, err := l.pickIndexed(f, x); whole || err != nil {
			return whole, err
		}
	}
	l.reset()
	var frames []frameOf
	whole, err = l.framer.stream(f, func(frame []byte) bool {
		if addr, err := frameAddr(frame); err == nil && !l.readOnly {
			frames = append(frames, frameOf{hashAddr(addr), l.size})
		}
		return l.pickFrame(frame)
	})
	if whole && err == nil && !l.readOnly {
		l.saveIndex(f, frames)
	}
	return whole, err
}

// pickFrame takes the next frame of the file, if it is wanted. It is false when it is
// not good, as far as that matters.
func (l *Log) pickFrame(frame []byte) bool {
	l.size += int64(len(frame))
	addr, err := frameAddr(frame)
	if err != nil || !l.wanted[addr] {
		return err == nil
	}
	return l.framer.good(frame) && l.framer.proven(frame) && l.index(string(frame[frameHeader:]))
}

// frameAddr is the address of the entry in a frame. It shares memory with it.
func frameAddr(frame []byte) (string, error) {
	payload := frame[frameHeader:]
	return entryAddr(unsafe.String(unsafe.SliceData(payload), len(payload)))
}

// load makes b the content of the log.
func (l *Log) load(b []byte) {
	text := unsafe.String(unsafe.SliceData(b), len(b)) // entries are parts of it; b is not written to
	l.reset()
	l.size = int64(len(b))
	unreadable := 0
	l.dropped, l.foreign = l.framer.scan(b, func(start, end int) {
		if !l.index(text[start+frameHeader : end]) {
			unreadable++
		}
	})
	l.dropped += unreadable
}

func (l *Log) reset() { l.content = content{entries: map[string]string{}} }

// index makes payload the last entry of its address.
func (l *Log) index(payload string) bool {
	addr, err := entryAddr(payload)
	if err != nil {
		return false
	}
	if l.wanted != nil && !l.wanted[addr] {
		return true
	}
	if old, ok := l.entries[addr]; ok {
		l.live -= int64(len(old) + frameHeader)
	}
	l.entries[addr] = payload
	l.live += int64(len(payload) + frameHeader)
	return true
}

package local

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// procFile is a file of /proc that is read repeatedly. It is opened once, since opening often takes longer
// than reading, and read with one system call, so that the content is from one moment.
type procFile struct {
	name string
	once sync.Once
	fd   int // -1 if it cannot be opened
}

// procBuffers holds buffers that are large enough for any such file.
var procBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// ask calls answer with the file's present content, or nil if the file cannot be read. The content is
// invalid once answer has returned.
func (p *procFile) ask(answer func(content []byte)) {
	p.once.Do(func() {
		fd, err := unix.Open(p.name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			fd = -1
		}
		p.fd = fd
	})
	if p.fd < 0 {
		answer(nil)
		return
	}
	buffer := procBuffers.Get().(*[64 << 10]byte)
	defer procBuffers.Put(buffer)
	n, err := unix.Pread(p.fd, buffer[:], 0)
	if err != nil {
		n = 0
	}
	answer(buffer[:n])
}

// askProcess calls answer with the content of a file of the process pid. If the file cannot be read, it
// does not call answer. The content is invalid once answer has returned.
func askProcess(pid int, file string, answer func(content []byte)) {
	name := "/proc/" + strconv.Itoa(pid) + "/" + file
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buffer := procBuffers.Get().(*[64 << 10]byte)
	defer procBuffers.Put(buffer)
	n := 0
	for n < len(buffer) {
		more, err := unix.Read(fd, buffer[n:])
		if err != nil {
			return
		}
		if more == 0 {
			answer(buffer[:n])
			return
		}
		n += more
	}
	if content, err := os.ReadFile(name); err == nil { // for a huge environment
		answer(content)
	}
}

package judge

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

func TestStarved(t *testing.T) {
	store := cache.NewMemory()
	stored := func(program string) cache.Digest {
		d, err := cache.PutBytes(t.Context(), store, []byte(program))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	small := stored("#!/bin/sh")
	starved := func(e backend.Ending, l backend.Limits, program cache.Digest) backend.Ending {
		t.Helper()
		got, err := (&Box{}).starved(t.Context(), store, program, e, l)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	limits := backend.Limits{Memory: 1000, AddressSpace: true}
	for _, try := range []struct {
		name string
		end  backend.Ending
		want backend.EndingStatus
	}{
		{"crashed with nothing left", backend.Ending{Status: backend.Signalled, Signal: "aborted", Memory: 990}, backend.MemoryLimit},
		{"gave up with nothing left", backend.Ending{Status: backend.Exited, Code: 1, Memory: 950}, backend.MemoryLimit},
		{"crashed for another reason", backend.Ending{Status: backend.Signalled, Signal: "aborted", Memory: 900}, backend.Signalled},
		{"needed it all", backend.Ending{Status: backend.Exited, Memory: 1000}, backend.Exited},
		{"took too long", backend.Ending{Status: backend.CPULimit, Memory: 1000}, backend.CPULimit},
	} {
		if got := starved(try.end, limits, small); got.Status != try.want {
			t.Errorf("%s: %s", try.name, got.Status)
		}
	}
	once := backend.Ending{Status: backend.Signalled, Signal: "aborted", Memory: 10, Stderr: []byte("terminate called after throwing an instance of 'std::bad_alloc'\n")}
	if got := starved(once, limits, small); got.Status != backend.MemoryLimit {
		t.Errorf("wait requested at once: %+v", got)
	}
	once.Status, once.Signal = backend.Exited, ""
	if got := starved(once, limits, small); got.Status != backend.Exited {
		t.Errorf("wait requested at once, and continued: %+v", got)
	}
	if got := starved(backend.Ending{Status: backend.Signalled, Memory: 1000}, backend.Limits{Memory: 1000}, small); got.Status != backend.Signalled {
		t.Errorf("without a limited address space: %s", got.Status)
	}

	// A program with too large static arrays never starts.
	array := func(sizes ...uint64) cache.Digest {
		var b bytes.Buffer
		h := elf.Header64{Phoff: 64, Phnum: uint16(len(sizes))}
		copy(h.Ident[:], elf.ELFMAG+string(rune(elf.ELFCLASS64)))
		binary.Write(&b, binary.LittleEndian, h)
		for _, size := range sizes {
			binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Memsz: size})
		}
		return stored(b.String())
	}
	killed := backend.Ending{Status: backend.Signalled, Signal: "segmentation fault"}
	for _, try := range []struct {
		program cache.Digest
		want    backend.EndingStatus
	}{
		{array(600, 401), backend.MemoryLimit},
		{array(math.MaxUint64, 2), backend.MemoryLimit},
		{array(600, 400), backend.Signalled},
		{stored("\x7fELF"), backend.Signalled},
	} {
		if got := starved(killed, limits, try.program); got.Status != try.want {
			t.Errorf("%v: %s, want %s", try.program, got.Status, try.want)
		}
	}
}

package judge

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

func TestStarved(t *testing.T) {
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
		if got := starved(try.end, limits); got.Status != try.want {
			t.Errorf("%s: %s", try.name, got.Status)
		}
	}
	once := backend.Ending{Status: backend.Signalled, Signal: "aborted", Memory: 10, Stderr: []byte("terminate called after throwing an instance of 'std::bad_alloc'\n")}
	if got := starved(once, limits); got.Status != backend.MemoryLimit {
		t.Errorf("asked for at once: %+v", got)
	}
	once.Status, once.Signal = backend.Exited, ""
	if got := starved(once, limits); got.Status != backend.Exited {
		t.Errorf("asked for at once, and went on: %+v", got)
	}
	if got := starved(backend.Ending{Status: backend.Signalled, Memory: 1000}, backend.Limits{Memory: 1000}); got.Status != backend.Signalled {
		t.Errorf("without a limited address space: %s", got.Status)
	}
}

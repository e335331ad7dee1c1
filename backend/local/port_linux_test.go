package local_test

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
)

// A port that is taken though no process listens on it, as after connections that
// were just closed, is waited for.
func TestLingeringPort(t *testing.T) {
	l, port := listen(t)
	l.Close()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Network: backend.SharedNetwork}, backend.Spec{})
	var said notes
	var group sync.WaitGroup
	group.Go(func() {
		said.await(t, "recently closed connections")
		unix.Close(fd)
	})
	exit, err := s.Exec(t.Context(), backend.Command{Ports: []int{port}, Argv: []string{"true"}, Notes: &said})
	if err != nil || exit.Code != 0 {
		t.Errorf("got %+v, %v", exit, err)
	}
	group.Wait()
}

package backendtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/coverdir"
)

// peerVariable makes the test binary a peer.
const peerVariable = "BACKENDTEST_PEER"

// leakedVariable is in the environment of all tests, where no command may find it.
const leakedVariable = "LEAKED"

// Main is for the TestMain of packages that call the suite or a part of it. It runs the tests; the suite
// also puts the test binary into workspaces as the program "peer", because no image can be trusted to have a
// program that listens:
//
//	peer serve ADDRESS WORD    print "ready", then send WORD to every client
//	peer ask ADDRESS           print the word, or exit with 1
func Main(m *testing.M) int {
	if os.Getenv(peerVariable) == "" {
		if err := os.Setenv(leakedVariable, "from the caller"); err != nil {
			fmt.Println(err)
			return 1
		}
		return m.Run()
	}
	if err := peer(os.Args[1:]); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func peer(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "serve":
		return serve(args[1], args[2])
	case len(args) == 2 && args[0] == "ask":
		word, err := ask(args[1])
		if err == nil {
			fmt.Print(word)
		}
		return err
	}
	return fmt.Errorf("peer: got %q", args)
}

func serve(address, word string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return greet(l, word)
}

// greet leaves it to the clients to close, so that nothing of a connection
// lingers at the server's port.
func greet(l net.Listener, word string) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			fmt.Fprintln(c, word)
			_, _ = io.Copy(io.Discard, c)
		}()
	}
}

func ask(address string) (string, error) {
	c, err := net.DialTimeout("tcp", address, prompt)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(prompt))
	return bufio.NewReader(c).ReadString('\n')
}

// withPeer returns the input that makes ./peer.
func withPeer(t *testing.T, store cache.Store) backend.Input {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return backend.Input{Tree: putTree(t, store, node{Path: "peer", Content: string(program), Executable: true})}
}

// onPort returns a command that runs a script with peers and has a port.
func onPort(port int, script string) backend.Command {
	cmd := shell(script)
	cmd.Env = append(append(cmd.Env, peerVariable+"=1"), coverdir.In(".")...)
	cmd.Ports = []int{port}
	cmd.Timeout = prompt
	return cmd
}

package local_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// honest lists scripts that do what programs, sanitizers and test runners do, which isolation must permit. Each prints
// its expected output.
var honest = []struct{ name, script, want string }{
	{"a sanitizer that finds nothing", `printf 'int main(void) { return 0; }' >a.c; gcc -fsanitize=address,undefined a.c -o a && ./a && echo fine`, "fine"},
	{"a sanitizer that finds a leak", `printf '#include <stdlib.h>\nint main(void) { void *volatile p = malloc(7); p = 0; return 0; }' >b.c; gcc -fsanitize=address b.c -o b; ./b 2>&1 | grep -o '7 byte(s) leaked'`, "7 byte(s) leaked"},
	{"a sanitizer of threads", `printf '#include <pthread.h>\nvoid *f(void *a) { return a; } int main(void) { pthread_t t; return pthread_create(&t, 0, f, 0) || pthread_join(t, 0); }' >c.c; gcc -fsanitize=thread c.c -o c && ./c && echo fine`, "fine"},
	{"processes of Python", `python3 -c 'import subprocess, threading, socket
t = threading.Thread(target=lambda: print(subprocess.run(["echo", "fine"], capture_output=True, text=True).stdout, end="")); t.start(); t.join()
a, b = socket.socketpair(); s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname())
u = socket.socket(socket.AF_UNIX); u.bind("name"); u.listen(); socket.socket(socket.AF_UNIX).connect("name")
x = socket.socket(socket.AF_UNIX); x.bind("\0own" + str(id(x))); x.listen(); socket.socket(socket.AF_UNIX).connect(x.getsockname())
print(len(socket.if_nameindex()) > 0)'`, "fine\nTrue"},
}

// shared lists scripts that need a /dev/shm, which level Partial lacks without private namespaces.
var shared = []struct{ name, script, want string }{
	{"a pool of Python", `printf 'import multiprocessing as m\nif __name__ == "__main__":\n    with m.Pool(2) as p: print(p.map(abs, [-1, -2]))\n' >p.py; python3 p.py 2>&1 | tail -1`, "[1, 2]"},
}

func TestHonestPrograms(t *testing.T) {
	if os.Getenv("FEVALGRAPH_TEST_REAL") == "" {
		t.Skip("needs Python and gcc; make test-all has them")
	}
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			programs := honest
			if level == isolation.Full || os.Geteuid() == 0 {
				programs = append(programs[:len(programs):len(programs)], shared...)
			}
			home, err := filepath.EvalSymlinks(os.Getenv("HOME"))
			if err != nil {
				t.Fatal(err)
			}
			for _, program := range programs {
				s := open(t, local.Options{Confinement: local.Confinement{Isolation: string(level), Home: home}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}}, backend.Spec{})
				var out bytes.Buffer
				exit, err := s.Exec(t.Context(), backend.Command{
					Argv: []string{"sh", "-c", program.script}, Env: []string{"PATH=" + os.Getenv("PATH"), "PYENV_ROOT=" + os.Getenv("PYENV_ROOT")}, Output: &out,
				})
				if err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), program.want) {
					t.Errorf("%s: %+v, %v: %s", program.name, exit, err, &out)
				}
			}
		})
	}
}

// Package docker runs commands in containers of a Docker daemon, on this
// machine or another.
//
// A session is one container. It is created when its first command is run and
// restarted for every command: what a command leaves on the container's
// file system is there for the next one, and nothing that it started is,
// because the end of a container's first process ends its whole process
// namespace. That costs a start per command, which is what a bare "docker run"
// costs, and gives each command its own exit status, its own limits and, when
// it asks for that, another network.
//
// # The runner
//
// The container's first process is fevalgraph-worker: the runner, which serves one session over
// its standard input and output (package worker) and runs commands (package local). It becomes
// a user whom no command runs as, handles no signal and gives away none of its files, so that
// commands can neither end it nor speak for it. When a command's main process ends, the
// runner ends all others; then it says how the command ended. A container that ends before that
// is an error, unless the daemon ended it for a limit, or the kernel for want of memory.
//
// An image needs no program but those that commands name. The runner is for the machine of the
// daemon, whatever the architecture of the image.
//
// # How files get in and out
//
// The workspace and the runner are files of this machine that are mounted into the
// container, if the daemon can see them and the container's user can own them.
// Otherwise, as with a daemon on another machine or one without root, the runner is copied
// in, and places and collects files that its stream carries.
//
// # What a command may
//
// Commands run as a user other than root, 1000:1000 unless the image or the
// options name one, without capabilities and without the means to regain any,
// under the limits of Options. With Options.Network "none" they reach nothing;
// commands that are Online do, because they fetch what the others need. What they
// are on then is a bridge that no other container is on. See bridges.
//
// # What is left behind
//
// Nothing. Containers and networks carry labels, LabelProject and LabelRun, are
// listed in the registry before they exist, and are removed by Close of their
// session or of the Backend or, after a crash, by Reap.
//
// The package does not decide what is stale, does not retry, and runs no
// registry of images; it builds one image when it is asked to.
//
// The kind of backend, for blocks of the configuration, is in kind.go.
package docker

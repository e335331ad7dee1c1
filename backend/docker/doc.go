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
// # How a command gets in and its end gets out
//
// The container's program is /bin/sh, which reads a script from its standard
// input: go to the directory, find the program, say that it is there, become
// it. The program's output, both streams of it in one pipe, so that nothing
// changes places, travels as the container's standard error. The container's
// standard output belongs to the script and then to the container's init, which
// says whether the program exited or was ended by a signal; the daemon alone
// would make "exit 137" and SIGKILL look the same. See launch and control.
//
// An image therefore needs /bin/sh and env. Nothing else.
//
// # How files get in and out
//
// The workspace is a directory of this machine that is mounted into the
// container, if the daemon can see it and the container's user can own it.
// Otherwise, as with a daemon on another machine or one without root, files
// are copied in and out with the daemon's help. See mounted and copied.
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
package docker

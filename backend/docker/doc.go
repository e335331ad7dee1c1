// Package docker runs commands in containers of a Docker daemon, on this machine or another. The kind of
// backend, for blocks of the configuration, is in kind.go.
//
// A session is one container. It is created for its first command and restarted for every command. Files
// on the container's file system last until the next command; processes do not, because the end of a
// container's first process ends its whole process namespace. So each command costs a start, as much as a
// bare "docker run", and has its own exit status, limits and, if requested, network.
//
// # The runner
//
// The container's first process is fevalgraph-worker: the runner, which serves one session over its
// standard input and output (package worker) and runs commands (package local). It switches to a user that
// runs no commands, handles no signals and passes on no open files, so that commands can neither end it
// nor answer in its name. When a command's main process ends, the runner ends all others and then reports
// how the command ended. A container that ends before that is an error, unless the daemon ended it for a
// limit, or the kernel for lack of memory.
//
// An image needs only the programs that commands name. The runner is built for the daemon's machine,
// regardless of the architecture of the image.
//
// # Files
//
// The workspace and the runner are files of this machine that are mounted into the container, if the daemon
// can see them and the container's user can own them. Otherwise, such as with a daemon on another machine or
// without root, the runner is copied in, and its stream carries files in both directions.
//
// ReadOnly files are next to the mounted workspace and mounted over it. Places are mounted at absolute
// paths instead of the workspace, so that no command can move what is mounted for the next command. A
// snapshot of Prepare is an image, on which sessions are based. Its files belong to a user that runs no
// commands, so no submission can change the files that it, or the next one, is judged with.
//
// # Limits of commands
//
// Commands run as a user other than root, 1000:1000 unless the image or the options name one, without
// capabilities and without means to regain any, under the limits of Options. With Options.Network "none"
// they have no network, except that Online commands have a bridge without other containers; see bridges.
//
// # Crashes
//
// Containers and networks carry labels, LabelProject and LabelRun, are listed in the registry before they
// exist, and are removed by Close of their session or of the Backend or, after a crash, by Reap.
//
// The package does not decide which nodes are stale, does not retry, and does not manage registries; it
// builds one image if requested.
package docker

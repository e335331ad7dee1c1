// Package docker runs commands in containers of a Docker daemon, on this machine or another. The kind of
// backend, for blocks of the configuration, is in kind.go.
//
// A session is one container. It is created when its first command is run and restarted for every command:
// what a command leaves on the container's file system is there for the next one, and none of its processes
// are, because the end of a container's first process ends its whole process namespace. That costs a start
// per command, as much as a bare "docker run", and gives each command its own exit status, its own
// limits and, if the command requests it, another network.
//
// # The runner
//
// The container's first process is fevalgraph-worker: the runner, which serves one session over its standard
// input and output (package worker) and runs commands (package local). It becomes a user that runs no
// command, handles no signal and passes on none of its open files, so that commands can neither end it nor
// answer in its name. When a command's main process ends, the runner ends all others, then reports how the
// command ended. A container that ends before that is an error, unless the daemon ended it for a limit, or
// the kernel for lack of memory.
//
// An image needs no program but those that commands name. The runner is for the machine of the daemon,
// whatever the architecture of the image.
//
// # Files
//
// The workspace and the runner are files of this machine that are mounted into the container, if the daemon
// can see them and the container's user can own them. Otherwise, such as with a daemon on another machine or
// without root, the runner is copied in, and its stream carries files in both directions.
//
// ReadOnly files are next to the mounted workspace and mounted over it. Places are mounted at absolute paths
// instead of the workspace, so that no command can move what is mounted for the next command. What Prepare
// made is an image, the base snapshot of sessions. Its files belong to another user than commands, so no
// submission can change what it, or the next one, is judged with.
//
// # Limits of commands
//
// Commands run as a user other than root, 1000:1000 unless the image or the options name one, without
// capabilities and without means to regain any, under the limits of Options. With Options.Network "none"
// they reach nothing; commands that are Online have a network, a bridge that no other container is on. See
// bridges.
//
// # Crashes
//
// Containers and networks carry labels, LabelProject and LabelRun, are listed in the registry before they
// exist, and are removed by Close of their session or of the Backend or, after a crash, by Reap.
//
// The package does not decide what is stale, does not retry, and runs no registry of images; it builds one
// image when requested.
package docker

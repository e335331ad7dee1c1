// The runner of the worker BB_WORKER.
local dir = std.extVar('BB_DIR') + '/' + std.extVar('BB_WORKER');
{
  buildDirectoryPath: dir + '/build',
  grpcServers: [{ listenPaths: [dir + '/runner'], authenticationPolicy: { allow: {} } }],
  setTmpdirEnvironmentVariable: true,
  // Inputs are hard links: a command of the daemons' user could modify those of later actions.
  runCommandsAs: { userId: 65534, groupId: 65534 },
  // User 65534 writes to files and directories that the daemons' user creates.
  global: { setUmask: { umask: 0 } },
}

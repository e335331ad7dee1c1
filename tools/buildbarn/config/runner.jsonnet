// Of the worker BB_WORKER.
local dir = std.extVar('BB_DIR') + '/' + std.extVar('BB_WORKER');
{
  buildDirectoryPath: dir + '/build',
  grpcServers: [{ listenPaths: [dir + '/runner'], authenticationPolicy: { allow: {} } }],
  setTmpdirEnvironmentVariable: true,
  // A command of the daemons' user could write, through the hard links that its inputs are, to
  // what later actions get.
  runCommandsAs: { userId: 65534, groupId: 65534 },
  // That user writes to files and directories that this one makes.
  global: { setUmask: { umask: 0 } },
}

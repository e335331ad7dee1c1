// Keeps blobs and results in memory, so it is empty after a restart. Clients connect to it, and
// it forwards actions to the scheduler.
local c = import 'cluster.libsonnet';
local memory(blockBytes) = {
  'local': {
    keyLocationMapInMemory: { entries: 256 * 1024 },
    keyLocationMapMaximumGetAttempts: 16,
    keyLocationMapMaximumPutAttempts: 64,
    oldBlocks: 2,
    currentBlocks: 4,
    newBlocks: 1,
    blocksInMemory: { blockSizeBytes: blockBytes },
  },
};
{
  grpcServers: [c.server { listenAddresses: [c.storage] }],
  maximumMessageSizeBytes: c.maximumMessageSizeBytes,
  contentAddressableStorage: {
    backend: memory(64 * 1024 * 1024),
    getAuthorizer: c.allow,
    putAuthorizer: c.allow,
    findMissingAuthorizer: c.allow,
  },
  actionCache: {
    backend: { completenessChecking: { backend: memory(4 * 1024 * 1024), maximumTotalTreeSizeBytes: 64 * 1024 * 1024 } },
    getAuthorizer: c.allow,
    putAuthorizer: c.allow,
  },
  schedulers: { '': { endpoint: { address: 'unix://' + c.clients } } },
  executeAuthorizer: c.allow,
}

// BB_WORKER is the worker's name and its platform property pool.
local c = import 'cluster.libsonnet';
local name = std.extVar('BB_WORKER');
local dir = c.dir + '/' + name;
local storage = { grpc: { address: c.storage } };
{
  blobstore: {
    contentAddressableStorage: storage,
    actionCache: { completenessChecking: { backend: storage, maximumTotalTreeSizeBytes: 64 * 1024 * 1024 } },
  },
  browserUrl: 'http://127.0.0.1/',  // appears only in messages
  global: { setUmask: { umask: 0 } },  // like its runner's
  maximumMessageSizeBytes: c.maximumMessageSizeBytes,
  scheduler: { address: 'unix://' + c.workers },
  directoryCache: { maximumCount: 10000, maximumSizeBytes: 16 * 1024 * 1024, cacheReplacementPolicy: 'LEAST_RECENTLY_USED' },
  inputDownloadConcurrency: 10,
  outputUploadConcurrency: 10,
  buildDirectories: [{
    native: {
      buildDirectoryPath: dir + '/build',
      cacheDirectoryPath: dir + '/cache',
      maximumCacheFileCount: 20000,
      maximumCacheSizeBytes: 512 * 1024 * 1024,
      cacheReplacementPolicy: 'LEAST_RECENTLY_USED',
    },
    runners: [{
      endpoint: { address: 'unix://' + dir + '/runner' },
      concurrency: std.parseInt(std.extVar('BB_THREADS')),
      platform: { properties: [{ name: 'OSFamily', value: 'linux' }, { name: 'pool', value: name }] },
      workerId: { worker: name },
    }],
  }],
}

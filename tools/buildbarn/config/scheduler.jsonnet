local c = import 'cluster.libsonnet';
{
  clientGrpcServers: [c.server { listenPaths: [c.clients] }],
  workerGrpcServers: [c.server { listenPaths: [c.workers] }],
  buildQueueStateGrpcServers: [c.server { listenAddresses: [c.state] }],
  contentAddressableStorage: { grpc: { address: c.storage } },
  maximumMessageSizeBytes: c.maximumMessageSizeBytes,
  executeAuthorizer: c.allow,
  modifyDrainsAuthorizer: c.allow,
  killOperationsAuthorizer: c.allow,
  synchronizeAuthorizer: c.allow,
  actionRouter: {
    simple: {
      platformKeyExtractor: { actionAndCommand: {} },
      invocationKeyExtractors: [{ toolInvocationId: {} }],
      initialSizeClassAnalyzer: { defaultExecutionTimeout: '600s', maximumExecutionTimeout: '3600s' },
    },
  },
  platformQueueWithNoWorkersTimeout: '60s',
}

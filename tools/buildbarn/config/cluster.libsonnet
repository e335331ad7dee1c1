// What the daemons of one cluster share. They read environment variables by std.extVar.
{
  dir: std.extVar('BB_DIR'),
  // Between daemons there are sockets below the directory, so that none can join another
  // cluster whose port it was given.
  clients: self.dir + '/clients',  // of the scheduler: the storage passes actions on to it
  workers: self.dir + '/workers',
  storage: std.extVar('BB_STORAGE'),
  state: std.extVar('BB_STATE'),
  maximumMessageSizeBytes: 4 * 1024 * 1024,
  server: {
    authenticationPolicy: { allow: {} },
    maximumReceivedMessageSizeBytes: $.maximumMessageSizeBytes,
  },
  allow: { allow: {} },
}

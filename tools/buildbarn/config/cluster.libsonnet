// The settings that all daemons of a cluster share. std.extVar reads environment variables.
{
  dir: std.extVar('BB_DIR'),
  // Daemons use sockets below the directory, so that none can join another cluster whose port
  // it was given.
  clients: self.dir + '/clients',  // the scheduler's: the storage forwards actions to it
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

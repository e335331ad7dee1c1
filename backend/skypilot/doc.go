// Package skypilot runs sessions and sandboxes on clusters of machines that SkyPilot launches: on clouds,
// Kubernetes and Slurm. The kind of backend, for blocks of the configuration, is in kind.go.
//
// A Pool has clusters of one kind, for the resources that a problem needs. It launches a cluster when the
// first node needs a slot, and more, up to a limit, while the queue is long (graph.Backlog). Each cluster
// runs one job, a worker of package worker, for any number of nodes: a job takes SkyPilot seconds, a
// session milliseconds.
//
// A cluster costs money until it is ended. So a Lease, a file of the project with a proof of the user's
// key, is written before SkyPilot is called, and removed when the cluster no longer exists. A run that
// finds the lease of a dead run adopts the cluster, with the work that continues there, if it can use it,
// and ends it otherwise. A worker without a run ends itself, SkyPilot then ends the idle cluster, and the
// provider has an additional time limit.
//
// Machines report their identity to the facts of package facts, so decisions launch no machine; each new
// cluster is compared with the facts before it gets work. If a cluster is taken away, work on it fails
// with a *backend.PreemptedError.
//
// An API server that a run starts is a command in a local session, so that it is registered and ended like
// other sessions; clusters outlive it.
package skypilot

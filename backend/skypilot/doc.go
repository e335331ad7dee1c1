// Package skypilot runs sessions and sandboxes on clusters of machines that SkyPilot launches: on clouds,
// Kubernetes and Slurm. The kind of backend, for blocks of the configuration, is in kind.go.
//
// A Pool has clusters of one kind, for the resources that a problem needs. The first node that needs a slot
// makes it launch a cluster; more follow, up to a limit, while the queue would take long (graph.Backlog). On
// each cluster runs one job, a worker of package worker, which serves any number of nodes one after another:
// a job costs SkyPilot seconds, a session milliseconds.
//
// A cluster costs money until it is ended. So a Lease, a file of the project with a proof of the user's key,
// is written before SkyPilot is called, and removed when SkyPilot has no such cluster any more. A run that
// finds the lease of a run that died adopts the cluster if it can use it, with the work that goes on there,
// and ends it otherwise. A worker without a run ends itself, SkyPilot then ends the idle cluster, and the
// provider has a limit on top.
//
// Machines report their identity to the facts of package facts, so deciding launches nothing; each new
// cluster is compared with them before it gets work. A cluster that is taken away is a
// *backend.PreemptedError for the work on it.
//
// An API server that a run starts is a command in a local session, so that it is registered and ended as any
// other; clusters outlive it.
package skypilot

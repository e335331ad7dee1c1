// Package graph is the engine: it decides which nodes of a directed acyclic graph are stale, runs only
// those, and explains why.
//
// A node's manifest lists everything that can change its outputs; the SHA-256 of the manifest is the node's
// key; the key's record in the store names the outputs. A dependency enters a manifest by the digests of the
// outputs that are consumed, never by its own key, so equal outputs stop the wave (early cutoff). In the
// terms of "Build Systems à la Carte": a suspending scheduler with constructive traces.
//
//	unknown -> fresh ........................................ cached
//	       \-> stale -> queued(pool) -> running -> done | failed | timeout   stored
//	                       ^               |-----> broken                    never stored
//	                       '-- retrying <--'
//	upstream failed or broken -> blocked        run ended first -> interrupted
//	a device is absent -> skipped
//
// Work whose error is a FailedError has also failed, but is not stored, and the next run tries again. A
// dry run with Options.Pretend gives each node a key, as if all had run.
//
// The caller builds a Graph of Nodes, dependencies first, and calls Execute. The package does not know
// HCL, pytest, containers or verdicts: a node's work is its Task, which can also be a Predictor, a
// Validator or a Refuser.
//
// # Decisions and attempts
//
// Workers decide and run nodes; Options bounds both separately. A decision reads a snapshot of the node's
// dependencies, never the state of the scheduler, whose lock is held only while a result is applied. A
// slow decision therefore only delays nodes that depend on it. A decision looks for the key in the last
// answer of the node, without reading a file, and then in the store.
//
// Stale nodes wait in queues, the longest expected chain first. Nodes that need the same exclusive
// resource, such as a port, or have the same key, run one after another, and hold no slot while they wait.
// The worker holds the lock of the key, so that processes which share a store do the work once.
//
// Nodes that the caller knows to be fresh enter the graph as Rows. They are pinned to their answers: no
// decision, no event.
//
// # How work ends
//
// The result of work that ran to its end, good or bad, is an Outcome, and is stored. An error of a Task
// means that the infrastructure failed. The reaction depends on the error:
//
//   - an InputError is the user's to fix: the node is failed, and nothing else stops;
//   - a PreemptedError: the machine was taken away. The work is repeated immediately, at most
//     maxPreemptions times, without counting as an attempt;
//   - a CrowdedError, or an error of an exhausted machine: other work might have used the resource. The work
//     is repeated once without concurrent attempts;
//   - a blob is missing or damaged: the node waits for another pass of the execution, which runs the
//     blob's producer again, then the node. Other dependents are decided again if outputs differ;
//   - a source changed while it was read: the node is decided again;
//   - an AbsentError: the node is skipped;
//   - an UnknownError, in a dry run: the key depends on an input that must not be queried. It is unknown
//     whether the node is fresh, and it is blocked;
//   - any other: Node.Retry decides whether there is another attempt; otherwise the node is broken.
//
// A submission that cannot be judged through its author's fault is not an error: its node is done and has
// the output RefusedOutput. Dependents pass that on until a Refuser turns it into a verdict.
package graph

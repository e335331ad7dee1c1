// Package provenance writes the evidence for the verdicts of a run into one file, a bundle, and checks a
// bundle without the project, the store or the machine that it came from.
//
// A bundle is an archive of package cache/pack:
//
//	cas/<sha256>      manifests, whose names are keys, and the blobs of results and logs
//	extra/entries     a line of JSON for each node, by key, then one for each verdict
//	extra/statement   a DSSE envelope around an in-toto statement
//
// A node's line contains its outputs and the nodes that made the inputs in its manifest. A verdict's line
// names the node that gave it. The statement is a test result of in-toto; its subject is the SHA-256 of all lines.
// Any change of a line, a manifest or a blob changes that, or contradicts a line.
//
// A signature cannot show that the signer told the truth. For that, a user with the tests draws verdicts and
// makes them again.
package provenance

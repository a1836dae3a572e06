// Package own builds the reference of a user (a folder with a Go package, --ref) and runs it in a process of its own,
// under limits. The program consists of models/ref and the folder's files, and of nothing else of nictwin: device,
// artifacts and verdict stay with the player, whatever the reference does.
//
// Build: the folder's files are read once. Their contents, the packages of models that a reference may import, and the
// Go toolchain determine the program's name in the build cache. The build holds a lock, as builds of devices do, so the
// folder may change meanwhile and two players may build the same program.
//
// Run: each run of a device has a new process, so no run knows of others. The process has its own pipes for requests
// and answers (models/ref/remote) and no standard input; its output goes to the player's stderr, up to a limit. Its own
// memory (RLIMIT_DATA) and the time of each call into the reference are limited.
//
// Verdict: the end of a process is never one. If a process ends early or has to be killed, that is a mistake of the
// reference if Go's trace or the call in progress names a line (*RefError), and otherwise of unknown cause
// (*LostError). A run passes only if the process answers that it has, with the run's nonce, the request's number and
// the number of all transactions of the run.
//
// It is no sandbox: the reference has the rights of the user who plays it.
package own

// Package own builds the reference of a user (a folder with a Go package, --ref) and runs it in a process of its own,
// under limits. The program has models/ref and the folder's files in it, and nothing else of nictwin: device,
// artifacts and verdict stay with the player, however the reference fares.
//
// Built: the folder's files are read once. What was read, the packages of models that a reference may import, and the
// Go toolchain give the name of the program in the build cache, which is made under a lock as builds of devices are.
// The folder may change meanwhile, and two players may build the same.
//
// Run: each run of a device has a new process, so no run knows of others. The process has pipes of its own for
// requests and answers (models/ref/remote), no standard input, and its output goes to the player's stderr, up to a
// limit. It may use so much memory of its own (RLIMIT_DATA), and each call into the reference so much time.
//
// Judged: how a process ends is no verdict. One that ends by itself, or that has to be ended, is a mistake of the
// reference where Go's trace or the call under way tells a line (*RefError), and else unknown (*LostError). A run has
// passed when the process has answered so, with the run's nonce, the request's number and the count of all
// transactions of the run.
//
// It is no sandbox: the reference has the rights of the user who plays it.
package own

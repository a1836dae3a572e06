// Package place says where the buffers of a workload's messages lie on a server: in host memory, in the Arm memory of
// its card, or in a GPU behind the host's root. It checks that a board has the memory, and that software can use it.
//
// Applications run on cores of the host. What they read and write elsewhere takes the time that the board says: GPUs
// through their link and the caches, Arm memory through the register accesses that firmware emulates (Core).
//
// It knows neither stacks nor NICs: to these, a buffer is an address.
package place

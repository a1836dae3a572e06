// Package apps is applications over package verbs: workloads that run on two
// servers over any stack, and check every byte that arrives.
//
// A workload is a number of flows. A flow is a queue pair on each server: the
// client's asks, the server's answers or only has the memory. What a message
// holds follows from the seed, the flow, the message's number and the offset of
// each byte, so that the receiver knows what must come, and tells the first byte
// that is wrong by address, message and offset.
//
// An application reads and writes its memory through Core, as software does that
// runs there, and takes completions when the stack tells of them. The two servers
// share nothing while messages flow: addresses, keys and numbers of queue pairs
// are exchanged before, as over a connection of their own.
//
// It is not a stack, and knows neither NIC nor board nor time; it measures
// nothing. Who runs it decides how long it may take.
//
// Invariants:
//   - The same spec over stacks that keep to package verbs gives the same result
//     (Result.Digest), whatever the timing; where timing decides, the spec's kind
//     or options say so, and Compare says what remains equal.
//   - In steady state nothing is allocated.
package apps

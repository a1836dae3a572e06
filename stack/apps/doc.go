// Package apps runs applications on package verbs: workloads between pairs of servers, over any stack, that check
// every byte they receive.
//
// A workload consists of flows. A flow is a queue pair on each server: the client's end issues requests, the server's
// end answers them or only provides memory. The content of a message follows from the seed, the flow, the message's
// number and the offset of each byte, so the receiver knows what to expect and reports the first wrong byte by address,
// message and offset.
//
// An application reads and writes its memory through Core, as software on that core would, and takes completions when
// the stack notifies it. Servers share nothing while messages flow: addresses, keys and queue pair numbers are
// exchanged beforehand, as if over a separate connection.
//
// Package apps is not a stack, knows neither NIC nor board nor time, and measures nothing. The caller decides how long
// a run may take.
//
// Invariants:
//   - The same spec gives the same result (Result.Digest) over every stack that follows package verbs, whatever the
//     timing. Where timing matters, the spec's kind or options say so, and Compare says what must still be equal.
//   - In steady state nothing is allocated.
package apps

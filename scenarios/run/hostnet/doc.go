// Package hostnet plays the workloads of a scenario over UDP: servers run stack/hostnet on cores of the host, with the
// path of CEIO, of one of its rivals (stack/baseline) or of plain DDIO, clients the same stack without any.
//
// A Net has the flows of all workloads. Each flow is a pair of UDP ports with an application at either end (those of
// stack/hostnet/apps), wrapped so that it begins and ends with its workload, and so that its messages are recorded and
// stamped. Node is the stack of one server; Run the part of one workload, in the way of stack/apps.
//
// A server's flows use the cores of the host's first socket in turn, from the first one on. Connections of CEIO beyond
// its accounts share a ring, and with it one core. HostCC has the last core for its control loop.
//
// Check compares a scenario with stacks and boards, before anything is built. Every error names a field.
//
// Invariants:
//   - Every request is taken by its server and answered, once each, or the run does not end; datagrams may be lost.
//   - What the applications took is the same on every NIC, in the order of messages, unless a workload has an end or
//     datagrams may be lost.
package hostnet

// Package shring is the receive path of ShRing, a rival of CEIO: all flows of a server share one receive ring, small
// enough for its buffers to stay in the last-level cache. It is the hostnet.Path of a node's flows.
//
// The rule of each flow leads to the one queue. Every core goes through all completion entries and takes the packets of
// its own flows, which it knows by the rule in the entry; those of other cores it has looked at for nothing. So n cores
// load each entry n times, and the entry's line moves to n private caches.
//
//	NIC ──▶ one ring ──┬─▶ core 0 ──▶ packets of its flows
//	                   ├─▶ core 1        each core: load the entry, compare its rule
//	                   └─▶ core n
//
// Buffers that were processed go on a list in host memory, each at a place of its own, so that this takes no lock;
// posting does. A core that finds enough buffers there, and the lock free, posts them and rings the doorbell at the
// begin of a step; it keeps the lock until both have taken effect. A core that finds the lock taken leaves the buffers
// to the next one. A descriptor is posted only when all
// cores have passed the entry that was at its place, so one slow core keeps the whole ring short, as does a flow whose
// packets are held.
//
// What finds no descriptor is dropped by the NIC [R9]; the sender repairs it, and DCTCP takes it as congestion. Nothing
// else slows senders down.
//
// Charged are: loads of entries, Spec.ScanCycles for each, stores and loads of the list, one load and one store of the
// lock for each time that it is taken, and a load where it is found taken. Not charged is how cores agree on places of
// the list, as if each took many at once.
//
// Invariants: those of package ring; a packet is handed to the flow that its rule names.
package shring

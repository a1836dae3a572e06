// Package rnicspec is the programming interface of models/rnic: what software that drives such a
// NIC has to know. It has the register map, the layouts of work, receive and completion entries,
// and the commands. The stack may import it, and nothing else of rnic.
//
// Every layout is a plain struct with Encode and Decode, little-endian. Encode never changes what
// it encodes; Decode takes any bytes.
//
// How software posts a work entry:
//   - by MMIO: it writes the 64 bytes of the entry, including inline data, to the ring, and then to
//     the push window of the queue pair. The NIC reads nothing, unless it has not caught up with
//     entries rung for before; or
//   - by a doorbell: it writes entries to the ring in memory, then the producer index to the send
//     doorbell. One doorbell serves any number of entries; the NIC reads them by DMA.
//
// An entry may be pushed only when every entry before it was pushed or rung for.
//
// Completion entries carry a phase bit that inverts with each pass of the ring. The NIC does not
// check how far software has read: a completion queue must have as many entries as can be
// outstanding.
//
// Memory regions are contiguous in bus addresses [P1]; their page size only decides how much of a
// region an entry of the translation cache covers.
//
// It has no time and no state.
package rnicspec

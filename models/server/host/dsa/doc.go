// Package dsa is a server's copy engine (Intel calls it DSA): software submits
// descriptors and is notified by a completion record in memory.
//
// A descriptor waits in the queue for one of the Engines, which begins Latency
// later, reads the source in chunks, Ahead at a time, and writes each chunk when
// its data arrive; all engines share Rate. When the last byte has taken effect,
// the completion record is written, and then Done is called. The bytes are those
// of memory at the time of the read. Accesses are a device's: they allocate in
// the last-level cache according to its mask. Portal is the register to which a core writes descriptors
// (models/server/cpu): 64 B each, by one write-combined register write.
//
// Not modelled: operations other than copies (CRC, compare, fill), batch
// descriptors, page faults, queue priorities.
//
// Invariants:
//   - Bytes read = bytes written + bytes held.
//   - A completion record reaches memory after the bytes that it reports.
//   - Results do not depend on the order of events within one instant, except
//     that of memory's completions.
//   - Nothing is allocated per descriptor, once the engine has been busy.
//
// Sources of the preset: 30 GB/s, four engines and 128 descriptors from public
// descriptions of the part in Sapphire Rapids; 500 ns from a descriptor to its
// first read, 1 KB chunks, 8 of them per engine: all of these are assumptions,
// as the papers print none.
package dsa

// Package dsa is a server's engine for copies (Intel calls it DSA): software
// hands it descriptors and is told by a completion record in memory.
//
// A descriptor waits in the queue for one of the Engines, which begins Latency
// later, reads the source in chunks, Ahead at a time, and writes each when it
// came; all engines share Rate. When the last byte took effect, the completion
// record is written, and then Done called. The bytes are those that memory has
// when they are read. Accesses are a device's: they allocate in the last-level
// cache as its mask says.
//
// What is missing: other operations than copies (CRC, compare, fill), batch
// descriptors, page faults, priorities of queues.
//
// Invariants:
//   - Bytes read are bytes written and bytes held.
//   - A completion record is in memory after the bytes that it tells of.
//   - Results do not depend on the order of events within one instant, but for
//     that of what memory does.
//   - Nothing is allocated per descriptor, once the engine was busy.
//
// Where the preset comes from: 30 GB/s, four engines and 128 descriptors as
// public descriptions of the part in Sapphire Rapids give them; 500 ns from a
// descriptor to its first read, 1 KB chunks, 8 of them an engine: all of that is
// an assumption, for the papers print none.
package dsa

// Package trace records what the referee saw: every crossing as a line of JSON, and every compared
// frame as two packets of a pcapng file, one on the interface "golden" (expected) and one on "dut"
// (received).
//
// It judges nothing and keeps nothing in memory: what is found out about a frame after it was
// written is added by copying the file, see [Annotate]. gopacket's pcapng writer cannot write
// packet comments, which carry the mismatch; hence the small writer here.
//
// Invariants:
//   - The first error of the underlying writer sticks and is returned by Close; calls after it do
//     nothing.
//   - A file has whole records only, whenever the program is killed between two writes, and when a write fails.
//   - A file keeps to its limit in bytes. What no longer fits is counted, and the file says at its
//     end that it was cut.
//   - The same crossings give the same bytes.
package trace

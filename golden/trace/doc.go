// Package trace writes down what the referee saw: every crossing as a line of JSON, and every frame that was compared
// as two packets of a pcapng file, once on the interface "golden" (what had to come) and once on "dut" (what came).
//
// It judges nothing and keeps nothing in memory: what is found out about a frame after it was written is added by a
// copy of the file, see [Annotate]. gopacket's pcapng writer cannot write packet comments, which carry the mismatch;
// hence the small one here.
//
// Invariants:
//   - The first error of the underlying writer sticks and is returned by Close; calls after it do nothing.
//   - A file keeps to its limit in bytes. What no longer fits is counted, and the file says at its end that it was cut.
//   - The same crossings give the same bytes.
package trace

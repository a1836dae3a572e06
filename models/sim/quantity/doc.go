// Package quantity reads and writes quantities with units: 1.5us, 64KiB, 200Gbps, 25GB/s, 1.1GHz.
//
// A quantity is an integer of its smallest unit: a picosecond, a byte, a bit a second, a hertz. A text may have a
// decimal fraction as long as the result is such an integer. Prefixes are powers of 1000 (KB, GB/s, Mbps), or of 1024
// with an i (KiB).
//
// The types implement specfile.WordDecoder and encoding.TextMarshaler, so specs may have fields of them.
//
// Invariants:
//   - No floats: a text means exactly one integer, or an error says what would be right.
//   - Parsing the String of a quantity that is not negative gives the same quantity.
package quantity

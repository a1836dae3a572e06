// Package capture reads the frames of capture files one by one: pcap and pcapng, both byte orders, micro- and
// nanosecond time stamps, plain or compressed by gzip, from files and pipes.
//
// A Reader checks every length before it uses it, and reports damage with its offset in the file. A file that ends in
// the middle of a packet, as after killing tcpdump, is not damaged but cut off: its complete packets are read, and
// CutOff reports the missing bytes. Frames may have any content: truncated, tiny, giant and malformed ones are traffic.
//
// A File can be read any number of times: reading a pipe for the first time copies it into a temporary file without a
// name.
//
// It does not dissect packets. Link types that contain a whole Ethernet frame are unwrapped; others are refused, with
// the name of a tool that converts them, if there is one.
//
// Invariants:
//   - Memory holds one packet or block at a time.
//   - Whatever is left out of a file is counted: packets without a byte, sections of an unknown version, a packet cut
//     off.
//   - A prefix of a file contains a prefix of its packets.
package capture

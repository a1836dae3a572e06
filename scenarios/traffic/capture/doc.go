// Package capture reads the frames of capture files one by one: pcap and pcapng, both byte orders, micro- and nanosecond
// time stamps, plain or packed by gzip, from files and pipes.
//
// A Reader checks every length before it trusts it, and tells damage with the offset at which it lies. A file that ends in
// the middle of a packet is no damage but cut off, as that of a tcpdump that was killed: what is whole is read, and CutOff
// says what is missing. What is captured in a frame does not matter here: truncated, tiny, giant and malformed frames are
// traffic.
//
// A File can be read any number of times. A pipe is kept in a temporary file without a name while it is read first.
//
// It is not a packet dissector. Link types that hold a whole Ethernet frame are unwrapped; of others it names the tool that
// converts them, if there is one, and refuses them.
//
// Invariants:
//   - What is kept in memory is one packet or block.
//   - What is not played of a file (packets without a byte, sections of an unknown version, a packet that is cut off) is counted.
//   - A prefix of a file holds a prefix of its packets.
package capture

// Package capture reads the frames of a capture file: pcap and pcapng, both byte orders, micro- and nanosecond
// time stamps, Ethernet link type.
//
// Content is decoded by gopacket's pcapgo. Before that the file's structure is walked once, so that a file that is
// cut off or damaged is refused with the offset of the fault, and no length in it is trusted unchecked. What is
// captured in a frame is nobody's business here: truncated, tiny, giant and malformed frames are traffic.
//
// It is not a packet dissector, and it does not read link types other than Ethernet: it names them and refuses.
//
// Invariant: a file is read whole or not at all; what is not played of it (packets without a byte, sections of an unknown
// version) is counted.
package capture

// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

// Structs lists the field tables of all structures.
var Structs = [...]*StructInfo{
	&RxDescInfo,
	&WqeInfo,
	&WqeMoreInfo,
	&SegInfo,
	&RxCqeInfo,
	&TxCqeInfo,
	&RxqEntryInfo,
	&TxqEntryInfo,
	&KeyEntryInfo,
	&SteerKeyInfo,
	&RuleEntryInfo,
	&IndirectionEntryInfo,
	&AccountEntryInfo,
	&PortEntryInfo,
	&InvalidateMsgInfo,
}

// RxDescInfo is the field table of RxDesc.
var RxDescInfo = StructInfo{Name: "RxDesc", Bytes: 16, Doc: "receive descriptor, in the ring at ring_base + 16 * (index mod size)", Fields: []FieldInfo{
	{Name: "hdr_addr", Bit: 0, Width: 64, Doc: "bus address of the header buffer; unused when nothing is split off"},
	{Name: "pay_addr", Bit: 64, Width: 64, Doc: "bus address of the payload buffer"},
}}

// WqeInfo is the field table of Wqe.
var WqeInfo = StructInfo{Name: "Wqe", Bytes: 64, Doc: "transmit work entry, or its first block, in the ring at ring_base + 64 * (index mod size)", Fields: []FieldInfo{
	{Name: "opcode", Bit: 0, Width: 8, Enum: func(v uint64) string { return Opcode(v).String() }, Doc: "what to do"},
	{Name: "nseg", Bit: 8, Width: 8, Doc: "number of pieces, 0..8; inline bytes and pieces must fit the entry's slots"},
	{Name: "inline_len", Bit: 16, Width: 8, Doc: "number of inline bytes, 0..176, with which the frame begins; inline bytes and pieces must fit the entry's slots"},
	{Name: "port", Bit: 24, Width: 8, Doc: "Ethernet port"},
	{Name: "f_complete", Bit: 32, Width: 1, Doc: "write a completion entry even if the status is Ok"},
	{Name: "f_ip_csum", Bit: 33, Width: 1, Doc: "insert the IPv4 header checksum"},
	{Name: "f_udp_csum", Bit: 34, Width: 1, Doc: "insert the UDP checksum"},
	{Name: "f_udp_zero", Bit: 35, Width: 1, Doc: "set the UDP checksum to zero"},
	{Name: "f_icrc", Bit: 36, Width: 1, Doc: "insert the ICRC"},
	{Name: "f_crc32c", Bit: 37, Width: 1, Part: PartCrc32c, Doc: "insert a CRC-32C over the payload; status BadOffload in a build without the part"},
	{Name: "f_pad", Bit: 38, Width: 1, Doc: "append zero bytes until the frame has 60 bytes"},
	{Name: "f_fence", Bit: 39, Width: 1, Part: PartFence, Doc: "copies: the first write leaves after all writes and messages of the queue's earlier entries; reserved without the part"},
	{Name: "f_append", Bit: 40, Width: 1, Part: PartAppend, Doc: "append pad bytes and the ICRC; reserved without the part"},
	{Name: "f_rsvd", Bit: 41, Width: 5, Doc: "zero, else BadFormat"},
	{Name: "blocks", Bit: 46, Width: 2, Part: PartLong, Doc: "blocks of the entry beyond its first; reserved without the part"},
	{Name: "crc_off", Bit: 48, Width: 16, Part: PartCrc32c, Doc: "where the CRC-32C is written; ignored without the part"},
	{Name: "wqe_id", Bit: 64, Width: 32, Doc: "returned in the completion entry"},
	{Name: "l3_off", Bit: 96, Width: 8, Doc: "offset of the IP header, for the offloads"},
	{Name: "l4_off", Bit: 104, Width: 8, Doc: "offset of the UDP header, for the offloads"},
	{Name: "crc_start", Bit: 112, Width: 16, Part: PartCrc32c, Doc: "first byte that the CRC-32C covers; ignored without the part"},
	{Name: "slots", Bit: 128, Width: 384, Bytes: true, Doc: "inline bytes in the first ceil(inline_len/16) slots, counted over all blocks, then nseg pieces, one a slot; other slots are ignored"},
}}

// WqeMoreInfo is the field table of WqeMore.
var WqeMoreInfo = StructInfo{Name: "WqeMore", Bytes: 64, Doc: "a further block of a work entry: four more slots", Fields: []FieldInfo{
	{Name: "slots", Bit: 0, Width: 512, Bytes: true, Part: PartLong, Doc: "the slots after those of earlier blocks"},
}}

// SegInfo is the field table of Seg.
var SegInfo = StructInfo{Name: "Seg", Bytes: 16, Doc: "one piece of a frame", Fields: []FieldInfo{
	{Name: "key", Bit: 0, Width: 32, Doc: "memory key: index in bits 15:0, variant in 31:24, bits 23:16 zero"},
	{Name: "len", Bit: 32, Width: 32, Doc: "bytes, not zero"},
	{Name: "addr", Bit: 64, Width: 64, Doc: "virtual address inside the key's range"},
}}

// RxCqeInfo is the field table of RxCqe.
var RxCqeInfo = StructInfo{Name: "RxCqe", Bytes: 64, Doc: "receive completion entry; reserved bytes are zero", Fields: []FieldInfo{
	{Name: "type", Bit: 0, Width: 8, Enum: func(v uint64) string { return CqeType(v).String() }, Doc: "Rx, or Event when the queue entered the error state"},
	{Name: "status", Bit: 8, Width: 8, Enum: func(v uint64) string { return Status(v).String() }, Doc: "Ok, or the failing read's status in an Event"},
	{Name: "queue", Bit: 16, Width: 16, Doc: "receive queue"},
	{Name: "index", Bit: 32, Width: 16, Doc: "descriptor consumed (free-running); in an Event the first descriptor of the failing read"},
	{Name: "rule", Bit: 48, Width: 16, Doc: "rule that matched, 0xffff for the default action"},
	{Name: "port_seq", Bit: 64, Width: 32, Doc: "ordinal of the frame on its port, from 0; dropped frames count"},
	{Name: "frame_len", Bit: 96, Width: 16, Doc: "bytes of the frame"},
	{Name: "hdr_len", Bit: 112, Width: 16, Doc: "bytes written to the header buffer"},
	{Name: "l3_type", Bit: 128, Width: 2, Enum: func(v uint64) string { return L3Type(v).String() }, Doc: "network layer"},
	{Name: "l4_type", Bit: 130, Width: 2, Enum: func(v uint64) string { return L4Type(v).String() }, Doc: "transport layer"},
	{Name: "vlan_count", Bit: 132, Width: 2, Doc: "VLAN tags, 0..2"},
	{Name: "frag", Bit: 134, Width: 1, Doc: "IPv4 fragment (MF set or offset not zero)"},
	{Name: "roce", Bit: 135, Width: 1, Doc: "a BTH was parsed"},
	{Name: "ip_len_bad", Bit: 136, Width: 1, Doc: "the IP length does not fit header or frame"},
	{Name: "l4_len_bad", Bit: 137, Width: 1, Doc: "the UDP length does not fit header or frame"},
	{Name: "ip_csum", Bit: 138, Width: 2, Enum: func(v uint64) string { return Verdict(v).String() }, Doc: "IPv4 header checksum"},
	{Name: "l4_csum", Bit: 140, Width: 2, Enum: func(v uint64) string { return Verdict(v).String() }, Doc: "UDP checksum"},
	{Name: "icrc", Bit: 142, Width: 2, Enum: func(v uint64) string { return Verdict(v).String() }, Doc: "ICRC"},
	{Name: "crc32c", Bit: 144, Width: 2, Enum: func(v uint64) string { return Verdict(v).String() }, Part: PartCrc32c, Doc: "payload CRC-32C; zero without the part"},
	{Name: "slow_path", Bit: 146, Width: 1, Part: PartAccounts, Doc: "delivered to a slow-path ring; zero without the part"},
	{Name: "port", Bit: 152, Width: 8, Doc: "Ethernet port"},
	{Name: "vlan_outer", Bit: 160, Width: 16, Doc: "TCI of the first tag, zero without one"},
	{Name: "vlan_inner", Bit: 176, Width: 16, Doc: "TCI of the second tag, zero without one"},
	{Name: "l3_off", Bit: 192, Width: 8, Doc: "offset of the network header (14 + 4 per tag), whatever l3_type is"},
	{Name: "l4_off", Bit: 200, Width: 8, Doc: "offset of the transport header, zero if l4_type = None"},
	{Name: "payload_off", Bit: 208, Width: 16, Doc: "end of the headers that were parsed"},
	{Name: "rss_hash", Bit: 224, Width: 32, Part: PartRss, Doc: "Toeplitz hash of the frame; zero without the part"},
	{Name: "ethertype", Bit: 256, Width: 16, Doc: "EtherType after the tags"},
	{Name: "ip_proto", Bit: 272, Width: 8, Doc: "IPv4 protocol or IPv6 next header, zero without IP"},
	{Name: "ip_tos", Bit: 280, Width: 8, Doc: "IPv4 ToS or IPv6 traffic class, zero without IP"},
	{Name: "src_port", Bit: 288, Width: 16, Doc: "L4 source port, zero if l4_type = None"},
	{Name: "dst_port", Bit: 304, Width: 16, Doc: "L4 destination port, zero if l4_type = None"},
	{Name: "bth_opcode", Bit: 320, Width: 8, Doc: "BTH opcode; without a BTH it and the next four fields are zero"},
	{Name: "bth_flags", Bit: 328, Width: 8, Doc: "second byte of the BTH: SE, M, PadCnt, TVer"},
	{Name: "pkey", Bit: 336, Width: 16, Doc: "P_Key"},
	{Name: "dest_qp", Bit: 352, Width: 32, Doc: "destination QP in bits 23:0; bits 31:24 zero"},
	{Name: "psn", Bit: 384, Width: 32, Doc: "PSN in bits 23:0, AckReq in bit 31; bits 30:24 zero"},
	{Name: "crc32c_value", Bit: 416, Width: 32, Part: PartCrc32c, Doc: "CRC-32C of the payload, zero where [X3] gives none; zero without the part"},
	{Name: "account_seq", Bit: 448, Width: 32, Part: PartAccounts, Doc: "ordinal of the frame in its credit account; zero without the part"},
	{Name: "pay_len", Bit: 480, Width: 16, Part: PartTrim, Doc: "bytes written to the payload buffer; zero without the part"},
	{Name: "phase", Bit: 504, Width: 1, Doc: "1 on the first lap of the ring, then toggling"},
}}

// TxCqeInfo is the field table of TxCqe.
var TxCqeInfo = StructInfo{Name: "TxCqe", Bytes: 64, Doc: "transmit completion entry; reserved bytes are zero", Fields: []FieldInfo{
	{Name: "type", Bit: 0, Width: 8, Enum: func(v uint64) string { return CqeType(v).String() }, Doc: "Tx, or Event when the queue entered the error state"},
	{Name: "status", Bit: 8, Width: 8, Enum: func(v uint64) string { return Status(v).String() }, Doc: "how the work entry ended, or the status of the failing read in an Event"},
	{Name: "queue", Bit: 16, Width: 16, Doc: "transmit queue"},
	{Name: "index", Bit: 32, Width: 16, Doc: "work entry (free-running); in an Event the first block of the failing read"},
	{Name: "wqe_id", Bit: 64, Width: 32, Doc: "from the work entry; zero in an Event"},
	{Name: "frame_len", Bit: 96, Width: 16, Doc: "bytes that left, padding included; zero unless a frame left"},
	{Name: "phase", Bit: 504, Width: 1, Doc: "1 on the first lap of the ring, then toggling"},
}}

// RxqEntryInfo is the field table of RxqEntry.
var RxqEntryInfo = StructInfo{Name: "RxqEntry", Bytes: 64, Doc: "table Rxq", Fields: []FieldInfo{
	{Name: "enable", Bit: 0, Width: 8, Doc: "1 enables and resets the indices, 0 disables; other values BadValue"},
	{Name: "split_mode", Bit: 8, Width: 8, Enum: func(v uint64) string { return SplitMode(v).String() }, Doc: "header split"},
	{Name: "log_size", Bit: 16, Width: 8, Doc: "log2 of the ring size, 2..15; the completion ring has the same size"},
	{Name: "state", Bit: 24, Width: 8, Enum: func(v uint64) string { return QueueState(v).String() }, ReadOnly: true, Doc: "state of the queue; ignored on write"},
	{Name: "split_len", Bit: 32, Width: 16, Doc: "mode Fixed: bytes to split off"},
	{Name: "hdr_buf_size", Bit: 48, Width: 16, Doc: "bytes of a header buffer; not zero when splitting"},
	{Name: "pay_buf_size", Bit: 64, Width: 16, Doc: "bytes of a payload buffer; not zero"},
	{Name: "error", Bit: 80, Width: 8, Enum: func(v uint64) string { return Status(v).String() }, ReadOnly: true, Doc: "why the queue is in the error state"},
	{Name: "trim", Bit: 88, Width: 8, Part: PartTrim, Doc: "1: pad and ICRC of RoCE frames are not written to memory; above 1 BadValue; must be zero without the part, else NotBuilt"},
	{Name: "ring_base", Bit: 128, Width: 64, Doc: "bus address, 64 B aligned"},
	{Name: "cq_base", Bit: 192, Width: 64, Doc: "bus address, 64 B aligned"},
	{Name: "msix_addr", Bit: 256, Width: 64, Part: PartMsix, Doc: "bus address that messages are written to, zero for none; must be zero without the part, else NotBuilt"},
	{Name: "msix_data", Bit: 320, Width: 32, Part: PartMsix, Doc: "data of messages; ignored without the part"},
	{Name: "mod_count", Bit: 352, Width: 16, Part: PartMsix, Doc: "completion entries per message; ignored without the part"},
	{Name: "mod_cycles", Bit: 368, Width: 16, Part: PartMsix, Doc: "longest wait of a completion entry for its message in units of 64 cycles, zero for no limit; ignored without the part"},
	{Name: "pi", Bit: 384, Width: 16, ReadOnly: true, Doc: "producer index; ignored on write"},
	{Name: "ci", Bit: 400, Width: 16, ReadOnly: true, Doc: "descriptors consumed; ignored on write"},
	{Name: "cqi", Bit: 416, Width: 16, ReadOnly: true, Doc: "completion entries written; ignored on write"},
	{Name: "crc_mode", Bit: 432, Width: 8, Enum: func(v uint64) string { return CrcMode(v).String() }, Part: PartCrc32c, Doc: "payload CRC-32C; must be zero without the part, else NotBuilt"},
	{Name: "ecn_mode", Bit: 440, Width: 8, Part: PartEcn, Doc: "1: frames with ECN 1 or 2 are written with ECN 3; above 1 BadValue; must be zero without the part, else NotBuilt"},
}}

// TxqEntryInfo is the field table of TxqEntry.
var TxqEntryInfo = StructInfo{Name: "TxqEntry", Bytes: 64, Doc: "table Txq", Fields: []FieldInfo{
	{Name: "enable", Bit: 0, Width: 8, Doc: "as in RxqEntry"},
	{Name: "log_size", Bit: 16, Width: 8, Doc: "as in RxqEntry"},
	{Name: "state", Bit: 24, Width: 8, Enum: func(v uint64) string { return QueueState(v).String() }, ReadOnly: true, Doc: "state of the queue; ignored on write"},
	{Name: "error", Bit: 80, Width: 8, Enum: func(v uint64) string { return Status(v).String() }, ReadOnly: true, Doc: "why the queue is in the error state"},
	{Name: "ring_base", Bit: 128, Width: 64, Doc: "bus address, 64 B aligned"},
	{Name: "cq_base", Bit: 192, Width: 64, Doc: "bus address, 64 B aligned"},
	{Name: "msix_addr", Bit: 256, Width: 64, Part: PartMsix, Doc: "as in RxqEntry"},
	{Name: "msix_data", Bit: 320, Width: 32, Part: PartMsix, Doc: "as in RxqEntry"},
	{Name: "mod_count", Bit: 352, Width: 16, Part: PartMsix, Doc: "as in RxqEntry"},
	{Name: "mod_cycles", Bit: 368, Width: 16, Part: PartMsix, Doc: "as in RxqEntry"},
	{Name: "pi", Bit: 384, Width: 16, ReadOnly: true, Doc: "producer index; ignored on write"},
	{Name: "ci", Bit: 400, Width: 16, ReadOnly: true, Doc: "blocks of work entries that ended; ignored on write"},
	{Name: "cqi", Bit: 416, Width: 16, ReadOnly: true, Doc: "completion entries written; ignored on write"},
	{Name: "pfc_class", Bit: 432, Width: 8, Part: PartPause, Doc: "priority class 0..7 of the queue's frames, above 7 BadValue; must be zero without the part, else NotBuilt"},
	{Name: "ecn_mode", Bit: 440, Width: 8, Part: PartEcn, Doc: "1..3: ECN bits that the queue's IP frames get; above 3 BadValue; must be zero without the part, else NotBuilt"},
}}

// KeyEntryInfo is the field table of KeyEntry.
var KeyEntryInfo = StructInfo{Name: "KeyEntry", Bytes: 32, Doc: "table Key", Fields: []FieldInfo{
	{Name: "valid", Bit: 0, Width: 8, Doc: "1 valid, 0 not; other values BadValue"},
	{Name: "right_read", Bit: 8, Width: 1, Doc: "the device may read"},
	{Name: "right_write", Bit: 9, Width: 1, Doc: "the device may write"},
	{Name: "variant", Bit: 16, Width: 8, Doc: "must equal bits 31:24 of the key"},
	{Name: "va_base", Bit: 64, Width: 64, Doc: "first virtual address"},
	{Name: "length", Bit: 128, Width: 64, Doc: "bytes; va_base + length must not pass 2^64, else BadValue"},
	{Name: "bus_base", Bit: 192, Width: 64, Doc: "bus address that va_base stands for; bus_base + length must stay inside one endpoint, else BadValue"},
}}

// SteerKeyInfo is the field table of SteerKey.
var SteerKeyInfo = StructInfo{Name: "SteerKey", Bytes: 56, Doc: "fields that rules compare; fields of absent layers are zero", Fields: []FieldInfo{
	{Name: "port", Bit: 0, Width: 8, Doc: "Ethernet port"},
	{Name: "ip_proto", Bit: 8, Width: 8, Doc: "IPv4 protocol or IPv6 next header"},
	{Name: "is_ipv4", Bit: 16, Width: 1, Doc: "l3_type is Ipv4"},
	{Name: "is_ipv6", Bit: 17, Width: 1, Doc: "l3_type is Ipv6"},
	{Name: "is_udp", Bit: 18, Width: 1, Doc: "l4_type is Udp"},
	{Name: "is_tcp", Bit: 19, Width: 1, Doc: "l4_type is Tcp"},
	{Name: "is_roce", Bit: 20, Width: 1, Doc: "a BTH was parsed"},
	{Name: "is_frag", Bit: 21, Width: 1, Doc: "IPv4 fragment"},
	{Name: "ip_len_bad", Bit: 22, Width: 1, Doc: "as in the completion entry"},
	{Name: "l4_len_bad", Bit: 23, Width: 1, Doc: "as in the completion entry"},
	{Name: "has_vlan", Bit: 24, Width: 1, Doc: "at least one tag"},
	{Name: "has_vlan2", Bit: 25, Width: 1, Doc: "two tags"},
	{Name: "ethertype", Bit: 32, Width: 16, Doc: "EtherType after the tags"},
	{Name: "vlan_outer", Bit: 48, Width: 16, Doc: "TCI of the first tag"},
	{Name: "dmac", Bit: 64, Width: 48, Bytes: true, Doc: "destination MAC address"},
	{Name: "ip_tos", Bit: 112, Width: 8, Doc: "IPv4 ToS or IPv6 traffic class"},
	{Name: "bth_opcode", Bit: 120, Width: 8, Doc: "BTH opcode"},
	{Name: "src_addr", Bit: 128, Width: 128, Bytes: true, Doc: "source address; IPv4 in the first four bytes, the rest zero"},
	{Name: "dst_addr", Bit: 256, Width: 128, Bytes: true, Doc: "destination address; IPv4 in the first four bytes, the rest zero"},
	{Name: "src_port", Bit: 384, Width: 16, Doc: "L4 source port"},
	{Name: "dst_port", Bit: 400, Width: 16, Doc: "L4 destination port"},
	{Name: "dest_qp", Bit: 416, Width: 32, Doc: "BTH destination QP in bits 23:0"},
}}

// RuleEntryInfo is the field table of RuleEntry.
var RuleEntryInfo = StructInfo{Name: "RuleEntry", Bytes: 128, Doc: "table Rule", Fields: []FieldInfo{
	{Name: "value", Bit: 0, Width: 448, Bytes: true, Doc: "SteerKey to compare with"},
	{Name: "mask", Bit: 448, Width: 448, Bytes: true, Doc: "bits to compare: 1 for bits that must equal value"},
	{Name: "valid", Bit: 896, Width: 8, Doc: "1 valid, 0 not; other values BadValue"},
	{Name: "action", Bit: 904, Width: 8, Enum: func(v uint64) string { return Action(v).String() }, Doc: "Drop, Queue or Rss; other values BadValue"},
	{Name: "queue", Bit: 912, Width: 16, Doc: "receive queue, or first entry of the RSS group; beyond the queues of this build BadValue"},
	{Name: "account_en", Bit: 928, Width: 8, Part: PartAccounts, Doc: "1: matching frames draw on the account; above 1 BadValue; must be zero without the part, else NotBuilt"},
	{Name: "account", Bit: 936, Width: 8, Part: PartAccounts, Doc: "account that matching frames draw on; ignored without the part"},
	{Name: "slow_queue", Bit: 944, Width: 16, Part: PartAccounts, Doc: "receive queue of the slow path; ignored without the part"},
	{Name: "rss_log", Bit: 960, Width: 8, Part: PartRss, Doc: "action Rss: log2 of the entries of the group; ignored without the part"},
}}

// IndirectionEntryInfo is the field table of IndirectionEntry.
var IndirectionEntryInfo = StructInfo{Name: "IndirectionEntry", Bytes: 4, Doc: "table Indirection", Fields: []FieldInfo{
	{Name: "queue", Bit: 0, Width: 16, Doc: "receive queue; beyond the queues of this build BadValue"},
}}

// AccountEntryInfo is the field table of AccountEntry.
var AccountEntryInfo = StructInfo{Name: "AccountEntry", Bytes: 16, Doc: "table Account", Fields: []FieldInfo{
	{Name: "balance", Bit: 0, Width: 32, Doc: "credits; above 2^24 - 1 BadValue"},
	{Name: "latch", Bit: 32, Width: 8, Doc: "1: once a frame found no credit, all frames go the slow way until resume; above 1 BadValue"},
	{Name: "slow", Bit: 40, Width: 8, ReadOnly: true, Doc: "1 in state Slow; ignored on write"},
	{Name: "drawn", Bit: 64, Width: 32, ReadOnly: true, Doc: "credits drawn by frames since the account was set; ignored on write"},
	{Name: "seq", Bit: 96, Width: 32, ReadOnly: true, Doc: "account_seq of the next frame; ignored on write"},
}}

// PortEntryInfo is the field table of PortEntry.
var PortEntryInfo = StructInfo{Name: "PortEntry", Bytes: 16, Doc: "table PortCfg", Fields: []FieldInfo{
	{Name: "rx_pause", Bit: 0, Width: 8, Doc: "1: pause frames are honoured; above 1 BadValue"},
	{Name: "rx_pfc", Bit: 8, Width: 8, Doc: "classes whose priority pauses are honoured, class i in bit i"},
	{Name: "tx_mode", Bit: 16, Width: 8, Enum: func(v uint64) string { return PauseMode(v).String() }, Doc: "kind of pause frames sent; above 2 BadValue"},
	{Name: "tx_classes", Bit: 24, Width: 8, Doc: "mode Priority: classes that are paused"},
	{Name: "pause_time", Bit: 32, Width: 16, Doc: "pause time of the frames sent, quanta"},
	{Name: "xoff", Bit: 64, Width: 32, Doc: "pause the peer when the receive buffer holds more bytes than this"},
	{Name: "xon", Bit: 96, Width: 32, Doc: "end the pause when the receive buffer holds no more bytes than this"},
}}

// InvalidateMsgInfo is the field table of InvalidateMsg.
var InvalidateMsgInfo = StructInfo{Name: "InvalidateMsg", Bytes: 16, Doc: "payload of an invalidate message", Fields: []FieldInfo{
	{Name: "addr", Bit: 0, Width: 64, Doc: "bus address of the first line"},
	{Name: "lines", Bit: 64, Width: 32, Doc: "number of 64 B lines"},
}}

package papers

import "slices"

// term explains an abbreviation or a name on a page.
type term struct{ Name, Means string }

// glossary returns the terms of a group's page: its own, then those of all pages.
func glossary(group string) []term { return append(slices.Clone(terms[group]), common...) }

// terms has the terms of each group.
var terms = map[string][]term{
	"path": {
		{"OP", "the off-path study of SmartNICs, claims offpath.*"},
		{"FN, SN", "FlexiNS, and SmartNS, under which name it appeared before: claims flexins.* and smartns.*"},
		{"SNIC, RNIC", "a BlueField-2 card: a NIC, a PCIe switch, and Arm cores with a DRAM channel of their own; a " +
			"plain ConnectX-6"},
		{"PCIe1, PCIe0", "the card's links between NIC and switch, and between switch and host"},
		{"path 1", "between a client machine and the memory of the host: network, NIC, PCIe1, switch, PCIe0"},
		{"path 2", "between a client machine and the memory of the card's Arm (SoC): network, NIC, PCIe1, switch"},
		{"path 3", "between host and Arm by way of the NIC: PCIe1 is crossed twice, the network not at all"},
		{"S2H, H2S", "path 3 from the Arm (S, SoC) to the host (H), and from the host to the Arm: by who asks where " +
			"the names begin with SNIC, otherwise by the way of the data"},
		{"1+2, 1+3", "two paths at the same time; after a colon, the part of one of them"},
		{"N", "bytes of payload, in equations of packets such as ceil(N/512)"},
		{"P − N", "bandwidth of PCIe (P, 256 Gbps) less that of the network (N, 200 Gbps)"},
		{"TLP, MPS", "a packet on PCIe, and the most that one carries: 512 B to host memory, 128 B to Arm memory"},
		{"M/s, Mpps", "millions of requests, and of packets, a second"},
		{"MMIO, doorbell", "a register write by a core; the one that announces new entries"},
		{"device allocation", "writes of devices go to the last-level cache (DDIO)"},
		{"residence", "how long a packet stays in its buffer"},
		{"wire", "with headers and framing, where payload is without"},
		{"InfiniBand, RoCEv2", "headers of 26 B a packet, and of 82 B with Ethernet's framing"},
	},
	"ring": {
		{"RB2", "RB², a ring buffer over RDMA, its paper, and its claims rb2.*"},
		{"SocksDirect, FaRM, L5", "designs that the paper compares it with"},
		{"WRITE", "RDMA WRITEs alone, without a ring"},
		{"Push, Pull", "the receiver writes the head to the sender; the sender reads it"},
		{"CQ, WT", "the tail by completions of WRITEs with immediate data; the tail by a second WRITE (write twice)"},
		{"M1", "RB2 complete"},
		{"M2 to M9", "RB2 without one of its parts: batching (M2), transmission ahead of the tail (M3), the elastic " +
			"threshold (M4), lazy push (M5), zero copy (M6), alignment (M7), huge pages (M8), the near socket (M9)"},
		{"alpha, beta, gamma", "messages after which the tail is written, a batch is sent, the head is pushed"},
		{"GET", "a request of the HTTP server"},
	},
	"flexins": {
		{"FN, SN", "FlexiNS and SmartNS: the same system, in two papers. Figures of SN have numbers one lower from " +
			"10 on"},
		{"RNIC", "an RDMA NIC with a transport of its own, driven by cores of the host"},
		{"connection", "a queue pair over RC, with an application and a host core of its own"},
		{"header-only", "the NIC gathers payload from host memory; the Arm writes headers only"},
		{"staged", "payload is copied to Arm memory first, and sent from there"},
		{"staged, ring in the LLC", "through a ring of 4 MB, where the one of staged has 32 MB: more than the cache"},
		{"in-cache, naive", "reception that invalidates the cache lines of payload once it is in the host, and that " +
			"leaves them to be written back"},
		{"pipe, doorbell, MMIO", "ways to notify the card: elements copied to it by DMA; elements that it fetches; " +
			"elements written by emulated register accesses"},
		{"low-latency QP", "a queue pair (QP) whose received payload goes straight to the buffer of the application"},
		{"under way", "posted and not completed"},
		{"engine core", "an Arm core that answers requests by reads of host memory: batches of READs, walks of lists"},
		{"hop", "a node of a list that is read"},
		{"line rate", "400 Gbps over both ports, less headers"},
	},
}

var common = []term{
	{"RC, UD", "a reliable connection; datagrams"},
	{"LLC", "last-level cache"},
	{"anchor", "a claim that an input was set by: it is not scored"},
	{"95% interval", "from the means of batches; a rate is known when its half width is at most 1%; in a " +
		"picture it ends in an arrow if it goes on beyond the axis"},
	{"beside", "in the title of a picture: the papers have no such figure"},
	{"limit", "what a paper derives, and does not measure"},
	{"band", "in a picture: dashed, what the paper prints; shaded, what is accepted for it"},
}

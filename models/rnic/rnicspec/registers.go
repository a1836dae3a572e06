package rnicspec

// Offsets in the register space (BAR0), in bytes.
const (
	RegID      = 0x000 // reads Magic
	RegVersion = 0x004 // reads Version
	RegQPs     = 0x008 // largest number of queue pairs
	RegMaxRead = 0x00c // largest number of READs and atomics in flight per queue pair
	RegCommand = 0x100 // 64 B: a command, which is executed when the last byte of this range is written
	RegResult  = 0x140 // 8 B: the Result of the last command

	RegCounters = 0x200 // 8 B each, by Counter

	RegSRQs = 0x1000 // 8 B each, by the number of a shared receive queue; 4 B: producer index of its ring
	MaxSRQs = 256

	RegPages   = 0x80000 // one page per queue pair, by the number of the pair
	PageBytes  = 0x100
	PageSend   = 0x00 // 4 B: producer index of the send ring
	PageRecv   = 0x08 // 4 B: producer index of the receive ring
	PagePush   = 0x40 // 64 B: a work entry
	MaxQPs     = 2048
	CmdBytes   = 64
	Magic      = 0x43494e52 // the bytes R N I C
	Version    = 0x10000
	MaxInline  = 32 // largest number of inline data bytes in a work entry
	MaxRead    = 16 // largest number of READs and atomics of a queue pair in flight
	MaxMessage = 1 << 30
	MaxLogRing = 15
	NetBytes   = 40 // bytes that a UD receive puts in front of the message; the IP header is at their end
)

// QPPage returns the offset of a queue pair's page.
func QPPage(qpn uint32) uint32 { return RegPages + qpn*PageBytes }

// SRQDoorbell returns the offset of the doorbell of a shared receive queue.
func SRQDoorbell(srqn uint32) uint32 { return RegSRQs + srqn*8 }

// Counter is the number of a counter of the NIC.
type Counter uint8

// Values of Counter. Dropped packets are those that the standard requires to be ignored.
const (
	CntRxPackets Counter = iota
	CntTxPackets
	CntDropped     // packets ignored: bad ICRC, unknown queue pair, and so on
	CntRetries     // times that a requester went back (go-back-N)
	CntRNR         // RNR NAKs sent
	CntDuplicates  // requests that had been carried out before
	CntQPMisses    // misses of the queue pair cache
	CntPageMisses  // misses of the translation cache
	CntReadErrors  // DMA reads that failed
	CntWrongAccess // register accesses without a meaning
	CntMarked      // packets received that had experienced congestion (ECN), for RC queue pairs
	CntCNPsSent    // congestion notification packets
	CntCNPsReceived
	NumCounters
)

var counterNames = [NumCounters]string{"rx_packets", "tx_packets", "dropped", "retries", "rnr_naks", "duplicates",
	"qp_misses", "page_misses", "read_errors", "wrong_accesses", "marked", "cnps_sent", "cnps_received"}

func (c Counter) String() string { return name(counterNames[:], int(c), "Counter") }

package rnicspec

// Offsets in the register space (BAR0), in bytes.
const (
	RegID      = 0x000 // reads Magic
	RegVersion = 0x004 // reads Version
	RegQPs     = 0x008 // most queue pairs
	RegMaxRead = 0x00c // most READs and atomics in flight of a queue pair
	RegCommand = 0x100 // 64 B: a command, carried out when all of it was written
	RegResult  = 0x140 // 8 B: the Result of the last command

	RegCounters = 0x200 // 8 B each, by Counter

	RegPages   = 0x80000 // a page for each queue pair, by its number
	PageBytes  = 0x100
	PageSend   = 0x00 // 4 B: producer index of the send ring
	PageRecv   = 0x08 // 4 B: producer index of the receive ring
	PagePush   = 0x40 // 64 B: a work entry
	MaxQPs     = 2048
	CmdBytes   = 64
	Magic      = 0x43494e52 // the bytes R N I C
	Version    = 0x10000
	MaxInline  = 32 // bytes of inline data in a work entry
	MaxRead    = 16 // READs and atomics that a queue pair may have in flight
	MaxMessage = 1 << 30
	MaxLogRing = 15
	NetBytes   = 40 // bytes that a UD receive puts before the message: the IP header, at their end
)

// QPPage returns the offset of a queue pair's page.
func QPPage(qpn uint32) uint32 { return RegPages + qpn*PageBytes }

// Counter names a counter of the NIC.
type Counter uint8

// The counters. Drops are packets that the standard requires to be ignored.
const (
	CntRxPackets Counter = iota
	CntTxPackets
	CntDropped     // packets that were ignored: bad ICRC, unknown queue pair, and so on
	CntRetries     // go-back-N
	CntRNR         // RNR NAKs sent
	CntDuplicates  // requests that had been carried out before
	CntQPMisses    // of the queue pair cache
	CntPageMisses  // of the translation cache
	CntReadErrors  // DMA reads that failed
	CntWrongAccess // meaningless register accesses
	NumCounters
)

var counterNames = [NumCounters]string{"rx_packets", "tx_packets", "dropped", "retries", "rnr_naks", "duplicates",
	"qp_misses", "page_misses", "read_errors", "wrong_accesses"}

func (c Counter) String() string { return name(counterNames[:], int(c), "Counter") }

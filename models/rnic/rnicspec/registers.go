package rnicspec

// Offsets in the register space (BAR0), in bytes.
const (
	RegID      = 0x000 // reads Magic
	RegVersion = 0x004 // reads Version
	RegQPs     = 0x008 // largest number of queue pairs
	RegMaxRead = 0x00c // largest number of READs and atomics in flight per queue pair
	RegCommand = 0x100 // 64 B: a command, which is executed when the last byte of this range is written
	RegResult  = 0x140 // 8 B: the Result of the last command
	RegMark    = 0x148 // 4 B, 0 or 1: whether packets that arrive count as marked (ECN); see CntSelfMarked

	RegCounters = 0x200 // 8 B each, by Counter

	RegSRQs = 0x1000 // 8 B each, by the number of a shared receive queue; 4 B: producer index of its ring
	MaxSRQs = 256

	// Credit accounts, AccountBytes each, by number.
	RegAccounts   = 0x2000
	AccountBytes  = 0x10
	AccountCredit = 0x00 // write, 4 B: Credit; read, 8 B: AccountState
	AccountDrain  = 0x08 // write, 4 B: number of slow packets to be copied
	MaxAccounts   = 64
	MaxCredits    = 1<<24 - 1

	RegPages   = 0x80000 // one page per queue pair, by the number of the pair
	PageBytes  = 0x100
	PageSend   = 0x00 // 4 B: producer index of the send ring
	PageRecv   = 0x08 // 4 B: producer index of the receive ring, if there is one
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

// Account returns the offset of a register of a credit account.
func Account(n uint32, reg uint32) uint32 { return RegAccounts + n*AccountBytes + reg }

// Credit is a write of AccountCredit: credits that are added or, with Take, taken away. Neither end of the range is
// passed. Resume then lets packets take the fast path again, once all slow packets have been copied.
type Credit struct {
	Credits      uint32 // MaxCredits at most
	Take, Resume bool
}

// Bits of AccountCredit, those of the contract NIC's accounts (docs/nic.md [A5]).
const takeBit, resumeBit, slowBit = 1 << 30, 1 << 31, 1 << 31

// Word encodes the register's value.
func (c Credit) Word() uint32 {
	w := min(c.Credits, MaxCredits)
	if c.Take {
		w |= takeBit
	}
	if c.Resume {
		w |= resumeBit
	}
	return w
}

// CreditOf decodes the register's value.
func CreditOf(w uint32) Credit { return Credit{w & MaxCredits, w&takeBit != 0, w&resumeBit != 0} }

// AccountState is the state of a credit account.
type AccountState struct {
	Balance uint32
	Slow    bool   // no packet takes the fast path until the account is resumed
	Waiting uint32 // slow packets that have not been copied
}

// Word encodes the register's value.
func (s AccountState) Word() uint64 {
	w := uint64(min(s.Balance, MaxCredits)) | uint64(s.Waiting)<<32
	if s.Slow {
		w |= slowBit
	}
	return w
}

// AccountStateOf decodes the register's value.
func AccountStateOf(w uint64) AccountState {
	return AccountState{uint32(w) & MaxCredits, w&slowBit != 0, uint32(w >> 32)}
}

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
	CntFast // packets of accounts that took a credit
	CntSlow // packets of accounts that went to the memory for slow packets

	// packets of CntMarked that had not experienced congestion: they were ECN-capable, and RegMark was 1
	CntSelfMarked
	NumCounters
)

var counterNames = [NumCounters]string{"rx_packets", "tx_packets", "dropped", "retries", "rnr_naks", "duplicates",
	"qp_misses", "page_misses", "read_errors", "wrong_accesses", "marked", "cnps_sent", "cnps_received", "fast", "slow",
	"self_marked"}

func (c Counter) String() string { return name(counterNames[:], int(c), "Counter") }

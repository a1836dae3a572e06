package program

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// Op is one operation: exactly one of its pointers is set. Wait is how many cycles pass after it.
type Op struct {
	Wait    int      `json:"wait,omitempty"`
	RxQueue *RxQueue `json:"rx_queue,omitempty"` // enable, after disabling where it is not Off
	TxQueue *TxQueue `json:"tx_queue,omitempty"` // likewise
	Disable *Disable `json:"disable,omitempty"`
	Post    *Post    `json:"post,omitempty"`
	Play    *Play    `json:"play,omitempty"`
	Send    *Send    `json:"send,omitempty"`
	Bell    *Bell    `json:"bell,omitempty"`
	Key     *Key     `json:"key,omitempty"`
	Rule    *Rule    `json:"rule,omitempty"`
	Table   *Table   `json:"table,omitempty"`
	Write   *Write   `json:"write,omitempty"`
	Read    *Read    `json:"read,omitempty"`
	TLP     *TLP     `json:"tlp,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Rewrite *Rewrite `json:"rewrite,omitempty"`
	Mend    *Mend    `json:"mend,omitempty"`
	Quiet   *Quiet   `json:"quiet,omitempty"`
	Reset   *Reset   `json:"reset,omitempty"`
	Await   *Await   `json:"await,omitempty"`
	Feed    *Feed    `json:"feed,omitempty"`
	Gate    *Gate    `json:"gate,omitempty"`
}

// RxQueue is a receive queue to be enabled.
type RxQueue struct {
	Queue    int               `json:"queue"`
	LogSize  int               `json:"log_size"`
	Split    nicspec.SplitMode `json:"split,omitempty"`
	SplitLen uint16            `json:"split_len,omitempty"`
	HdrBytes uint16            `json:"hdr_bytes,omitempty"`
	PayBytes uint16            `json:"pay_bytes"`
	Ring     Place             `json:"ring,omitzero"`
	Done     Place             `json:"done,omitzero"` // the completion ring
	Crc      nicspec.CrcMode   `json:"crc,omitempty"`
	Ecn      uint8             `json:"ecn,omitempty"`
	Trim     uint8             `json:"trim,omitempty"`
	Msix     *Msix             `json:"msix,omitempty"`
}

// TxQueue is a transmit queue to be enabled.
type TxQueue struct {
	Queue   int   `json:"queue"`
	LogSize int   `json:"log_size"`
	Ring    Place `json:"ring,omitzero"`
	Done    Place `json:"done,omitzero"`
	Class   uint8 `json:"class,omitempty"`
	Ecn     uint8 `json:"ecn,omitempty"`
	Msix    *Msix `json:"msix,omitempty"`
}

// Msix is a queue's messages.
type Msix struct {
	Data   uint32 `json:"data"`
	Count  uint16 `json:"count,omitempty"`
	Cycles uint16 `json:"cycles,omitempty"` // units of 64
	At     Place  `json:"at,omitzero"`
}

// Place is in which memory something is, and how it lies there.
type Place struct {
	Host bool `json:"host,omitempty"` // else Arm memory
	High bool `json:"high,omitempty"` // Arm memory above 4 GB, which takes four DWs of header
	Skew int  `json:"skew,omitempty"` // bytes after a multiple of 64
	Page int  `json:"page,omitempty"` // starts so many bytes before a page ends, when not 0; without Skew

	Far uint64 `json:"far,omitempty"` // bits of the bus address that are turned over, above what programs use
}

// Queue names one.
type Queue struct {
	Tx    bool `json:"tx,omitempty"`
	Queue int  `json:"queue"`
}

// Disable disables a queue.
type Disable struct {
	Queue
	// writes of two words of TBL_DATA meanwhile, if a read of the queue's ring is known to be held up [G7]
	Late int `json:"late,omitempty"`
}

// Post gives descriptors to a receive queue, no more than there is room for.
type Post struct {
	Queue int   `json:"queue"`
	Count int   `json:"count"`
	Hdr   Place `json:"hdr,omitzero"`
	Pay   Place `json:"pay,omitzero"`
	Hold  bool  `json:"hold,omitempty"` // no doorbell yet
}

// Play has frames come in, back to back.
type Play struct {
	Port   int     `json:"port,omitempty"`
	Frames []Frame `json:"frames"`
}

// Frame is one that comes in, or that a work entry sends.
type Frame struct {
	craft.Frame
	Raw   []byte   `json:"raw,omitempty"`   // instead: bytes as they are
	Len   int      `json:"len,omitempty"`   // bytes to which it is cut or filled up; 0 leaves it
	Words []uint16 `json:"words,omitempty"` // from byte 14 on, big-endian
	Put   []Put    `json:"put,omitempty"`   // later ones over earlier ones
	Flip  []int    `json:"flip,omitempty"`  // bits that are turned over, by number
}

// Put is two bytes of a frame, big-endian.
type Put struct {
	At    int    `json:"at"`
	Value uint16 `json:"value"`
}

// Send posts work entries, as many of them as there is room for.
type Send struct {
	Queue   int     `json:"queue"`
	Entries []Entry `json:"entries"`
	Hold    bool    `json:"hold,omitempty"`  // no doorbell yet
	Times   int     `json:"times,omitempty"` // the entries are posted so often, a part of the ring at a time; 0: once

	Short int `json:"short,omitempty"` // blocks at the end that a first doorbell leaves out
	Pause int `json:"pause,omitempty"` // cycles between that doorbell and the one for them
}

// Entry is a work entry. The bytes of a Send are those of Frame, cut or filled up to what the pieces make.
type Entry struct {
	Opcode   nicspec.Opcode `json:"opcode"`
	Frame    Frame          `json:"frame,omitzero"`
	Inline   int            `json:"inline,omitempty"`
	Pieces   []Piece        `json:"pieces,omitempty"`
	Port     uint8          `json:"port,omitempty"`
	Complete bool           `json:"complete,omitempty"`
	IPCsum   bool           `json:"ip_csum,omitempty"`
	UDPCsum  bool           `json:"udp_csum,omitempty"`
	UDPZero  bool           `json:"udp_zero,omitempty"`
	ICRC     bool           `json:"icrc,omitempty"`
	CRC32C   bool           `json:"crc32c,omitempty"`
	Pad      bool           `json:"pad,omitempty"`
	L3       uint8          `json:"l3,omitempty"` // l3_off
	L4       uint8          `json:"l4,omitempty"`
	CrcOff   uint16         `json:"crc_off,omitempty"`
	CrcStart uint16         `json:"crc_start,omitempty"`
	Fence    bool           `json:"fence,omitempty"`
	Append   bool           `json:"append,omitempty"`
	Blocks   uint8          `json:"blocks,omitempty"` // beyond the first
	Push     bool           `json:"push,omitempty"`   // the doorbell carries it
	Rung     uint8          `json:"rung,omitempty"`   // bits: blocks of a pushed entry that a doorbell tells of instead
	Noise    Noise          `json:"noise,omitempty"`
	Patch    []Patch        `json:"patch,omitempty"`
}

// Noise is which bits of an entry are random. Its opcode, f_complete and wqe_id are not.
type Noise uint8

// What there is to choose from.
const (
	NoiseNone   Noise = iota
	NoiseUnused       // those that say nothing [T3] [D1]
	NoiseAll
)

// Piece is a piece of memory that an entry names.
type Piece struct {
	Key  int    `json:"key"`
	Len  uint32 `json:"len"`
	Skew int    `json:"skew,omitempty"`
	Page int    `json:"page,omitempty"`
	Old  bool   `json:"old,omitempty"`  // memory that an earlier piece had
	Same int    `json:"same,omitempty"` // 1 to 4: one of the buffers that all entries share, which software rewrites
}

// Patch spoils a byte of an entry.
type Patch struct {
	At  int   `json:"at"`
	Xor uint8 `json:"xor"`
}

// Bell rings a doorbell that posts nothing: Delta, added to the index last told, is 0, goes back, or goes too far.
type Bell struct {
	Queue
	Delta int `json:"delta"`
	// instead of Delta: so many descriptors more than the ring holds, once all frames are delivered [Q2]
	Over  int    `json:"over,omitempty"`
	Upper uint16 `json:"upper,omitempty"` // bits that are not defined
}

// Key writes a memory key.
type Key struct {
	Index   int    `json:"index"`
	Variant uint8  `json:"variant,omitempty"`
	Invalid bool   `json:"invalid,omitempty"`
	NoRead  bool   `json:"no_read,omitempty"`
	Write   bool   `json:"write,omitempty"` // right_write
	Base    uint64 `json:"base,omitempty"`  // first virtual address
	Short   uint64 `json:"short,omitempty"` // the key ends so many bytes after its start; 0: at the end of its region
	Room    uint64 `json:"room,omitempty"`  // the key begins so many bytes before its region, where nothing else lies
	Place   Place  `json:"place,omitzero"`  // its region; a skew moves the start
}

// Rule writes a steering rule.
type Rule struct {
	Index   int            `json:"index"`
	Off     bool           `json:"off,omitempty"` // valid 0
	Action  nicspec.Action `json:"action,omitempty"`
	Queue   uint16         `json:"queue,omitempty"`
	RssLog  uint8          `json:"rss_log,omitempty"`
	Account *Account       `json:"account,omitempty"`
	Match   []Match        `json:"match,omitempty"`
}

// Account is what a rule draws on.
type Account struct {
	Account uint8  `json:"account"`
	Slow    uint16 `json:"slow"`
}

// Match is a field of SteerKey by its name. Bits of Skip do not count.
type Match struct {
	Field string `json:"field"`
	Value uint64 `json:"value"`
	Skip  uint64 `json:"skip,omitempty"`
}

// Table is any other table command; Wait follows when it is over. It enables no queue: one that would is left out. One
// that disables a queue does.
type Table struct {
	Op    uint8         `json:"op"`
	Table nicspec.Table `json:"table"`
	Index int           `json:"index"`
	Words []uint32      `json:"words,omitempty"` // of TBL_DATA, from the first
}

// Write writes a register, by its name.
type Write struct {
	Reg   string `json:"reg"`
	Index int    `json:"index,omitempty"`
	Value uint32 `json:"value"`
}

// Read reads a register, or two that are neighbours.
type Read struct {
	Off  uint32 `json:"off"`
	Wide bool   `json:"wide,omitempty"`
}

// TLP is any TLP that is no access to a register that does something.
type TLP struct {
	Header string `json:"header"` // 16 bytes in hexadecimal
	Data   int    `json:"data,omitempty"`
	Count  int    `json:"count,omitempty"` // sent so often, with tags that follow one another when it is a completion
}

// Fault has reads of the NIC fail.
type Fault struct {
	Kind  string `json:"kind"`
	Of    string `json:"of"` // rx_ring, tx_ring, memory
	Queue int    `json:"queue,omitempty"`
	Place Place  `json:"place,omitzero"` // of memory
	At    int    `json:"at,omitempty"`   // of a ring: the first place that is struck
	Skip  int    `json:"skip,omitempty"`
	Count int    `json:"count,omitempty"`
	Nth   int    `json:"nth,omitempty"`
	Delay int    `json:"delay,omitempty"` // cycles
	Gap   int    `json:"gap,omitempty"`   // cycles before the completion that is struck, if it is not the first
}

// Rewrite has software write one of the buffers that entries share.
type Rewrite struct {
	Same  int    `json:"same"`
	Place Place  `json:"place,omitzero"` // in which part of memory
	Off   int    `json:"off,omitempty"`
	Len   int    `json:"len"`
	Seed  uint64 `json:"seed,omitempty"`
}

// Mend takes all faults out of force.
type Mend struct{}

// Reset is a function-level reset, if the build has it. No queue is enabled afterwards.
type Reset struct{}

// Quiet waits until the NIC has nothing to do.
type Quiet struct{}

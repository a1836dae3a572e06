package program

import (
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// Op is one operation: exactly one of its pointers is set. Wait is the number of cycles that follow it.
type Op struct {
	Wait    int      `json:"wait,omitempty"`
	RxQueue *RxQueue `json:"rx_queue,omitempty"` // enable the queue; first disable it unless it is Off
	TxQueue *TxQueue `json:"tx_queue,omitempty"` // enable the queue; first disable it unless it is Off
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

// RxQueue enables a receive queue.
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

// TxQueue enables a transmit queue.
type TxQueue struct {
	Queue   int   `json:"queue"`
	LogSize int   `json:"log_size"`
	Ring    Place `json:"ring,omitzero"`
	Done    Place `json:"done,omitzero"`
	Class   uint8 `json:"class,omitempty"`
	Ecn     uint8 `json:"ecn,omitempty"`
	Msix    *Msix `json:"msix,omitempty"`
}

// Msix configures a queue's messages.
type Msix struct {
	Data   uint32 `json:"data"`
	Count  uint16 `json:"count,omitempty"`
	Cycles uint16 `json:"cycles,omitempty"` // units of 64
	At     Place  `json:"at,omitzero"`
}

// Place selects a memory and an alignment in it.
type Place struct {
	Host bool `json:"host,omitempty"` // host memory; else Arm memory
	High bool `json:"high,omitempty"` // Arm memory above 4 GB, which takes four DWs of header
	Skew int  `json:"skew,omitempty"` // offset from a multiple of 64
	Page int  `json:"page,omitempty"` // if not 0: starts that many bytes before the end of a page, and Skew is ignored

	Far uint64 `json:"far,omitempty"` // bits of the bus address to flip, above those that programs use
}

// Queue names a queue.
type Queue struct {
	Tx    bool `json:"tx,omitempty"`
	Queue int  `json:"queue"`
}

// Disable disables a queue.
type Disable struct {
	Queue
	// Late counts the times that two words of TBL_DATA are written while the command that disables the queue is busy
	// [G7]. Nothing is written unless a read of the queue's ring is known to stay unanswered meanwhile.
	Late int `json:"late,omitempty"`
}

// Post posts descriptors to a receive queue: as many of Count as fit.
type Post struct {
	Queue int   `json:"queue"`
	Count int   `json:"count"`
	Hdr   Place `json:"hdr,omitzero"`
	Pay   Place `json:"pay,omitzero"`
	Hold  bool  `json:"hold,omitempty"` // post without a doorbell
}

// Play plays frames into a port, back to back.
type Play struct {
	Port   int     `json:"port,omitempty"`
	Frames []Frame `json:"frames"`
}

// Frame is a frame to be received, or the one that a work entry sends.
type Frame struct {
	craft.Frame
	Raw   []byte   `json:"raw,omitempty"`   // bytes of the frame, in place of one built from craft.Frame
	Len   int      `json:"len,omitempty"`   // length to truncate or pad to; 0: unchanged
	Words []uint16 `json:"words,omitempty"` // 16-bit words from byte 14 on, big-endian
	Put   []Put    `json:"put,omitempty"`   // later ones overwrite earlier ones
	Flip  []int    `json:"flip,omitempty"`  // numbers of the bits to flip
}

// Put overwrites two bytes of a frame, big-endian.
type Put struct {
	At    int    `json:"at"`
	Value uint16 `json:"value"`
}

// Send posts work entries to a transmit queue, as many as fit.
type Send struct {
	Queue   int     `json:"queue"`
	Entries []Entry `json:"entries"`
	Hold    bool    `json:"hold,omitempty"`  // post without a doorbell
	Times   int     `json:"times,omitempty"` // how often the entries are posted, in batches that fit the ring; 0: once

	Short int `json:"short,omitempty"` // number of blocks at the end that the first doorbell does not announce
	Pause int `json:"pause,omitempty"` // cycles between the first doorbell and the one that announces the Short blocks
}

// Entry is a work entry. A Send's frame is Frame, truncated or padded to the total of inline bytes and pieces.
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
	L3       uint8          `json:"l3,omitempty"` // l3_off: offset of the IP header
	L4       uint8          `json:"l4,omitempty"`
	CrcOff   uint16         `json:"crc_off,omitempty"`
	CrcStart uint16         `json:"crc_start,omitempty"`
	Fence    bool           `json:"fence,omitempty"`
	Append   bool           `json:"append,omitempty"`
	Blocks   uint8          `json:"blocks,omitempty"` // blocks in addition to the first
	Push     bool           `json:"push,omitempty"`   // the doorbell carries the entry
	Rung     uint8          `json:"rung,omitempty"`   // bit k: block k is announced by an ordinary doorbell, not pushed
	Noise    Noise          `json:"noise,omitempty"`
	Patch    []Patch        `json:"patch,omitempty"`
}

// Noise selects the bits of an entry to randomize. Its opcode, f_complete and wqe_id are never among them.
type Noise uint8

const (
	NoiseNone   Noise = iota
	NoiseUnused       // bits that the opcode leaves without meaning [T3] [D1]
	NoiseAll
)

// Piece is a piece of memory that an entry names.
type Piece struct {
	Key  int    `json:"key"`
	Len  uint32 `json:"len"`
	Skew int    `json:"skew,omitempty"`
	Page int    `json:"page,omitempty"`
	Old  bool   `json:"old,omitempty"`  // names the memory of an earlier piece
	Same int    `json:"same,omitempty"` // 1 to 4: one of the buffers that all entries share and software rewrites
}

// Patch corrupts a byte of an entry.
type Patch struct {
	At  int   `json:"at"`
	Xor uint8 `json:"xor"`
}

// Bell rings a doorbell that announces no posted entry. Delta is added to the index announced last: 0 repeats it; other
// values step it back, or further than the ring allows.
type Bell struct {
	Queue
	Delta int `json:"delta"`
	// instead of Delta: number of descriptors to announce beyond the ring's size, once all frames are delivered [Q2]
	Over  int    `json:"over,omitempty"`
	Upper uint16 `json:"upper,omitempty"` // value for the doorbell's undefined upper bits
}

// Key writes a memory key.
type Key struct {
	Index   int    `json:"index"`
	Variant uint8  `json:"variant,omitempty"`
	Invalid bool   `json:"invalid,omitempty"`
	NoRead  bool   `json:"no_read,omitempty"`
	Write   bool   `json:"write,omitempty"` // right_write
	Base    uint64 `json:"base,omitempty"`  // first virtual address
	Short   uint64 `json:"short,omitempty"` // the key ends that many bytes after its start; 0: at the end of its region
	Room    uint64 `json:"room,omitempty"`  // the key begins that many bytes before its region, where nothing else lies
	Place   Place  `json:"place,omitzero"`  // location of the memory that the key names; Skew moves the start
}

// Rule writes a steering rule.
type Rule struct {
	Index   int            `json:"index"`
	Off     bool           `json:"off,omitempty"` // writes the rule as invalid (valid 0)
	Action  nicspec.Action `json:"action,omitempty"`
	Queue   uint16         `json:"queue,omitempty"`
	RssLog  uint8          `json:"rss_log,omitempty"`
	Account *Account       `json:"account,omitempty"`
	Match   []Match        `json:"match,omitempty"`
}

// Account is the credit account that a rule uses.
type Account struct {
	Account uint8  `json:"account"`
	Slow    uint16 `json:"slow"`
}

// Match is a match on a field of SteerKey, by name. Bits set in Skip are ignored.
type Match struct {
	Field string `json:"field"`
	Value uint64 `json:"value"`
	Skip  uint64 `json:"skip,omitempty"`
}

// Table is a command for any table. The player leaves out a command that would enable a queue; one may disable a queue.
// Wait counts from the end of the command.
type Table struct {
	Op    uint8         `json:"op"`
	Table nicspec.Table `json:"table"`
	Index int           `json:"index"`
	Words []uint32      `json:"words,omitempty"` // of TBL_DATA, starting with the first
}

// Write writes a register given by name.
type Write struct {
	Reg   string `json:"reg"`
	Index int    `json:"index,omitempty"`
	Value uint32 `json:"value"`
}

// Read reads a register, or two adjacent ones.
type Read struct {
	Off  uint32 `json:"off"`
	Wide bool   `json:"wide,omitempty"`
}

// TLP sends any TLP. Register accesses that take effect belong into Read and Write, which the player keeps track of.
type TLP struct {
	Header string `json:"header"` // 16 bytes in hexadecimal
	Data   int    `json:"data,omitempty"`
	Count  int    `json:"count,omitempty"` // number of times that it is sent; completions get consecutive tags
}

// Fault makes reads of the NIC fail.
type Fault struct {
	Kind  string `json:"kind"`
	Of    string `json:"of"` // reads affected: of rx_ring, tx_ring or memory
	Queue int    `json:"queue,omitempty"`
	Place Place  `json:"place,omitzero"` // location, if Of is memory
	At    int    `json:"at,omitempty"`   // first ring slot affected, if Of is a ring
	Skip  int    `json:"skip,omitempty"`
	Count int    `json:"count,omitempty"`
	Nth   int    `json:"nth,omitempty"`
	Delay int    `json:"delay,omitempty"` // cycles
	Gap   int    `json:"gap,omitempty"`   // cycles before the affected completion, if it is not the first
}

// Rewrite makes software write one of the buffers that entries share.
type Rewrite struct {
	Same  int    `json:"same"`
	Place Place  `json:"place,omitzero"` // part of memory with the buffer
	Off   int    `json:"off,omitempty"`
	Len   int    `json:"len"`
	Seed  uint64 `json:"seed,omitempty"`
}

// Mend ends all faults.
type Mend struct{}

// Reset is a function-level reset, if the build has it. It disables every queue.
type Reset struct{}

// Quiet waits until the NIC is idle.
type Quiet struct{}

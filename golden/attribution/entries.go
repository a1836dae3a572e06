package attribution

import (
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Owner identifies the owner of a memory range.
type Owner = memory.Owner[Entry]

// extents maps the ranges that the device may touch to their owners.
type extents = memory.Map[Entry]

// OfBuffers is the kind of receive buffers.
var OfBuffers = memory.Of(memory.Buffer)

// Entries holds the work entries that the device has read, and what it read for them.
type Entries struct {
	Now      int64
	Flushing bool // a function-level reset is under way [L2]
	queues   []*Queue
	Readable extents     // what the device may read
	Writable extents     // what it may write
	Out      Outstanding // what it is reading
	log      *verdict.Log
	limits   core.TxLimits

	entries memory.Pool[Entry]
	blocks  memory.Pool[Block]
	pages   memory.Pool[memory.Page]
	retired fifo.Queue[*Entry] // over, kept for their reads
	late    []lateRead         // reads that completed when they may have timed out
	AtWork  int                // entries fetched and not ended
	Copying int                // copies that may write
	able    []*Entry           // copies that can have made the current write

	goal         goal
	path, passed []Place // of the current search
	bytes        []byte  // bytes moved by the search
	moves        moves

	unclear []*sharedCopyWrite
	claimed []*copyClaim
	writes  memory.Pool[sharedCopyWrite]
	claims  memory.Pool[copyClaim]
	round   int // of a search for one of these
}

// NewEntries returns an empty set of entries for a build and its transmit queues; timeout is the
// completion timeout in cycles.
func NewEntries(build *nicspec.Build, queues []*Queue, timeout int64, log *verdict.Log) *Entries {
	s := &Entries{queues: queues, Readable: memory.NewMap[Entry](), Writable: memory.NewMap[Entry](), log: log,
		limits: core.LimitsOf(build)}
	s.Out.init(timeout)
	return s
}

// FreePages returns the number of pages kept for later copies.
func (es *Entries) FreePages() int { return es.pages.Len() }

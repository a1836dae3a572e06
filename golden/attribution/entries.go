package attribution

import (
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Owner says which ring, descriptor or work entry a memory range belongs to.
type Owner = memory.Owner[Entry]

// extents maps the ranges that the device may touch to their owners.
type extents = memory.Map[Entry]

// BufferKinds contains the kind of receive buffers only.
var BufferKinds = memory.Of(memory.Buffer)

// Entries holds the work entries that the device has read, and what it read for them.
type Entries struct {
	Now      int64
	Flushing bool // a function-level reset is under way [L2]
	queues   []*Queue
	Readable extents     // ranges that the device may read
	Writable extents     // ranges that the device may write
	Out      Outstanding // outstanding reads of the device
	log      *verdict.Log
	limits   core.TxLimits

	entries    memory.Pool[Entry]
	blocks     memory.Pool[Block]
	pages      memory.Pool[memory.Page]
	retired    fifo.Queue[*Entry] // ended entries, kept because reads attributed to others may be theirs
	late       []lateRead         // reads that completed at a time when they may have timed out
	AtWork     int                // number of entries at work: fetched and not ended
	Copying    int                // number of copies whose destinations are writable
	candidates []*Entry           // copies that can have made the current write

	goal         goal
	path, passed []Place // places on the search's current path; places that the search has tried to fill so far
	bytes        []byte  // stack of the bytes at the places in `path`; the search tries to move these bytes elsewhere
	moves        moves

	unclear []*sharedCopyWrite
	claimed []*copyClaim
	writes  memory.Pool[sharedCopyWrite]
	claims  memory.Pool[copyClaim]
	round   int // number of the latest matching search; the writes and copies that it visits get this number
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

package attribution

import (
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Owner says whose a range of memory is.
type Owner = memory.Owner[Entry]

// extents is the ranges that the device may touch, and whose they are.
type extents = memory.Map[Entry]

var OfBuffers = memory.Of(memory.Buffer)

// Entries is the work entries that the device has read, and what it read for
// them.
type Entries struct {
	Now      int64
	Flushing bool // a function-level reset goes on [L2]
	queues   []*Queue
	Readable extents     // what the device may read
	Writable extents     // what it may write
	Out      Outstanding // what it is reading
	log      *verdict.Log
	limits   core.TxLimits

	entries memory.Pool[Entry]
	blocks  memory.Pool[Block]
	pages   memory.Pool[memory.Page]
	retired fifo.Queue[*Entry] // over, and kept for what was read for them
	late    []lateRead         // reads that came when they may have timed out
	AtWork  int                // entries that were fetched and have not ended
	Copying int                // copies that may write
	able    []*Entry           // copies that can have made the write at hand

	goal         goal
	path, passed []Place // of a search
	bytes        []byte  // in hand of it
	moves        moves

	unclear []*sharedCopyWrite
	claimed []*copyClaim
	writes  memory.Pool[sharedCopyWrite]
	claims  memory.Pool[copyClaim]
	round   int // of a search for one of these
}

// NewEntries is none, for a build and its transmit queues; completions time out
// after so many cycles.
func NewEntries(build *nicspec.Build, queues []*Queue, timeout int64, log *verdict.Log) *Entries {
	s := &Entries{queues: queues, Readable: memory.NewMap[Entry](), Writable: memory.NewMap[Entry](), log: log,
		limits: core.LimitsOf(build)}
	s.Out.init(timeout)
	return s
}

// FreePages is how many pages are kept for copies to come.
func (es *Entries) FreePages() int { return es.pages.Len() }

package golden

import (
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/fifo"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Entries is the work entries that the device has read, and what it read for
// them.
type Entries struct {
	now      int64
	flushing bool // a function-level reset goes on [L2]
	queues   []*entryQueue
	read     extents  // what the device may read
	wr       extents  // what it may write
	rd       readSide // what it is reading
	log      *verdict.Log
	limits   core.TxLimits

	entries memory.Pool[txEntry]
	blocks  memory.Pool[wqeBlock]
	pages   memory.Pool[memory.Page]
	retired fifo.Queue[*txEntry] // over, and kept for what was read for them
	late    []lateRead           // reads that came when they may have timed out
	at      int                  // entries that were fetched and have not ended
	copying int                  // copies that may write
	able    []*txEntry           // copies that can have made the write at hand

	goal         goal
	path, passed []place // of a search
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
func NewEntries(build *nicspec.Build, queues []*entryQueue, timeout int64, log *verdict.Log) *Entries {
	s := &Entries{queues: queues, read: memory.NewMap[txEntry](), wr: memory.NewMap[txEntry](), log: log, limits: core.LimitsOf(build)}
	s.rd.init(timeout)
	return s
}

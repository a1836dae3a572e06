package core

import "nictwin/models/memory/mem"

// Traffic is what one agent did, in steps of at most a line.
type Traffic struct {
	Reads, Writes         uint64 // steps
	ReadBytes, WriteBytes uint64
	ReadHits, WriteHits   uint64
	Joins                 uint64 // reads that waited for a fetch under way
	BypassReads           uint64 // reads that went to memory
	BypassWrites          uint64 // writes that went to memory
	BypassReadBytes       uint64
	BypassWriteBytes      uint64
	Fetches               uint64 // lines asked for
	FullWrites            uint64 // lines allocated without a fetch
	Cleans, Invalidates   uint64 // steps, whether the line was here or not
	Dropped, DroppedDirty uint64 // lines that this agent had written, or fetched, and that an Invalidate dropped
	Evicted, EvictedDirty uint64 // likewise, evicted for another line
	CleanedLines          uint64 // likewise, written back by a Clean
	FailedFetches         uint64 // lines that memory did not give
}

// Counters is what a cache did, by agent. A line belongs to the agent that
// wrote it last, or had it fetched.
type Counters [mem.Agents]Traffic

// Sum is the counters of all agents together.
func (c *Counters) Sum() (t Traffic) {
	for i := range c {
		t.add(&c[i])
	}
	return t
}

func (t *Traffic) add(o *Traffic) {
	t.Reads, t.Writes = t.Reads+o.Reads, t.Writes+o.Writes
	t.ReadBytes, t.WriteBytes = t.ReadBytes+o.ReadBytes, t.WriteBytes+o.WriteBytes
	t.ReadHits, t.WriteHits = t.ReadHits+o.ReadHits, t.WriteHits+o.WriteHits
	t.Joins += o.Joins
	t.BypassReads, t.BypassWrites = t.BypassReads+o.BypassReads, t.BypassWrites+o.BypassWrites
	t.BypassReadBytes, t.BypassWriteBytes = t.BypassReadBytes+o.BypassReadBytes, t.BypassWriteBytes+o.BypassWriteBytes
	t.Fetches, t.FullWrites = t.Fetches+o.Fetches, t.FullWrites+o.FullWrites
	t.Cleans, t.Invalidates = t.Cleans+o.Cleans, t.Invalidates+o.Invalidates
	t.Dropped, t.DroppedDirty = t.Dropped+o.Dropped, t.DroppedDirty+o.DroppedDirty
	t.Evicted, t.EvictedDirty = t.Evicted+o.Evicted, t.EvictedDirty+o.EvictedDirty
	t.CleanedLines, t.FailedFetches = t.CleanedLines+o.CleanedLines, t.FailedFetches+o.FailedFetches
}

// FillBytes is what was fetched from memory into the cache.
func (t *Traffic) FillBytes() uint64 { return t.Fetches * mem.LineBytes }

// WriteBackBytes is what went from the cache back to memory.
func (t *Traffic) WriteBackBytes() uint64 { return (t.EvictedDirty + t.CleanedLines) * mem.LineBytes }

// MemoryReadBytes is what was read from memory in all: fills, and reads that
// went past the cache.
func (t *Traffic) MemoryReadBytes() uint64 { return t.FillBytes() + t.BypassReadBytes }

// MemoryWriteBytes is what was written to memory in all.
func (t *Traffic) MemoryWriteBytes() uint64 { return t.WriteBackBytes() + t.BypassWriteBytes }

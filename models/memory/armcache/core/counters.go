package core

import "nictwin/models/memory/mem"

// Traffic counts the steps of one agent. A step covers at most one line.
type Traffic struct {
	Reads, Writes         uint64 // number of steps
	ReadBytes, WriteBytes uint64
	ReadHits, WriteHits   uint64
	Joins                 uint64 // reads that waited for a fetch in flight
	BufferReads           uint64 // lookups of lines in I/O buffers (Cache.IsBuffer) to read them
	BufferHits            uint64 // those that found the bytes there; reads that waited for a fetch did not
	BypassReads           uint64 // reads that went to memory
	BypassWrites          uint64 // writes that went to memory
	BypassReadBytes       uint64
	BypassWriteBytes      uint64
	Fetches               uint64 // lines requested from memory
	FullWrites            uint64 // lines allocated without a fetch
	Cleans, Invalidates   uint64 // number of steps, whether the line was cached or not
	Dropped, DroppedDirty uint64 // lines of this agent that an Invalidate dropped
	Evicted, EvictedDirty uint64 // lines of this agent that were evicted for another line
	CleanedLines          uint64 // lines of this agent that a Clean wrote back
	FailedFetches         uint64 // lines that memory failed to deliver
}

// Counters holds the traffic by agent. A line belongs to the agent that wrote it last or, if it was
// never written, to the one that had it fetched.
type Counters [mem.Agents]Traffic

// Sum returns the sum over all agents.
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
	t.BufferReads, t.BufferHits = t.BufferReads+o.BufferReads, t.BufferHits+o.BufferHits
	t.BypassReads, t.BypassWrites = t.BypassReads+o.BypassReads, t.BypassWrites+o.BypassWrites
	t.BypassReadBytes, t.BypassWriteBytes = t.BypassReadBytes+o.BypassReadBytes, t.BypassWriteBytes+o.BypassWriteBytes
	t.Fetches, t.FullWrites = t.Fetches+o.Fetches, t.FullWrites+o.FullWrites
	t.Cleans, t.Invalidates = t.Cleans+o.Cleans, t.Invalidates+o.Invalidates
	t.Dropped, t.DroppedDirty = t.Dropped+o.Dropped, t.DroppedDirty+o.DroppedDirty
	t.Evicted, t.EvictedDirty = t.Evicted+o.Evicted, t.EvictedDirty+o.EvictedDirty
	t.CleanedLines, t.FailedFetches = t.CleanedLines+o.CleanedLines, t.FailedFetches+o.FailedFetches
}

// FillBytes returns the bytes fetched from memory into the cache.
func (t *Traffic) FillBytes() uint64 { return t.Fetches * mem.LineBytes }

// WriteBackBytes returns the bytes written back to memory.
func (t *Traffic) WriteBackBytes() uint64 { return (t.EvictedDirty + t.CleanedLines) * mem.LineBytes }

// MemoryReadBytes returns all bytes read from memory: fills, and reads that bypassed the cache.
func (t *Traffic) MemoryReadBytes() uint64 { return t.FillBytes() + t.BypassReadBytes }

// MemoryWriteBytes returns all bytes written to memory.
func (t *Traffic) MemoryWriteBytes() uint64 { return t.WriteBackBytes() + t.BypassWriteBytes }

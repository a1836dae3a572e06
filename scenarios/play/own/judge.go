package own

import (
	"nictwin/models/ref"
	"nictwin/models/ref/remote"
)

// Methods of ref.Player, for a reference in another process.

// Drawn returns the next transaction of an input that the reference draws; ok is false if the manifest draws it.
func (c *Player) Drawn(stream string) (side, data []byte, ok bool) {
	if s := c.seat(stream); s == nil || !s.Draws {
		return nil, nil, false
	}
	c.ask(&remote.Request{Kind: remote.Draw, Stream: c.number[stream]})
	if c.err != nil {
		return nil, nil, false
	}
	side, data, ok = c.last.Side, c.last.Data, c.last.Drawn
	if len(side) != c.streams[c.number[stream]].SideBytes() {
		side = make([]byte, c.streams[c.number[stream]].SideBytes()) // gob omits empty values
	}
	return side, data, ok
}

// seat returns how the reference uses a stream; nil if the reference has not answered yet.
func (c *Player) seat(stream string) *remote.StreamUse {
	if i, ok := c.number[stream]; ok && i < len(c.last.Uses) {
		return &c.last.Uses[i]
	}
	return nil
}

// Plays reports whether a stream is a channel of an AXI port that the reference plays, so that the manifest draws
// nothing for it.
func (c *Player) Plays(stream string) bool { s := c.seat(stream); return s != nil && s.Plays }

// Listens reports whether the reference listens to a stream.
func (c *Player) Listens(stream string) bool { s := c.seat(stream); return s != nil && s.Listens }

// Longest returns the number of beats of the longest burst drawn so far; 0 if none was drawn.
func (c *Player) Longest() int { return c.last.Longest }

// Resets reports whether the reference handles resets.
func (c *Player) Resets() bool { return c.last.Resets }

// Deliver queues a transaction; the next Sync passes it on.
func (c *Player) Deliver(m *ref.Msg) {
	c.batch = append(c.batch, remote.Msg{Stream: c.number[m.Of.Name], N: m.N, First: m.First, Last: m.Last,
		Side: m.Side, Data: m.Data})
}

// Sync delivers the queued transactions to the reference.
func (c *Player) Sync() {
	if len(c.batch) == 0 {
		return
	}
	r := &remote.Request{Kind: remote.Deliver, Msgs: c.batch}
	c.told += uint64(len(c.batch))
	c.batch = nil
	c.ask(r)
}

// Reset reports to the reference that the device was reset in a cycle.
func (c *Player) Reset(cycle uint64) {
	c.Sync()
	c.ask(&remote.Request{Kind: remote.Reset})
}

// Failed returns the first fault of the device that was found, or nil.
func (c *Player) Failed() *ref.Failure { return c.failed }

// Fail records a fault of the device that the player found, after delivering the transactions before it.
func (c *Player) Fail(f ref.Failure) {
	c.Sync()
	if c.failed == nil {
		c.failed = &f
	}
}

// Over reports whether the reference expects nothing more.
func (c *Player) Over() bool {
	c.Sync()
	if c.last.HasDone {
		c.ask(&remote.Request{Kind: remote.Over})
	}
	return c.last.Over
}

// Missing counts the expected transactions that have not come.
func (c *Player) Missing() int { return c.last.Missing }

// Judged counts the output transactions on streams that the reference listens to.
func (c *Player) Judged() int { return c.last.Judged }

// Stuck reports to the reference that the device does nothing more. The reference then fails the run for the
// transactions that are missing.
func (c *Player) Stuck(cycle uint64, silence string) {
	c.Sync()
	c.ask(&remote.Request{Kind: remote.Stuck, Silence: silence})
}

// Finish runs the reference's final checks.
func (c *Player) Finish(cycle uint64) {
	c.Sync()
	c.ask(&remote.Request{Kind: remote.End})
}

// Tallies returns, by stream, what the reference did in a run that has passed.
func (c *Player) Tallies() []ref.Tally { return c.last.Tallies }

// Memories counts the memory comparisons of a run that has passed.
func (c *Player) Memories() int { return c.last.Memories }

// Place returns the position of the reference's function.
func (c *Player) Place() (file string, line int) { return c.program.userFile(c.file), c.line }

package dram

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// DRAM is a memory controller and its channels, in front of the memory that holds the bytes.
type DRAM struct {
	*sim.ComponentBase

	spec     Spec
	sched    simcore.Scheduler
	memory   mem.Target
	backdoor mem.Backdoor
	channels []channel
	counts   Counters
	busy     int // transfers in progress and their parts in the channels, those of background loads excepted

	idle      []*transfer
	idleParts []*part
	events    simcore.EventPool
	ended     fifo.Queue[*transfer] // transfers whose parts have all ended, to be finished
	ending    bool
	onRoom    []func()
	wasFull   bool // Full() at the last call of reportRoom
}

// Counters counts what a DRAM did.
type Counters struct {
	Reads, Writes           uint64 // number of accesses
	ReadBytes, WrittenBytes uint64 // bytes accepted, those of background loads included
	LoadRead, LoadWritten   uint64 // the part of ReadBytes and WrittenBytes that is of background loads
	FinishedBytes           uint64 // bytes of accesses that are done
	Held                    uint64 // bytes of accesses in progress
	ReadBursts, WriteBursts uint64 // bursts on the buses
	Turnarounds             uint64
	RowHits                 uint64     // parts that found their row open
	Joined                  uint64     // writes that joined a run of lines waiting for the same bank
	Waited                  simcore.Ps // total time of all parts of accesses from arrival until they were on the bus
	LongestWait             simcore.Ps
}

// transfer is an access in progress, with its access to the memory that holds the bytes.
type transfer struct {
	mem.Access // the access to the memory that holds the bytes
	a          *mem.Access
	load       bool // of a background load: no bytes move
	left       int  // parts not yet on the bus (reads) or dispatched (writes), plus one for the access to the bytes
}

// kindWake is the Kind of the event that wakes channel 0; kindWake + n wakes channel n. Kinds below
// it end an access.
const kindWake = 1

// Counters returns the counters so far.
func (d *DRAM) Counters() Counters { return d.counts }

// Channels returns the number of channels.
func (d *DRAM) Channels() int { return len(d.channels) }

// Channel returns the bytes of the bursts that a channel has read and written, those of background loads included.
func (d *DRAM) Channel(n int) (read, written uint64) {
	m := &d.channels[n].moved
	return m[0] * burstBytes, m[1] * burstBytes
}

// Idle reports whether no access is in progress. Accesses of a background load do not count.
func (d *DRAM) Idle() bool { return d.busy == 0 }

// Full implements mem.Holder: it reports whether some channel holds as many writes as it can.
func (d *DRAM) Full() bool {
	for i := range d.channels {
		if d.channels[i].pending >= d.spec.Buffer {
			return true
		}
	}
	return false
}

// OnRoom implements mem.Holder.
func (d *DRAM) OnRoom(f func()) { d.onRoom = append(d.onRoom, f) }

// reportRoom calls the OnRoom callbacks if the DRAM has just stopped being full.
func (d *DRAM) reportRoom() {
	full := d.Full()
	if full == d.wasFull {
		return
	}
	if d.wasFull = full; !full {
		for _, f := range d.onRoom {
			f()
		}
	}
}

// NotifyRecv implements sim.Component. It has no ports.
func (d *DRAM) NotifyRecv(sim.VTimeInSec, sim.Port) {}

// NotifyPortFree implements sim.Component.
func (d *DRAM) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

// Check implements mem.Target.
func (d *DRAM) Check(op mem.Op, addr uint64, n int) error { return d.memory.Check(op, addr, n) }

// Read implements mem.Backdoor.
func (d *DRAM) Read(addr uint64, b []byte) error {
	if d.backdoor == nil {
		return fmt.Errorf("dram: %s: the memory behind it shows its bytes to accesses only", d.Name())
	}
	return d.backdoor.Read(addr, b)
}

// Write implements mem.Backdoor.
func (d *DRAM) Write(addr uint64, b []byte) error {
	if d.backdoor == nil {
		return fmt.Errorf("dram: %s: the memory behind it shows its bytes to accesses only", d.Name())
	}
	return d.backdoor.Write(addr, b)
}

// Access implements mem.Target. The bytes are read or written at once, in the order of the accesses; the channels
// decide afterwards when each access ends.
func (d *DRAM) Access(a *mem.Access) {
	if err := a.Verify(d); err != nil {
		a.Finish(err)
		return
	}
	x := d.begin(a, false)
	x.Ask(a)
	d.memory.Access(&x.Access)
	d.finish()
	d.reportRoom()
}

// begin counts an access and gives its parts to the channels. `load` marks an access of a background load.
func (d *DRAM) begin(a *mem.Access, load bool) *transfer {
	x := d.newTransfer()
	x.a, x.left, x.load = a, 1, load
	d.count(load, 1)
	d.counts.Held += uint64(len(a.Data))
	switch n := uint64(len(a.Data)); a.Op {
	case mem.Read:
		d.counts.Reads++
		d.counts.ReadBytes += n
		if load {
			d.counts.LoadRead += n
		}
	case mem.Write:
		d.counts.Writes++
		d.counts.WrittenBytes += n
		if load {
			d.counts.LoadWritten += n
		}
	}
	if a.Op.Moves() {
		d.split(x)
	}
	return x
}

// count adds n transfers or parts to those in progress, unless they are of a background load.
func (d *DRAM) count(load bool, n int) {
	if !load {
		d.busy += n
	}
}

func (d *DRAM) newTransfer() *transfer {
	if n := len(d.idle); n > 0 {
		x := d.idle[n-1]
		d.idle = d.idle[:n-1]
		return x
	}
	x := new(transfer)
	x.Done = func(*mem.Access) {
		d.leave(x)
		d.finish()
	}
	return x
}

// split cuts an access into parts, and gives each to its channel.
func (d *DRAM) split(x *transfer) {
	now := simcore.Now(d.sched)
	step, channels := uint64(d.spec.Interleave), uint64(d.spec.Channels)
	for at, end := x.a.Addr, x.a.Addr+uint64(len(x.a.Data)); at < end; {
		chunk := at / step
		next := min(end, (chunk+1)*step)
		off := at % step &^ (burstBytes - 1)
		local := chunk/channels*step + off
		p := d.newPart()
		*p = part{
			x: x, addr: local, since: now,
			bank:   d.spec.bank(local),
			bursts: int(((next-1)%step-off)/burstBytes) + 1,
			load:   x.load,
		}
		x.left++
		d.count(x.load, 1)
		n := d.spec.channel(chunk)
		if c := &d.channels[n]; x.a.Op == mem.Read {
			c.read(p)
			d.counts.ReadBursts += uint64(p.bursts)
		} else {
			c.write(p)
			d.counts.WriteBursts += uint64(p.bursts)
		}
		d.work(n, now)
		at = next
	}
}

func (d *DRAM) newPart() *part {
	if n := len(d.idleParts); n > 0 {
		p := d.idleParts[n-1]
		d.idleParts = d.idleParts[:n-1]
		return p
	}
	return new(part)
}

// work starts the parts that a channel can start now.
func (d *DRAM) work(n int, now simcore.Ps) {
	c := &d.channels[n]
	for {
		for p, joined := c.dispatch(); p != nil; p, joined = c.dispatch() {
			x := p.x
			p.x = nil
			if joined {
				d.dropPart(p)
			}
			d.leave(x) // a write is posted: it is done once dispatched
		}
		if c.idle() {
			return
		}
		p, write, at := c.grant(now)
		if p == nil {
			d.arm(n, at)
			return
		}
		if !write {
			d.endLater(p.x, at+d.channels[n].t.Latency)
		}
		p.x = nil
		d.dropPart(p)
	}
}

// dropPart takes back a part that is on the bus, or has joined another one.
func (d *DRAM) dropPart(p *part) {
	d.count(p.load, -1)
	d.idleParts = append(d.idleParts, p)
}

// arm schedules the wake-up of a channel for the given time, unless it is due earlier.
func (d *DRAM) arm(n int, at simcore.Ps) {
	c := &d.channels[n]
	if c.wakeAt != 0 && c.wakeAt <= at+1 {
		return
	}
	ev := d.events.Get()
	ev.At, ev.H, ev.Kind, ev.Secondary = at, d, kindWake+n, true
	c.wakeAt = at + 1
	d.sched.Schedule(ev)
}

func (d *DRAM) endLater(x *transfer, at simcore.Ps) {
	ev := d.events.Get()
	ev.At, ev.H, ev.Arg = at, d, x
	d.sched.Schedule(ev)
}

// Handle implements sim.Handler: a read's data has come back, or a channel continues.
func (d *DRAM) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("dram: %s: event of type %T: want its own", d.Name(), e)
	}
	x, n, at := ev.Arg, ev.Kind-kindWake, ev.At
	d.events.Put(ev)
	if x != nil {
		d.leave(x.(*transfer))
	} else {
		if d.channels[n].wakeAt == at+1 {
			d.channels[n].wakeAt = 0
		}
		d.work(n, at)
	}
	d.finish()
	d.reportRoom()
	return nil
}

// leave records that one of the things a transfer waits for has ended.
func (d *DRAM) leave(x *transfer) {
	if x.left--; x.left == 0 {
		d.ended.Push(x)
	}
}

// finish completes the ended transfers. An initiator may issue an access as soon as its own is completed; if
// that one ends at once, the same loop completes it, after those that ended before it.
func (d *DRAM) finish() {
	if d.ending {
		return
	}
	d.ending = true
	for d.ended.Len() > 0 {
		x := d.ended.Pop()
		a, err := x.a, x.Err
		d.counts.FinishedBytes += uint64(len(a.Data))
		d.counts.Held -= uint64(len(a.Data))
		d.count(x.load, -1)
		x.a, x.Data = nil, nil
		d.idle = append(d.idle, x)
		a.Finish(err)
	}
	d.ending = false
}

var (
	_ sim.Component = (*DRAM)(nil)
	_ mem.Target    = (*DRAM)(nil)
	_ mem.Backdoor  = (*DRAM)(nil)
	_ mem.Holder    = (*DRAM)(nil)
)

package replay

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/ether"
	"nictwin/models/simcore"
)

// player is the far end of the NIC's Ethernet port: it plays frames in and
// takes what comes out.
type player struct {
	*sim.ComponentBase
	sched  simcore.Scheduler
	port   *simcore.Port
	pool   *ether.Pool
	pace   pace
	stall  int
	maxGap simcore.Ps

	frames []frame
	loops  int
	sent   int
	short  int // gaps that were shortened
	last   simcore.Ps
	ev     simcore.Event
	take   func(f *ether.Frame) // a frame that came out
}

// frame is one frame of the captures.
type frame struct {
	data     []byte
	interval simcore.Ps // since the one before, as captured
	file     int        // index of its capture
	packet   int        // ordinal in it, from 1
}

const playerPortCap = 1024

func newPlayer(e *simcore.Engine, o *Options, p *pools, frames []frame) (*player, error) {
	pc, err := o.pace()
	if err != nil {
		return nil, err
	}
	pl := &player{
		ComponentBase: sim.NewComponentBase("Player"), sched: e, pool: &p.frames,
		pace: pc, stall: o.Stall, maxGap: o.MaxGap, frames: frames, loops: o.Loop,
	}
	pl.ev.H = pl
	pl.port = simcore.NewPort(pl, playerPortCap, "Player.Eth")
	pl.AddPort("Eth", pl.port)
	return pl, nil
}

// total is the number of frames that will have been played in.
func (p *player) total() int { return len(p.frames) * p.loops }

// at is the frame with a given ordinal on the port.
func (p *player) at(ordinal int) *frame { return &p.frames[ordinal%len(p.frames)] }

// start begins to play.
func (p *player) start() {
	p.last = simcore.Now(p.sched)
	if p.total() > 0 {
		p.arm()
	}
}

// arm schedules the departure of the next frame, which is when its last byte
// has gone.
func (p *player) arm() {
	f := p.at(p.sent)
	at := p.last + p.pace.time(len(f.data)+ether.WireOverhead, p.stall)
	if p.pace.capture {
		gap := f.interval
		if gap > p.maxGap {
			gap = p.maxGap
			p.short++
		}
		at = max(at, p.last+gap)
	}
	p.ev.At = at
	p.sched.Schedule(&p.ev)
}

// Handle implements sim.Handler: a frame departs.
func (p *player) Handle(sim.Event) error {
	now := simcore.Now(p.sched)
	f := p.pool.Copy(p.at(p.sent).data)
	f.Seq, f.Depart = uint64(p.sent), now
	if p.port.Send(f) != nil {
		return fmt.Errorf("replay: the link into the NIC refused frame %d: Ethernet cannot be held back", p.sent)
	}
	p.sent++
	p.last = now
	if p.sent < p.total() {
		p.arm()
	}
	return nil
}

// NotifyRecv implements sim.Component.
func (p *player) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for msg := p.port.Retrieve(now); msg != nil; msg = p.port.Retrieve(now) {
		if f, ok := msg.(*ether.Frame); ok {
			p.take(f)
			p.pool.Put(f)
		}
	}
}

// NotifyPortFree implements sim.Component.
func (p *player) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

var _ sim.Component = (*player)(nil)

package traffic

import (
	"fmt"
	"strconv"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/ether"
	"nictwin/models/msg"
	"nictwin/models/simcore"
	"nictwin/scenarios/device"
	"nictwin/scenarios/traffic/capture"
)

// Frame is one frame to be played.
type Frame struct {
	Data     []byte
	Interval simcore.Ps     // since the one before, as captured
	Origin   capture.Origin // zero for frames that were not captured
}

// Source gives a player its frames, as it needs them.
type Source interface {
	// Next returns the next frame, whose bytes nobody changes any more, and io.EOF after the last.
	Next() (Frame, error)
	// Total is the number of all frames.
	Total() int
}

// Track is what a player plays, at a pace.
type Track struct {
	Source Source // nil: what Play adds
	Pace   Pace
	Stall  int        // percent of the cycles in which nothing is sent
	MaxGap simcore.Ps // longer gaps are shortened to this, when the pace is that of the capture
}

// Pace is how frames follow one another; see ParsePace.
type Pace struct {
	capture bool
	beats   bool  // one beat in every cycle
	beat    int   // bytes of one
	mbps    int64 // 0: as fast as the stream goes
}

// ParsePace reads a pace for a port whose stream has so many bits, 0 being device.DefaultEthBits, and this clock, 0 being that of
// 400 MHz: line (back to back with the smallest gap), capture (as recorded, but no faster than line), a number of Gbps, or
// beats (no cycle without a beat: denser than Ethernet, for measurements).
func ParsePace(s string, ethBits int, period simcore.Ps) (Pace, error) {
	if ethBits == 0 {
		ethBits = device.DefaultEthBits
	}
	p := Pace{beat: ethBits / 8}
	switch s {
	case "line":
	case "beats":
		p.beats = true
	case "capture":
		p.capture = true
	default:
		most := int64(ethBits) * 1_000_000 / int64(simcore.Freq{PeriodPs: period}.Period()) // one beat in every cycle
		gbps, err := strconv.ParseFloat(s, 64)
		if err != nil || !(gbps >= 0.001 && gbps <= float64(most)/1000) {
			return Pace{}, fmt.Errorf("--speed %q: want line, capture, or Gbps from 0.001 to %v", s, float64(most)/1000)
		}
		p.mbps = int64(gbps*1000 + 0.5)
	}
	return p, nil
}

// mostWaiting is how many bytes wait in front of the NIC's stream at most. Where the last beats of frames are nearly empty, a
// stream is slower than Ethernet, and ever more would wait: when it is so many, frames come as the stream takes them.
const mostWaiting = 2 << 20

// stream is what a frame of n bytes takes on a stream with this clock. Stalls take their share of the cycles.
func (p Pace) stream(n, stall int, period simcore.Ps) simcore.Ps {
	return simcore.Ps((n+p.beat-1)/p.beat) * period * 100 / simcore.Ps(100-stall)
}

// time is what a frame of n bytes takes on Ethernet, slowed down likewise.
func (p Pace) time(n, stall int, period simcore.Ps) simcore.Ps {
	if p.beats {
		return p.stream(n, stall, period)
	}
	n += ether.WireOverhead
	t := simcore.Ps(n) * period / simcore.Ps(p.beat)
	if p.mbps != 0 {
		t = simcore.Ps(int64(n) * 8_000_000 / p.mbps)
	}
	return t * 100 / simcore.Ps(100-stall)
}

// Player is the far end of one of the NIC's Ethernet ports: it plays frames in and takes what comes out.
type Player struct {
	*sim.ComponentBase
	sched  simcore.Scheduler
	port   *simcore.Port
	pool   *msg.Frames
	eth    int        // the NIC's port
	period simcore.Ps // of its clock
	track  Track
	list   []Frame // added by Play
	next   Frame   // to be played next, if armed
	sent   int
	short  int
	last   simcore.Ps
	taken  simcore.Ps // when the NIC's stream will have taken what was played, a beat in every cycle
	ev     simcore.Event

	// Take is called with every frame that came out, which is recycled when it returns.
	Take func(f *ether.Frame)
	// Played, if set, is called with every frame that goes in, before it does, and its ordinal on the port.
	Played func(ordinal int, f Frame)
}

const playerPortCap = 1024

// NewPlayer makes the player at the far end of a port, with this number, of a NIC with this clock.
func NewPlayer(name string, e *simcore.Engine, pool *msg.Frames, eth int, period simcore.Ps) *Player {
	p := &Player{ComponentBase: sim.NewComponentBase(name), sched: e, pool: pool, eth: eth, period: period}
	p.ev.H = p
	p.port = simcore.NewPort(p, playerPortCap, name+".Eth")
	p.AddPort("Eth", p.port)
	return p
}

// Eth is the player's end of the cable.
func (p *Player) Eth() *simcore.Port { return p.port }

// Load gives the player what it is to play.
func (p *Player) Load(t Track) { p.track = t }

// Play adds frames to those that were played, and plays them: for scenarios in which it depends on what happened what
// comes next. It is not for a track with a source.
func (p *Player) Play(frames ...Frame) {
	idle := p.sent == p.Total()
	p.list = append(p.list, frames...)
	if idle && len(frames) > 0 {
		p.last, p.next = simcore.Now(p.sched), p.list[p.sent]
		p.depart()
	}
}

// Total is the number of frames that will have been played in.
func (p *Player) Total() int {
	if p.track.Source != nil {
		return p.track.Source.Total()
	}
	return len(p.list)
}

// Sent is the number of frames played in so far.
func (p *Player) Sent() int { return p.sent }

// Shortened is the number of gaps that were shortened so far.
func (p *Player) Shortened() int { return p.short }

// At is the data of the frame with a given ordinal on the port, of those that Play has added.
func (p *Player) At(ordinal int) []byte { return p.list[ordinal].Data }

// Start begins to play.
func (p *Player) Start() error {
	p.last = simcore.Now(p.sched)
	return p.arm()
}

// arm takes the next frame, if there is one, and schedules it.
func (p *Player) arm() (err error) {
	if p.sent == p.Total() {
		return nil
	}
	if p.track.Source == nil {
		p.next = p.list[p.sent]
	} else if p.next, err = p.track.Source.Next(); err != nil {
		return fmt.Errorf("player: port %d, frame %d: %w", p.eth, p.sent, err)
	}
	p.depart()
	return nil
}

// depart schedules the next frame's departure, which is when its last byte has gone.
func (p *Player) depart() {
	f := &p.next
	at := p.last + p.track.Pace.time(len(f.Data), p.track.Stall, p.period)
	if p.track.Pace.capture {
		gap := f.Interval
		if gap > p.track.MaxGap {
			gap = p.track.MaxGap
			p.short++
		}
		at = max(at, p.last+gap)
	}
	at = max(at, p.taken-p.track.Pace.stream(mostWaiting, p.track.Stall, p.period))
	p.taken = max(p.taken, at) + p.track.Pace.stream(len(f.Data), p.track.Stall, p.period)
	p.ev.At = at
	p.sched.Schedule(&p.ev)
}

// Handle implements sim.Handler: a frame departs.
func (p *Player) Handle(sim.Event) error {
	now := simcore.Now(p.sched)
	f := p.pool.Copy(p.next.Data)
	f.Port, f.Seq, f.Depart = p.eth, uint64(p.sent), now
	if p.Played != nil {
		p.Played(p.sent, p.next)
	}
	if p.port.Send(f) != nil {
		return fmt.Errorf("player: the link into port %d of the NIC refused frame %d: Ethernet cannot be held back", p.eth, p.sent)
	}
	p.sent++
	p.last = now
	return p.arm()
}

// NotifyRecv implements sim.Component.
func (p *Player) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for m := p.port.Retrieve(now); m != nil; m = p.port.Retrieve(now) {
		if f, ok := m.(*msg.Frame); ok {
			if p.Take != nil {
				p.Take(&f.Frame)
			}
			p.pool.Put(f)
		}
	}
}

// NotifyPortFree implements sim.Component.
func (p *Player) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

var _ sim.Component = (*Player)(nil)

package board

import (
	"fmt"
	"strconv"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/ether"
	"nictwin/models/simcore"
	"nictwin/scenarios/capture"
)

// Frame is one frame to be played.
type Frame struct {
	Data     []byte
	Interval simcore.Ps     // since the one before, as captured
	Origin   capture.Origin // zero for frames that were not captured
}

// Track is what a player plays: frames, over and over, at a pace.
type Track struct {
	Frames []Frame
	Loops  int
	Pace   Pace
	Stall  int        // percent of the cycles in which nothing is sent
	MaxGap simcore.Ps // longer gaps are shortened to this, when the pace is that of the capture
}

// Pace is how frames follow one another; see ParsePace.
type Pace struct {
	capture  bool
	beats    bool  // one beat in every cycle
	beat     int   // bytes of one
	num, den int64 // picoseconds per byte
}

// ParsePace reads a pace for a port whose stream has so many bits, 0 being DefaultEthBits: line (back to back with the
// smallest gap), capture (as recorded, but no faster than line), a number of Gbps, or beats (no cycle without a beat: denser
// than Ethernet, for measurements).
func ParsePace(s string, ethBits int) (Pace, error) {
	if ethBits == 0 {
		ethBits = DefaultEthBits
	}
	mbps := int64(ethBits) * 1_000_000 / int64(Cycle) // one beat in every cycle of the default clock
	p := Pace{beat: ethBits / 8, num: 8_000_000, den: mbps}
	switch s {
	case "line":
	case "beats":
		p.beats = true
	case "capture":
		p.capture = true
	default:
		gbps, err := strconv.ParseFloat(s, 64)
		if err != nil || !(gbps >= 0.001 && gbps <= float64(mbps)/1000) {
			return Pace{}, fmt.Errorf("--speed %q: want line, capture, or Gbps from 0.001 to %v", s, float64(mbps)/1000)
		}
		p.den = int64(gbps*1000 + 0.5)
	}
	return p, nil
}

// time is what a frame of n bytes takes. Stalls take their share of the cycles, so frames come that much slower.
func (p Pace) time(n, stall int) simcore.Ps {
	if p.beats {
		return simcore.Ps((n+p.beat-1)/p.beat) * Cycle * 100 / simcore.Ps(100-stall)
	}
	n += ether.WireOverhead
	return simcore.Ps(int64(n)*p.num/p.den) * 100 / simcore.Ps(100-stall)
}

// Player is the far end of one of the NIC's Ethernet ports: it plays frames in and takes what comes out.
type Player struct {
	*sim.ComponentBase
	sched simcore.Scheduler
	port  *simcore.Port
	pool  *ether.Pool
	eth   int // the NIC's port
	track Track
	sent  int
	short int
	last  simcore.Ps
	ev    simcore.Event

	// Take is called with every frame that came out, which is recycled when it returns.
	Take func(f *ether.Frame)
}

const playerPortCap = 1024

func newPlayer(e *simcore.Engine, pool *ether.Pool, eth int) *Player {
	name := fmt.Sprintf("Player%d", eth)
	p := &Player{ComponentBase: sim.NewComponentBase(name), sched: e, pool: pool, eth: eth}
	p.ev.H = p
	p.port = simcore.NewPort(p, playerPortCap, name+".Eth")
	p.AddPort("Eth", p.port)
	return p
}

// Load gives the player what it is to play.
func (p *Player) Load(t Track) { p.track = t }

// Play adds frames to those that were played, and plays them: for scenarios in which it depends on what happened what
// comes next. It is not for a track that is played in loops.
func (p *Player) Play(frames ...Frame) {
	idle := p.sent == p.Total()
	p.track.Loops = 1
	p.track.Frames = append(p.track.Frames, frames...)
	if idle && len(frames) > 0 {
		p.Start()
	}
}

// Total is the number of frames that will have been played in.
func (p *Player) Total() int { return len(p.track.Frames) * p.track.Loops }

// Sent is the number of frames played in so far.
func (p *Player) Sent() int { return p.sent }

// Shortened is the number of gaps that were shortened so far.
func (p *Player) Shortened() int { return p.short }

// At is the data of the frame with a given ordinal on the port.
func (p *Player) At(ordinal int) []byte { return p.at(ordinal).Data }

// Origin is where the frame with a given ordinal was captured, and in which pass over the track, from 1, it is played.
func (p *Player) Origin(ordinal int) (o capture.Origin, pass int) {
	return p.at(ordinal).Origin, 1 + ordinal/len(p.track.Frames)
}

func (p *Player) at(ordinal int) *Frame { return &p.track.Frames[ordinal%len(p.track.Frames)] }

// Start begins to play.
func (p *Player) Start() {
	p.last = simcore.Now(p.sched)
	if p.Total() > 0 {
		p.arm()
	}
}

// arm schedules the departure of the next frame, which is when its last byte
// has gone.
func (p *Player) arm() {
	f := p.at(p.sent)
	at := p.last + p.track.Pace.time(len(f.Data), p.track.Stall)
	if p.track.Pace.capture {
		gap := f.Interval
		if gap > p.track.MaxGap {
			gap = p.track.MaxGap
			p.short++
		}
		at = max(at, p.last+gap)
	}
	p.ev.At = at
	p.sched.Schedule(&p.ev)
}

// Handle implements sim.Handler: a frame departs.
func (p *Player) Handle(sim.Event) error {
	now := simcore.Now(p.sched)
	f := p.pool.Copy(p.at(p.sent).Data)
	f.Port, f.Seq, f.Depart = p.eth, uint64(p.sent), now
	if p.port.Send(f) != nil {
		return fmt.Errorf("player: the link into port %d of the NIC refused frame %d: Ethernet cannot be held back", p.eth, p.sent)
	}
	p.sent++
	p.last = now
	if p.sent < p.Total() {
		p.arm()
	}
	return nil
}

// NotifyRecv implements sim.Component.
func (p *Player) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for msg := p.port.Retrieve(now); msg != nil; msg = p.port.Retrieve(now) {
		if f, ok := msg.(*ether.Frame); ok {
			if p.Take != nil {
				p.Take(f)
			}
			p.pool.Put(f)
		}
	}
}

// NotifyPortFree implements sim.Component.
func (p *Player) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

var _ sim.Component = (*Player)(nil)

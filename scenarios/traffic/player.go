package traffic

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Player is the far end of a cable: it plays frames into an Ethernet port of a NIC and receives the frames that come
// out.
type Player struct {
	*sim.ComponentBase
	sched  simcore.Scheduler
	port   *simcore.Port
	pool   *msg.Frames
	eth    int        // number of the NIC's port
	period simcore.Ps // period of the NIC's clock
	track  Track
	list   []Frame // frames added by Play
	next   Frame   // the next frame, once it is scheduled
	sent   int
	short  int
	held   bool // the next frame is due, but the cable has no credit for it
	last   simcore.Ps
	taken  simcore.Ps // time at which the NIC's stream will have taken all played frames, at a beat per cycle
	ev     simcore.Event

	// Take is called with every frame that comes out of the NIC. The frame is reused after Take returns.
	Take func(f *ether.Frame)
	// Played, if set, is called before a frame is sent, with its ordinal on the port.
	Played func(ordinal int, f Frame)
}

const playerPortCap = 1024

// NewPlayer returns a player for the NIC's port eth, whose clock has the given period. Without a track it plays the
// frames that Play adds, back to back.
func NewPlayer(name string, e *simcore.Engine, pool *msg.Frames, eth int, period simcore.Ps) *Player {
	p := &Player{ComponentBase: sim.NewComponentBase(name), sched: e, pool: pool, eth: eth, period: period}
	p.ev.H, p.track.Pace = p, line(0)
	p.port = simcore.NewPort(p, playerPortCap, name+".Eth")
	p.AddPort("Eth", p.port)
	return p
}

// Eth returns the player's end of the cable.
func (p *Player) Eth() *simcore.Port { return p.port }

// Load sets the track to play.
func (p *Player) Load(t Track) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("track of port %d: %w", p.eth, err)
	}
	p.track = t
	return nil
}

// Play adds frames behind those still to be played, for scenarios in which a frame depends on earlier events. A player
// whose track has a source plays only that source.
func (p *Player) Play(frames ...Frame) {
	idle := p.sent == p.Total()
	p.list = append(p.list, frames...)
	if idle && len(frames) > 0 {
		p.last, p.next = simcore.Now(p.sched), p.list[p.sent]
		p.depart()
	}
}

// Total returns the number of frames played and still to be played.
func (p *Player) Total() int {
	if p.track.Source != nil {
		return p.track.Source.Total()
	}
	return len(p.list)
}

// Sent returns the number of frames played so far.
func (p *Player) Sent() int { return p.sent }

// Taken returns the time at which the NIC's stream will have taken all frames played so far, without the latency of the
// cable.
func (p *Player) Taken() simcore.Ps { return p.taken }

// Held reports whether the cable has no credit for the next frame, which is due.
func (p *Player) Held() bool { return p.held }

// Shortened returns the number of gaps shortened so far.
func (p *Player) Shortened() int { return p.short }

// At returns the data of a frame that Play added, by its ordinal on the port.
func (p *Player) At(ordinal int) []byte { return p.list[ordinal].Data }

// Start starts playing the track.
func (p *Player) Start() error {
	p.last = simcore.Now(p.sched)
	return p.arm()
}

// arm fetches the next frame, if there is one, and schedules it.
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

// depart schedules the departure of the next frame: the time of its last byte.
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
	at = max(at, p.taken-p.track.Pace.stream(maxBacklog, p.track.Stall, p.period))
	p.taken = max(p.taken, at) + p.track.Pace.stream(len(f.Data), p.track.Stall, p.period)
	p.ev.At = at
	p.sched.Schedule(&p.ev)
}

// Handle sends the next frame, which is due (sim.Handler).
func (p *Player) Handle(sim.Event) error {
	if p.held = !p.port.CanSend(); p.held {
		return nil // NotifyPortFree will send it
	}
	now := simcore.Now(p.sched)
	f := p.pool.Copy(p.next.Data)
	f.Port, f.Seq, f.Depart = p.eth, uint64(p.sent), now
	if p.Played != nil {
		p.Played(p.sent, p.next)
	}
	if p.port.Send(f) != nil {
		return fmt.Errorf("player: the link into port %d of the NIC refused frame %d after it had room", p.eth, p.sent)
	}
	p.sent++
	p.last = now
	return p.arm()
}

// NotifyRecv receives frames of the NIC (sim.Component).
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

// NotifyPortFree sends a frame that waited for a credit (sim.Component).
func (p *Player) NotifyPortFree(sim.VTimeInSec, sim.Port) {
	if p.held {
		p.held, p.ev.At = false, simcore.Now(p.sched)
		p.taken = max(p.taken, p.ev.At+p.track.Pace.stream(len(p.next.Data), p.track.Stall, p.period))
		p.sched.Schedule(&p.ev)
	}
}

var _ sim.Component = (*Player)(nil)

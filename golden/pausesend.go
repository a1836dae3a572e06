package golden

import (
	"bytes"
	"fmt"

	"nictwin/models/nic"
	"nictwin/models/nicspec"
)

// pauseOut is what is known of the pause frames that a port sends [F6].
type pauseOut struct {
	first, last int64 // of the frame that left last, of any kind

	now, was pauseConfig
	oldTo    int64 // last cycle in which was may be in force
	loose    bool  // and others, too

	paused   bool  // the other side was told to pause,
	told     int64 // in this cycle
	unknown  bool  // the configuration changed since
	lowSince int64 // the buffer is surely at xon or below since, and nobody was told; never if it is not

	open   pauseDoubt
	claims []pauseClaim
}

// pauseConfig is what the pause frames of a port depend on.
type pauseConfig struct {
	nicspec.PortEntryFields
	mac [6]byte
}

func (c *pauseConfig) sends() bool { return c.TxMode != nicspec.PauseModeNone }

// tells reports whether a pause frame with a time differs from one without: a priority pause of no class does not.
func (c *pauseConfig) tells() bool { return c.TxMode == nicspec.PauseModePause || c.TxClasses != 0 }

// pauseConfigured follows a write of table PortCfg or of PORT_MAC.
func (r *Referee) pauseConfigured(port int) {
	if !r.cfg.Spec.Has(nicspec.PartPause) {
		return
	}
	p := &r.rx.ports[port]
	o := &p.out
	next := pauseConfig{*r.regs.PortCfg(port), r.regs.PortMAC(port)}
	if next.PortEntryFields != o.now.PortEntryFields {
		o.unknown = o.unknown || o.paused || o.now.sends()
		o.lowSince, o.claims, o.open = never, o.claims[:0], pauseDoubt{}
		p.stops.n = 0 // whether a stop ends with it is not said
	}
	o.loose = r.now <= o.oldTo
	o.was, o.now = o.now, next
	o.oldTo = r.now + r.pauseSlack()
}

// pauseSlack is how long a pause frame may wait: for its decision, for the count
// that is looked at, and behind the longest frame.
func (r *Referee) pauseSlack() int64 {
	frame := int64(nicspec.FrameMax*8/r.cfg.Spec.EthBits) + 1
	if r.cfg.EthHeldBack > 0 {
		const slower = 16 // than without gaps between its beats
		frame *= slower
	}
	return 2*nicspec.VisibleCycles + frame + 2*r.cfg.EthHeldBack
}

// looksBack is the earliest cycle that a pause frame may speak of which begins
// to leave now.
func (r *Referee) looksBack(o *pauseOut) int64 {
	const wait = 2 * nicspec.VisibleCycles
	from := r.x.First - wait - r.cfg.EthHeldBack
	if o.last >= r.x.First-wait-r.cfg.EthHeldBack { // it may have waited behind that frame
		from = min(from, o.first-wait-r.cfg.EthHeldBack)
	}
	return from
}

// pauseFrameOut judges a pause frame of the device's own.
func (r *Referee) pauseFrameOut() {
	p := &r.rx.ports[r.x.Port]
	o := &p.out
	r.past.note(Domain{DomainPort, r.x.Port}, &r.x)
	r.stats.Compared++
	r.cnt.step(portIndex(nicspec.CntTxPause, r.x.Port), 1, r.now)
	cfg, end, known := r.pauseSent(o)
	switch {
	case cfg == nil:
		o.unknown = true
	case !known:
	case end:
		r.pauseEnds(p, cfg)
	default:
		r.pauseTold(p, cfg)
	}
}

// pauseSent finds out by which configuration a pause frame was sent, nil if by
// none that is known, and whether it ends the pause. known is false if that
// cannot be told.
func (r *Referee) pauseSent(o *pauseOut) (cfg *pauseConfig, end, known bool) {
	var want, first [nicspec.FrameMin]byte
	got, any := r.x.Frame.Data, false
	for i, c := range [...]*pauseConfig{&o.now, &o.was} {
		if !c.sends() || i > 0 && r.x.First > o.oldTo {
			continue
		}
		for _, quanta := range [...]uint16{0, c.PauseTime} {
			nic.BuildPause(&c.PortEntryFields, c.mac, quanta, &want)
			if bytes.Equal(want[:], got) {
				return c, quanta == 0, c.tells()
			}
		}
		if !any {
			first, any = want, true
		}
	}
	if o.loose && r.x.First <= o.oldTo {
		return nil, false, false
	}
	r.failPause(any, first[:], got)
	return nil, false, false
}

func (r *Referee) failPause(any bool, want, got []byte) {
	d := Domain{DomainPort, r.x.Port}
	switch {
	case !any:
		r.fail(d, "F7", "frame", "no pause frame: tx_mode is 0", fmt.Sprintf("one of %d B", len(got)))
	case len(want) != len(got):
		r.fail(d, "F6", "frame length", fmt.Sprint(len(want)), fmt.Sprint(len(got)))
	default:
		i := firstDifference(want, got)
		r.fail(d, "F6", pauseField(i), byteText(want[i], i), byteText(got[i], i), fmt.Sprintf("a pause frame: %x", got))
	}
}

// pauseField names a byte of a pause frame.
func pauseField(at int) string {
	for _, f := range [...]struct {
		name string
		end  int
	}{{"eth.dst", 6}, {"eth.src", 12}, {"eth.type", 14}, {"pause.opcode", 16}, {"pause.time", 18}, {"pause.class_times", 34}} {
		if at < f.end {
			return f.name
		}
	}
	return "padding"
}

// pauseTold is a pause frame with a time: the buffer has to have passed xoff,
// or not to have come down to xon since the one before.
func (r *Referee) pauseTold(p *rxPort, cfg *pauseConfig) {
	o, d := &p.out, Domain{DomainPort, r.x.Port}
	limit := int(cfg.Xoff)
	if o.paused || o.unknown {
		limit = int(cfg.Xon)
	}
	if again := o.told + r.cfg.Spec.PauseCycles(cfg.PauseTime)/2 - r.pauseSlack(); o.paused && !o.unknown && r.x.First < again {
		r.fail(d, "F6", "pause.time", fmt.Sprintf("sent again in cycle %d or later", again), fmt.Sprintf("in cycle %d", r.x.First))
	}
	if most := p.mostHeld(r.looksBack(o)); most <= limit {
		o.open = pauseDoubt{open: true, cycle: r.now, most: most, limit: limit}
	}
	o.paused, o.told, o.unknown, o.lowSince = true, r.x.First, false, never
	if r.now > o.oldTo {
		o.claim(pauseClaim{from: r.now, to: r.now + r.pauseAgain(cfg), before: p.seq, limit: int(cfg.Xon), missing: true, after: o.told, again: true})
	}
}

// pauseEnds is a pause frame with time 0.
func (r *Referee) pauseEnds(p *rxPort, cfg *pauseConfig) {
	o := &p.out
	if !o.paused && !o.unknown {
		r.fail(Domain{DomainPort, r.x.Port}, "F6", "pause.time", "none: no pause is to be ended", "0")
	}
	o.claim(pauseClaim{from: r.looksBack(o), to: r.x.First, before: p.seq, limit: int(cfg.Xon)})
	o.paused, o.unknown, o.lowSince = false, false, never
}

package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// pauseOut is what is known of the pause frames that a port sends [F6].
type pauseOut struct {
	held  *spans // when the port was held back
	slack int64  // how long a pause frame may wait; see pauseSlack

	first, last int64 // of the frame that left last, of any kind

	now      pauseConfig
	olds     [keptPauseConfigs]oldPauseConfig // those before it, the latest first
	oldSince int64                            // cycle of the latest change: until late, one of them may be in force
	loose    int64                            // likewise of others

	paused   bool   // the other side was told to pause,
	told     int64  // in this cycle, decided in
	decided  int64  // this one at the earliest; the latest end was sent
	ended    int64  // in this one
	quanta   uint16 // for which it was told
	unknown  bool   // the configuration changed since
	lowSince int64  // the buffer is surely at xon or below since, and nobody was told; never if it is not

	open   pauseDoubt
	claims []pauseClaim
}

// pauseConfig is what the pause frames of a port depend on.
type pauseConfig struct {
	nicspec.PortEntryFields
	mac [6]byte
}

// newPauseOut is that of a device that was just reset.
func newPauseOut() pauseOut {
	return pauseOut{first: never, last: never, oldSince: never, loose: never, told: never, decided: never, ended: never, lowSince: never}
}

// follow makes the spans in which the port is held back known.
func (o *pauseOut) follow(held *spans, slack int64) { o.held, o.slack = held, slack }

// late reports whether a pause frame that a cycle asked for would have left
// before another one, but for cycles in which the port was held back.
func (o *pauseOut) late(since, now int64) bool {
	return since == never || now > since && o.held.free(since, now-1) >= o.slack
}

// oldPauseConfig is a configuration that was followed by another.
type oldPauseConfig struct {
	pauseConfig
	since int64 // cycle of the change: until late, it may be in force
}

const keptPauseConfigs = 4

// retire makes the configuration one of the former, since a cycle.
func (o *pauseOut) retire(since int64) {
	if last := &o.olds[keptPauseConfigs-1]; last.sends() {
		o.loose = max(o.loose, last.since)
	}
	copy(o.olds[1:], o.olds[:])
	o.olds[0] = oldPauseConfig{o.now, since}
	o.oldSince = since
}

func (c *pauseConfig) sends() bool { return c.TxMode != nicspec.PauseModeNone }

// tells reports whether a pause frame with a time differs from one without: a priority pause of no class does not.
func (c *pauseConfig) tells() bool { return c.TxMode == nicspec.PauseModePause || c.TxClasses != 0 }

// pauseConfigured follows a write of table PortCfg or of PORT_MAC.
func (r *Referee) pauseConfigured(port int) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
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
	o.retire(r.now)
	o.now = next
}

// pauseSlack is how long a pause frame may wait: for its decision, for the count
// that is looked at, and behind the longest frame. Cycles in which the port is
// held back do not count.
func pauseSlack(b *nicspec.Build) int64 {
	return 2*nicspec.VisibleCycles + int64(nicspec.FrameMax*8/b.EthBits) + 1
}

// looksBack is the earliest cycle that a pause frame may speak of which begins
// to leave now.
func (r *Referee) looksBack(o *pauseOut) int64 {
	const wait = 2 * nicspec.VisibleCycles
	from := o.held.back(r.x.First, wait)
	if o.last >= from { // it may have waited behind that frame
		from = min(from, o.held.back(o.first, wait))
	}
	return from
}

// pauseFrameOut judges a pause frame of the device's own.
func (r *Referee) pauseFrameOut() {
	p := &r.rx.ports[r.x.Port]
	o := &p.out
	r.log.Saw(verdict.Port(r.x.Port), &r.x)
	r.stats.Compared++
	r.cnt.Step(nicspec.CntTxPause.Index(r.x.Port), 1, r.now)
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
	for i := range keptPauseConfigs + 1 {
		if c := o.config(i, r.x.First); c != nil {
			if end, ok := c.sent(r.x.Frame.Data); ok {
				return c, end, c.tells()
			}
		}
	}
	if o.late(o.loose, r.x.First) {
		r.failPause(o)
	} else {
		r.log.Lost(verdict.LimitPauses, 1)
	}
	return nil, false, false
}

// config is the i-th latest configuration, nil if no pause frame can be sent by
// it in a cycle.
func (o *pauseOut) config(i int, cycle int64) *pauseConfig {
	c := &o.now
	if i > 0 {
		if c = &o.olds[i-1].pauseConfig; o.late(o.olds[i-1].since, cycle) {
			return nil
		}
	}
	if !c.sends() {
		return nil
	}
	return c
}

// sent reports whether a pause frame is one of this configuration, and whether
// it is one with time 0.
func (c *pauseConfig) sent(frame []byte) (end, ok bool) {
	var want [nicspec.FrameMin]byte
	for _, quanta := range [...]uint16{0, c.PauseTime} {
		core.BuildPause(&c.PortEntryFields, c.mac, quanta, &want)
		if bytes.Equal(want[:], frame) {
			return quanta == 0, true
		}
	}
	return false, false
}

func (r *Referee) failPause(o *pauseOut) {
	d, got := verdict.Port(r.x.Port), r.x.Frame.Data
	var c *pauseConfig
	for i := 0; c == nil; i++ {
		if i > keptPauseConfigs {
			r.log.Fail(d, "F7", "frame", "no pause frame: tx_mode is 0", fmt.Sprintf("one of %d B", len(got)))
			return
		}
		c = o.config(i, r.x.First)
	}
	var want [nicspec.FrameMin]byte
	core.BuildPause(&c.PortEntryFields, c.mac, c.PauseTime, &want)
	if len(want) != len(got) {
		r.log.Fail(d, "F6", "frame length", fmt.Sprint(len(want)), fmt.Sprint(len(got)))
		return
	}
	i := firstDifference(want[:], got)
	r.log.Fail(d, "F6", pauseField(i), byteText(want[i], i), byteText(got[i], i), fmt.Sprintf("a pause frame: %x", got))
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
	o, d := &p.out, verdict.Port(r.x.Port)
	limit := int(cfg.Xoff)
	if o.paused || o.unknown {
		limit = int(cfg.Xon)
	}
	quanta := min(o.quanta, cfg.PauseTime) // half of which has passed, whether the time was written before that began or since
	if again := o.decided + core.PauseCycles(quanta, r.cfg.Build.EthBits)/2; o.paused && !o.unknown && r.x.First < again {
		r.log.Fail(d, "F6", "pause.time", fmt.Sprintf("sent again in cycle %d or later", again), fmt.Sprintf("in cycle %d", r.x.First))
	}
	if most := p.highestLevel(r.looksBack(o)); most <= limit {
		o.open = pauseDoubt{open: true, cycle: r.now, most: most, limit: limit}
	}
	o.paused, o.told, o.quanta, o.unknown, o.lowSince = true, r.x.First, cfg.PauseTime, false, never
	o.decided = o.held.back(r.x.First, o.slack)
	if o.late(o.oldSince, r.now) {
		r.claimLevel(o, pauseClaim{from: r.now, to: r.now + r.pauseAgain(cfg), slack: true, before: p.seq, limit: int(cfg.Xon), missing: true, after: o.told, again: true})
	}
}

// pauseEnds is a pause frame with time 0.
func (r *Referee) pauseEnds(p *rxPort, cfg *pauseConfig) {
	o := &p.out
	if !o.paused && !o.unknown {
		r.log.Fail(verdict.Port(r.x.Port), "F6", "pause.time", "none: no pause is to be ended", "0")
	}
	r.claimLevel(o, pauseClaim{from: r.looksBack(o), to: r.x.First, before: p.seq, limit: int(cfg.Xon)})
	o.paused, o.ended, o.unknown, o.lowSince = false, r.now, false, never
}

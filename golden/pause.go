package golden

import (
	"fmt"

	"nictwin/golden/arrivals"
	"nictwin/golden/pause"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// pauseAt returns the cycles of the current crossing for package pause.
func (r *Referee) pauseAt() pause.At { return pause.At{First: r.x.First, Last: r.now} }

// pauseConfigured handles a write of table PortCfg or of PORT_MAC, which determine the pause frames that the port
// sends.
func (r *Referee) pauseConfigured(port int) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
		return
	}
	p := &r.rx.ports[port]
	if p.out.Configure(*r.regs.PortCfg(port), r.regs.PortMAC(port), r.now) {
		p.stops.Clear() // the contract does not say whether this write ends a stop: forget all stops
	}
}

// pauseFrameOut judges a pause frame that the device sent.
func (r *Referee) pauseFrameOut() {
	p := &r.rx.ports[r.x.Port]
	r.log.AddCrossing(verdict.Port(r.x.Port))
	r.stats.Compared++
	r.cnt.Step(nicspec.CntTxPause.Index(r.x.Port), 1, r.now)
	p.out.Sent(r.x.Frame.Data, r.pauseAt(), p.Seq, p.HighestLevel(p.out.LooksBack(r.x.First)))
}

// endPauses checks [F6] at the end of a run.
func (r *Referee) endPauses() {
	for i := range r.rx.ports {
		p := &r.rx.ports[i]
		p.out.End(r.now, p.Level)
	}
}

// pauseIn records a received frame that the device may honour as a pause frame, or updates it if it is known.
func (r *Referee) pauseIn(f *arrivals.Frame) {
	if !r.cfg.Build.Has(nicspec.PartPause) || f.N < nicspec.FrameMin || f.N > nicspec.FrameMax {
		return
	}
	p, ok := core.ParsePause(f.Data)
	if !ok {
		return
	}
	may, sure := mayPause(f)
	if !may {
		return
	}
	in := pause.In{Seq: f.Seq, Last: f.Last, Frame: p, Sure: sure && r.ver.Sure(f.First), Classes: p.Classes}
	if in.Sure {
		in.Classes &= r.ver.Now().Pause[f.Port].Classes
	}
	if !r.rx.ports[f.Port].stops.Came(in, r.cfg.Build.EthBits) {
		r.log.CountLimit(verdict.LimitStops, 1)
	}
}

// mayPause reports whether the device may honour a frame as a pause frame, and whether it certainly does.
func mayPause(f *arrivals.Frame) (may, sure bool) {
	if len(f.Alts) == 0 {
		may = f.Verdict.Drop == nicspec.CntRxPause
		return may, may
	}
	for i := range f.Alts {
		may = may || f.Alts[i].Drop == nicspec.CntRxPause
	}
	return may, false
}

// checkStopped checks [F4] for the current frame of a queue: it must not have begun while its port or class was
// stopped.
func (r *Referee) checkStopped(q *txq) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
		return
	}
	p := &r.rx.ports[r.x.Port]
	begun := r.firstOffered()
	for _, class := range [...]int{-1, int(q.Ctx.PfcClass)} {
		since, stopped := p.stops.Stopped(r.cfg.Build.EthBits, class, begun)
		if !stopped {
			continue
		}
		want := "no frame begins while the port is stopped"
		if class >= 0 {
			want = fmt.Sprintf("no frame begins while class %d is stopped", class)
		}
		r.log.Fail(q.Domain(), "F4", "frame", want, fmt.Sprintf("one that began in cycle %d", begun),
			fmt.Sprintf("stopped from cycle %d on, at the latest", since))
		return
	}
}

// fetchSlack is the number of cycles from the decision to read a ring to the read's first beat, not counting those
// in which the stream was held back or carried other TLPs.
const fetchSlack = 1024

// fetchedWhileStopped checks [F4] for a read of a queue's ring: it reports a read that was decided while the
// queue's class was stopped on every port.
func (r *Referee) fetchedWhileStopped(q *txq) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
		return
	}
	class := int(q.Ctx.PfcClass)
	for i := range r.rx.ports {
		since, stopped := r.rx.ports[i].stops.Stopped(r.cfg.Build.EthBits, class, r.x.First)
		if !stopped || r.waited(since) <= fetchSlack {
			return
		}
	}
	r.log.Fail(q.Domain(), "F4", "read", fmt.Sprintf("no entry is fetched while class %d is stopped", class), "one",
		r.hdr.String())
}

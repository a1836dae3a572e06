package golden

import (
	"nictwin/golden/arrivals"
	"nictwin/golden/memory"
	"nictwin/golden/pause"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// rxSide tracks the receive side of the device.
type rxSide struct {
	ports  []rxPort
	queues []rxq
	frames memory.Pool[arrivals.Frame]

	accounts []account // empty if the build has no accounts
	unsure   int       // number of frames with several possible verdicts
	plan     core.RxPlan
	joined   []byte
	event    FrameEvent
}

// rxPort tracks the receive side of one port.
type rxPort struct {
	arrivals.Port
	stops pause.Stops
	out   pause.Out
}

func (s *rxSide) init(build *nicspec.Build) {
	s.ports = make([]rxPort, build.Ports)
	s.queues = make([]rxq, build.NumRxq)
	s.accounts = newAccounts(build)
	for i := range s.queues {
		s.queues[i].init(i, build.Ports)
	}
}

// verdicts collects every verdict that a frame can get. For a frame that spans a reset, writes after the reset do
// not count [L2].
func (r *Referee) verdicts(f *arrivals.Frame) {
	span := f.Span()
	if r.spansReset(f) {
		span.Last = r.flr.at
	}
	f.Alts, f.HashOpen = r.ver.Verdicts(&windows.Frame{Span: span, Port: f.Port, Data: f.Data}, f.Alts[:0])
}

// frameIn handles a received frame.
func (r *Referee) frameIn() {
	p := &r.rx.ports[r.x.Port]
	r.settleDrops(p)
	r.settleDevctl()
	f := r.rx.frames.Get()
	data := r.x.Frame.Data
	f.Begin(r.x.Port, p.Seq, data, r.x.First, r.x.Last)
	r.cnt.Sure(nicspec.CntRxFrames.Index(f.Port), 1)
	r.cnt.Sure(nicspec.CntRxBytes.Index(f.Port), uint64(f.N))
	room := arrivals.Room(f.N)
	f.Overflow = p.HighestLevel(f.First)+room > nicspec.RxBufBytes-nicspec.FrameMax
	p.out.Coming(r.pauseAt(), room)
	p.Take(f)
	p.out.Came(r.now, p.Level, p.Seq)
	if f.N > nicspec.FrameMax || r.ver.Sure(f.First) {
		r.ver.Now().Classify(f.Port, data, &f.Verdict)
	} else {
		r.verdicts(f)
		r.dropAcross(f)
	}
	r.assign(p, f)
	r.pauseIn(f)
	d := verdict.Port(f.Port)
	r.log.AddCrossing(d)
	if f.Place == arrivals.ToQueue {
		r.log.AddCrossing(verdict.Rxq(int(f.Verdict.Queue)))
	}
	for p.Bytes > r.cfg.HoldBytes {
		r.giveUp(p, *p.Undecided.Front())
	}
}

// assign puts a frame into the list where its fate will be decided.
func (r *Referee) assign(p *rxPort, f *arrivals.Frame) {
	if len(f.Alts) > 1 {
		f.Place = arrivals.Unsure
		p.Unsure = append(p.Unsure, f)
		r.rx.unsure++
		return
	}
	if len(f.Alts) == 1 {
		f.Verdict, f.Alts = f.Alts[0], f.Alts[:0]
	}
	q := r.rx.queue(f.Verdict.Queue)
	if f.Verdict.Drop == core.NoDrop && q == nil {
		f.Verdict.Drop = nicspec.CntRxDropQueueOff
	}
	if f.Verdict.Drop != core.NoDrop {
		f.Place = arrivals.ToDrop
		p.Drops.Push(f)
		return
	}
	f.Posted, f.Epoch = q.postedBefore(f.First-nicspec.VisibleCycles), q.epoch
	if a := r.rx.accountOf(&f.Verdict); a != nil {
		r.enterAccount(a, f)
		return
	}
	f.Place = arrivals.ToQueue
	q.frames[f.Port].Push(f)
	q.pending++
}

// reconsider classifies the frames again that a configuration write may still affect [R6].
func (r *Referee) reconsider() {
	for i := range r.rx.ports {
		p := &r.rx.ports[i]
		for k := p.Undecided.Len() - 1; k >= 0; k-- {
			f := *p.Undecided.At(k)
			if f == nil {
				continue
			}
			if f.Last+nicspec.VisibleCycles < r.now {
				break
			}
			if f.N > nicspec.FrameMax {
				continue // too long for any rule but [R2]; giveUp decides later why it was dropped
			}
			r.withdraw(p, f)
			r.verdicts(f)
			r.dropAcross(f)
			r.assign(p, f)
			r.pauseIn(f)
		}
	}
}

package golden

import (
	"fmt"

	"nictwin/golden/counters"
	"nictwin/golden/memory"
	"nictwin/golden/pause"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/fifo"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// rxSide is what is known of the receive side.
type rxSide struct {
	ports  []rxPort
	queues []rxq
	frames memory.Pool[rxFrame]

	accounts []account // none without the part
	unsure   int       // frames that may go to more than one place
	plan     core.RxPlan
	joined   []byte
	event    FrameEvent
}

// rxPort is the frames that came in on a port and whose fate is not known.
type rxPort struct {
	seq    uint32                // ordinal of the next frame [R1]
	tab    fifo.Queue[*rxFrame]  // by ordinal; nil when the fate is known
	base   uint32                // ordinal of the first of them
	drops  fifo.Queue[*rxFrame]  // sure to be dropped, unless the configuration still changes
	unsure []*rxFrame            //
	bytes  int                   // held by frames in tab
	level  int                   // most that the receive buffer can hold now [R3]
	left   fifo.Queue[departure] // room that was given back lately
	linger fifo.Queue[departure] // dropped frames that may still be in the buffer
	doubts []doubt               // drops whose cause is not known
	stops  pause.Stops
	out    pause.Out
}

// departure is a frame that leaves the receive buffer.
type departure struct {
	cycle int64 // at which it left, or for linger its last beat
	seq   uint32
	size  int

	cause nicspec.PortCounter // of a drop, if it is sure
	sure  bool
	rule  int // that it matched, if hit
	hit   bool
}

// doubt counts frames that were dropped for one of several causes.
type doubt struct {
	causes counters.Drops
	frames uint64
}

type framePlace uint8

const (
	placeDrop framePlace = iota
	placeQueue
	placeUnsure
	placeAccount // to one of two queues, as the account decides
)

// rxFrame is a frame that came in.
type rxFrame struct {
	data        []byte // empty if it is too long to be delivered
	n           int
	port        int
	seq         uint32
	first, last int64
	v           core.RxVerdict   // unless place is placeUnsure
	alts        []core.RxVerdict // for placeUnsure
	place       framePlace
	hashOpen    bool           // its hash is not certain [S4]
	overflow    bool           // the receive buffer may have been full
	posted      uint16         // producer index that the queue had surely seen [R9]
	epoch       uint32         // of the queue then
	slowPosted  uint16         // likewise of the account's slow queue
	slowEpoch   uint32         //
	earlier     counters.Drops // by contexts of the queue that are forgotten
	next        *rxFrame

	why     counters.Drops // it was dropped, if it was
	hit     int            // rule that it stepped then,
	hitSure bool           // if it did for sure
}

func (f *rxFrame) span() windows.Span { return windows.Span{First: f.first, Last: f.last} }

const bufferUnit = 64 // of the receive buffer [R3]

func (s *rxSide) init(build *nicspec.Build) {
	s.ports = make([]rxPort, build.Ports)
	s.queues = make([]rxq, build.NumRxq)
	s.accounts = newAccounts(build)
	for i := range s.queues {
		s.queues[i].init(i, build.Ports)
	}
}

// verdicts gives a frame every verdict that it can get.
func (r *Referee) verdicts(f *rxFrame) {
	f.alts, f.hashOpen = r.ver.Verdicts(&windows.Frame{Span: f.span(), Port: f.port, Data: f.data}, f.alts[:0])
}

// frameIn takes a frame that came in.
func (r *Referee) frameIn() {
	p := &r.rx.ports[r.x.Port]
	r.settleDrops(p)
	r.settleDevctl()
	f := r.rx.frames.Get()
	data := r.x.Frame.Data
	*f = rxFrame{data: f.data[:0], n: len(data), port: r.x.Port, seq: p.seq, first: r.x.First, last: r.x.Last, alts: f.alts[:0]}
	if f.n <= nicspec.FrameMax {
		f.data = append(f.data, data...)
	}
	p.seq++
	r.cnt.Sure(nicspec.CntRxFrames.Index(f.port), 1)
	r.cnt.Sure(nicspec.CntRxBytes.Index(f.port), uint64(f.n))
	room := roomOf(f.n)
	f.overflow = p.highestLevel(f.first)+room > nicspec.RxBufBytes-nicspec.FrameMax
	p.out.Coming(r.pauseAt(), room)
	p.level += room
	p.out.Came(r.now, p.level, p.seq)
	p.bytes += max(room, bufferUnit)
	p.tab.Push(f)
	if f.n > nicspec.FrameMax || r.ver.Sure(f.first) {
		r.ver.Now().Classify(f.port, data, &f.v)
	} else {
		r.verdicts(f)
		r.dropAcross(f)
	}
	r.assign(p, f)
	r.pauseIn(f)
	d := verdict.Port(f.port)
	r.log.Saw(d)
	if f.place == placeQueue {
		r.log.Saw(verdict.Rxq(int(f.v.Queue)))
	}
	for p.bytes > r.cfg.HoldBytes {
		r.giveUp(p, *p.tab.Front())
	}
}

// assign puts a frame where its fate will be decided.
func (r *Referee) assign(p *rxPort, f *rxFrame) {
	if len(f.alts) > 1 {
		f.place = placeUnsure
		p.unsure = append(p.unsure, f)
		r.rx.unsure++
		return
	}
	if len(f.alts) == 1 {
		f.v, f.alts = f.alts[0], f.alts[:0]
	}
	q := r.rx.queue(f.v.Queue)
	if f.v.Drop == core.NoDrop && q == nil {
		f.v.Drop = nicspec.CntRxDropQueueOff
	}
	if f.v.Drop != core.NoDrop {
		f.place = placeDrop
		p.drops.Push(f)
		return
	}
	f.posted, f.epoch = q.postedBefore(f.first-nicspec.VisibleCycles), q.epoch
	if a := r.rx.accountOf(&f.v); a != nil {
		r.enterAccount(a, f)
		return
	}
	f.place = placeQueue
	q.frames[f.port].push(f)
	q.pending++
}

// withdraw takes a frame out of the place that assign gave it.
func (r *Referee) withdraw(p *rxPort, f *rxFrame) {
	switch f.place {
	case placeUnsure:
		for i := range p.unsure {
			if p.unsure[i] == f {
				p.unsure = append(p.unsure[:i], p.unsure[i+1:]...)
				break
			}
		}
		r.rx.unsure--
	case placeDrop:
		for i := range p.drops.Len() {
			if *p.drops.At(i) == f {
				p.drops.Remove(i)
				break
			}
		}
	case placeQueue:
		q := r.rx.queue(f.v.Queue)
		q.frames[f.port].remove(f)
		q.pending--
	case placeAccount:
		r.leaveAccount(f)
	}
}

// reconsider gives the frames that a configuration write may still concern
// their verdicts anew [R6].
func (r *Referee) reconsider() {
	for i := range r.rx.ports {
		p := &r.rx.ports[i]
		for k := p.tab.Len() - 1; k >= 0; k-- {
			f := *p.tab.At(k)
			if f == nil {
				continue
			}
			if f.last+nicspec.VisibleCycles < r.now {
				break
			}
			if f.n > nicspec.FrameMax {
				continue // [R2] alone: its cause is looked at when it is decided
			}
			r.withdraw(p, f)
			r.verdicts(f)
			r.dropAcross(f)
			r.assign(p, f)
			r.pauseIn(f)
		}
	}
}

// find is the frame with an ordinal, nil if its fate is known.
func (p *rxPort) find(seq uint32) *rxFrame {
	if i := seq - p.base; i < uint32(p.tab.Len()) {
		return *p.tab.At(int(i))
	}
	return nil
}

const keptDepartures = 256

// leaves gives a frame's room back.
func (p *rxPort) leaves(cycle int64, size int) {
	p.level -= size
	if p.left.Len() == keptDepartures {
		p.left.Pop()
	}
	p.left.Push(departure{cycle: cycle, size: size})
}

// resolved forgets a frame whose fate is known. Its room in the buffer is
// given back at once, or when a later frame shows that it has left.
func (r *Referee) resolved(p *rxPort, f *rxFrame, gone bool) {
	if i := f.seq - p.base; i < uint32(p.tab.Len()) {
		*p.tab.At(int(i)) = nil
	}
	for p.tab.Len() > 0 && *p.tab.Front() == nil {
		p.tab.Pop()
		p.base++
	}
	room := roomOf(f.n)
	p.bytes -= max(room, bufferUnit)
	if gone {
		p.leaves(r.now, room)
	} else {
		d := departure{cycle: f.last, seq: f.seq, size: room}
		d.cause, d.sure = f.why.Single()
		d.rule, d.hit = f.hit, f.hitSure
		p.linger.Push(d)
	}
	f.next = nil
	r.rx.frames.Put(f)
}

// passed ends the lingering of the frames before one that was delivered.
func (r *Referee) passed(p *rxPort, seq uint32) {
	for p.linger.Len() > 0 && int32(seq-p.linger.Front().seq) > 0 {
		p.leaves(r.now, p.linger.Pop().size)
	}
}

// describe says what a frame is, on one line.
func (r *Referee) describe(f *rxFrame) string {
	s := fmt.Sprintf("frame %d of port %d: %d B, cycles %d..%d", f.seq, f.port, f.n, f.first, f.last)
	switch f.place {
	case placeDrop:
		return s + ", to be dropped: " + f.v.Drop.String()
	case placeQueue:
		return s + fmt.Sprintf(", for queue %d by %s", f.v.Queue, ruleText(f.v.Rule))
	case placeAccount:
		return s + fmt.Sprintf(", for queue %d, or the slow queue %d of account %d, by %s", f.v.Queue, f.v.Account.Queue, f.v.Account.ID,
			ruleText(f.v.Rule))
	}
	return s + fmt.Sprintf(", caught in a change of the configuration: %d verdicts are possible", len(f.alts))
}

func ruleText(rule uint16) string {
	if rule == nicspec.RuleNone {
		return "the default action"
	}
	return fmt.Sprintf("rule %d", rule)
}

// id names the frame.
func (f *rxFrame) id() *verdict.FrameID { return &verdict.FrameID{Port: f.port, N: f.seq} }

// failRx is a mismatch that is about a frame that came in, which it describes last.
func (r *Referee) failRx(f *rxFrame, index int, d verdict.Domain, rule, field, expected, got string, summary ...string) *verdict.Mismatch {
	s := verdict.Subject{Frame: f.id(), Index: index}
	return r.log.FailOf(s, d, rule, field, expected, got, append(summary, r.describe(f))...)
}

func (r *Referee) pendingFrames() (n uint64) {
	for i := range r.rx.ports {
		n += uint64(r.rx.ports[i].tab.Len())
	}
	return n
}

func roomOf(n int) int { return (n + bufferUnit - 1) / bufferUnit * bufferUnit }

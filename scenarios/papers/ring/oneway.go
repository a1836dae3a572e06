package ring

import (
	"errors"
	"fmt"

	"nictwin/models/rnic"
	"nictwin/models/server/cpu"
	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// rate is the throughput of a design.
type rate struct {
	study.Estimate
	name string // of the run
	f    *flow
	size int
}

// millions returns messages per microsecond.
func (r *rate) millions() float64 { return r.Rate / float64(r.size) * 1e6 }

// Messages per measurement of throughput: tens of batches of spec.Alpha messages, since a batch leaves as a burst. For
// messages of at least `long` bytes, fewer suffice.
const (
	trips = 3840
	long  = 1 << 15
)

// meter returns a meter that counts messages of a size after the ring has been filled once.
func meter(s *study.Session, spec *rb2.Spec, size int) *study.Meter {
	n := trips
	if size >= long && spec.Alpha == 1 {
		n = study.MinRoundTrips
	} else if size >= long {
		n = trips / 3
	}
	m := s.NewMeterAfter(spec.Slots, n)
	if !s.Few() {
		m.Doubling(1)
	}
	return m
}

// scaleOf returns the divisor of cache sizes for messages of a size. Long messages with smaller caches stand for longer
// messages.
func scaleOf(s *study.Session, size int) int {
	if size < long {
		return 1
	}
	return int(s.Input("large.scale"))
}

// oneWay describes a throughput measurement.
type oneWay struct {
	d      design
	size   int
	work   string // name of the input with the time that the receiver spends on a message; empty: no time
	torn   bool   // count messages that are incomplete when they are read
	change func(*rnic.Spec)
}

// throughput measures a design with messages of one size, in one direction, at full rate.
func throughput(s *study.Session, d design, size int) (*rate, error) {
	return oneWay{d: d, size: size}.measure(s)
}

func (o oneWay) measure(s *study.Session) (*rate, error) {
	r, err := o.run(s)
	if err != nil {
		return nil, fmt.Errorf("%s, %d B: %w", o.d.name, o.size, err)
	}
	r.name = o.name()
	s.Ran(r.name, r.Estimate, float64(scaleOf(s, o.size)))
	return r, nil
}

// name names the run.
func (o oneWay) name() string {
	name := fmt.Sprintf("%s, %d B", o.d.name, o.size)
	if o.change != nil {
		name += ", NIC changed"
	}
	return name
}

func (o oneWay) run(s *study.Session) (*rate, error) {
	var change []func(*rnic.Spec)
	if o.change != nil {
		change = append(change, o.change)
	}
	b, err := newBed(s, &o.d, scaleOf(s, o.size), change...)
	if err != nil {
		return nil, err
	}
	m := meter(s, &o.d.spec, o.size)
	f, err := o.software(b, m)
	if err = errors.Join(err, b.run(err)); err != nil {
		return nil, err
	}
	return &rate{Estimate: m.Estimate(), f: f, size: o.size}, nil
}

// software starts the loops of both ends on their cores.
func (o oneWay) software(b *bed, m *study.Meter) (*flow, error) {
	f, err := b.newFlow(&o.d, 0, o.size)
	if err != nil {
		return nil, err
	}
	f.tolerant, f.whole = o.torn, o.torn
	send, err := b.sides[0].loop("sender", f.write)
	if err != nil {
		return nil, err
	}
	recv, err := b.sides[1].loop("receiver", func() bool {
		if !f.read() {
			return false
		}
		if o.work != "" {
			b.sides[1].core.Spend(ns(b.s.Input(o.work)))
		}
		if !m.Done(b.engine.Now(), o.size) {
			b.stop()
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return f, f.watch(send, recv)
}

// raw measures WRITEs without a ring, as perftest does: a window of them in flight, and one completion for several.
func raw(s *study.Session, size int) (*rate, error) {
	d := full(s)
	b, err := newBed(s, &d, scaleOf(s, size))
	if err != nil {
		return nil, err
	}
	m := meter(s, &d.spec, size)
	w := &writer{b: b, m: m, size: size, window: int(s.Input("raw.window")), signal: int(s.Input("raw.signal"))}
	err = w.begin()
	if err = errors.Join(err, b.run(err)); err != nil {
		return nil, fmt.Errorf("raw WRITE, %d B: %w", size, err)
	}
	r := &rate{Estimate: m.Estimate(), name: fmt.Sprintf("raw WRITE, %d B", size), size: size}
	s.Ran(r.name, r.Estimate, float64(scaleOf(s, size)))
	return r, nil
}

// writer posts WRITEs.
type writer struct {
	b                    *bed
	m                    *study.Meter
	size, window, signal int
	posted, ended        int
	qp                   verbs.QP
	cq                   verbs.CQ
	loop                 *cpu.Loop
	wr                   [1]verbs.SendWR
	wcs                  [16]verbs.WC
}

func (w *writer) begin() error {
	caps := verbs.QPCap{MaxSendWR: w.window, MaxSendSGE: 1, MaxRecvWR: 1, MaxRecvSGE: 1}
	qps, cqs, err := w.b.pair([2]verbs.QPCap{caps, caps})
	if err != nil {
		return err
	}
	from, to := w.b.sides[0], w.b.sides[1]
	src, dst := from.alloc(uint64(w.size), 0), to.alloc(uint64(w.size), 0)
	w.qp, w.cq = qps[0], cqs[0]
	w.wr[0] = verbs.SendWR{Opcode: verbs.WRWrite,
		SGEs: []verbs.SGE{{Addr: src, Length: uint32(w.size), LKey: from.mr.LKey}}, RemoteAddr: dst, RKey: to.mr.RKey}
	if w.loop, err = from.loop("sender", w.step); err != nil {
		return err
	}
	_, err = w.cq.Follow(w.poll)
	return err
}

func (w *writer) step() bool {
	if w.posted-w.ended == w.window {
		return false
	}
	w.posted++
	if w.wr[0].Flags = 0; w.posted%w.signal == 0 {
		w.wr[0].Flags = verbs.SendSignaled
	}
	_, err := w.qp.PostSend(w.wr[:])
	w.b.fail(err)
	return true
}

func (w *writer) poll() {
	n, err := w.cq.Poll(w.wcs[:])
	w.b.fail(err)
	for range n * w.signal {
		w.ended++
		if !w.m.Done(w.b.engine.Now(), w.size) {
			w.b.stop()
		}
	}
	w.loop.Wake()
}

// rawInputs are the inputs of function raw, which measures plain WRITEs.
var rawInputs = []study.Input{
	{Name: "raw.window", Value: 128, Unit: "requests", Source: "perftest's default (tx-depth): assumption"},
	{Name: "raw.signal", Value: 64, Unit: "requests", Source: "perftest has a completion for one of 100 (cq-mod); " +
		"here of 64, so that the window holds whole ones: assumption"},
}

// looseTail returns a ring whose tail words lie in its slots. With it, the order in which a NIC writes the bytes of a
// message matters.
func looseTail(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.spec.Tail = "poll the last byte", rb2.TailLast
	return d
}

package ring

import (
	"fmt"

	"nictwin/models/rnic"
	"nictwin/scenarios/experiments/study"
	"nictwin/stack/rb2"
	"nictwin/stack/verbs"
)

// rate is the throughput of a design.
type rate struct {
	study.Estimate
	f       *flow
	size    int
	copying float64 // share of the sender's time in which the core copied, at its rate
}

// millions is messages in a microsecond.
func (r *rate) millions() float64 { return r.Rate / float64(r.size) * 1e6 }

// trips are the messages that a throughput is taken of, and fewTrips those of messages from long bytes on: tens of batches of alpha
// messages each, as these come in bursts.
const (
	trips    = 3840
	fewTrips = 640
	long     = 1 << 15
)

// meter counts messages of a size, once the ring was filled.
func meter(s *study.Session, slots, size int) *study.Meter {
	n := trips
	if size >= long {
		n = fewTrips
	}
	return s.NewMeterAfter(slots, n)
}

// oneWay is what a throughput is measured of.
type oneWay struct {
	d      design
	size   int
	work   string // input: time that the receiver spends on each message; empty: none
	torn   bool   // messages that are not whole when they are read are counted
	change func(*rnic.Spec)
}

// throughput measures a design with messages of a size, one way, as fast as they go.
func throughput(s *study.Session, d design, size int) (*rate, error) {
	return oneWay{d: d, size: size}.measure(s)
}

func (o oneWay) measure(s *study.Session) (*rate, error) {
	r, err := o.run(s)
	if err != nil {
		return nil, fmt.Errorf("%s, %d B: %w", o.d.name, o.size, err)
	}
	s.Ran(fmt.Sprintf("%s, %d B", o.d.name, o.size), r.Estimate, 1)
	return r, nil
}

func (o oneWay) run(s *study.Session) (*rate, error) {
	var change []func(*rnic.Spec)
	if o.change != nil {
		change = append(change, o.change)
	}
	b, err := newBed(s, &o.d, change...)
	if err != nil {
		return nil, err
	}
	f, err := b.newFlow(&o.d, 0, o.size)
	if err != nil {
		return nil, err
	}
	f.tolerant = o.torn
	m := meter(s, o.d.spec.Slots, o.size)
	send, err := b.sides[0].loop("sender", f.write)
	if err != nil {
		return nil, err
	}
	recv, err := b.sides[1].loop("receiver", func() bool {
		if !f.read() {
			return false
		}
		if o.work != "" {
			b.sides[1].core.Spend(ns(s.Input(o.work)))
		}
		if !m.Done(b.engine.Now(), o.size) {
			b.stop()
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if err := f.watch(send, recv); err != nil {
		return nil, err
	}
	if err := b.run(); err != nil {
		return nil, err
	}
	r := &rate{Estimate: m.Estimate(), f: f, size: o.size}
	if o.d.copies {
		c := b.sides[0].core.Spec().Copy
		r.copying = r.Rate * float64(c.Ps) / float64(c.Bytes)
	}
	return r, nil
}

// raw measures WRITEs without a ring, as perftest makes them: one after the other, so many under way, and a completion for one of some.
func raw(s *study.Session, size int) (*rate, error) {
	d := full(s)
	b, err := newBed(s, &d)
	if err != nil {
		return nil, err
	}
	window, signal := int(s.Input("raw.window")), int(s.Input("raw.signal"))
	caps := verbs.QPCap{MaxSendWR: window, MaxSendSGE: 1, MaxRecvWR: 1, MaxRecvSGE: 1}
	qps, cqs, err := b.pair([2]verbs.QPCap{caps, caps})
	if err != nil {
		return nil, err
	}
	from, to := b.sides[0], b.sides[1]
	src, dst := from.alloc(uint64(size), 0), to.alloc(uint64(size), 0)
	wr := []verbs.SendWR{{Opcode: verbs.WRWrite, SGEs: []verbs.SGE{{Addr: src, Length: uint32(size), LKey: from.mr.LKey}}, RemoteAddr: dst, RKey: to.mr.RKey}}
	posted, ended := 0, 0
	m := meter(s, window, size)
	l, err := from.loop("sender", func() bool {
		if posted-ended == window {
			return false
		}
		posted++
		if wr[0].Flags = 0; posted%signal == 0 {
			wr[0].Flags = verbs.SendSignaled
		}
		_, err := qps[0].PostSend(wr)
		b.fail(err)
		return true
	})
	if err != nil {
		return nil, err
	}
	var wcs [16]verbs.WC
	_, err = cqs[0].Follow(func() {
		n, err := cqs[0].Poll(wcs[:])
		b.fail(err)
		for range n * signal {
			ended++
			if !m.Done(b.engine.Now(), size) {
				b.stop()
			}
		}
		l.Wake()
	})
	if err != nil {
		return nil, err
	}
	if err := b.run(); err != nil {
		return nil, fmt.Errorf("raw WRITE, %d B: %w", size, err)
	}
	r := &rate{Estimate: m.Estimate(), size: size}
	s.Ran(fmt.Sprintf("raw WRITE, %d B", size), r.Estimate, 1)
	return r, nil
}

// rawInputs are those of raw.
var rawInputs = []study.Input{
	{Name: "raw.window", Value: 128, Unit: "requests", Source: "perftest's default (tx-depth): assumption"},
	{Name: "raw.signal", Value: 64, Unit: "requests", Source: "perftest has a completion for one of 100 (cq-mod); here of 64, so that the window holds whole ones: assumption"},
}

// looseTail is a ring whose words lie in its slots, for what a NIC's order of bytes does to it.
func looseTail(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.spec.Tail = "poll the last byte", rb2.TailLast
	return d
}

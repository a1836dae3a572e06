package ring

import (
	"errors"
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// trip holds round-trip times, from a message to its answer: mean and tail, in microseconds, with the half widths of
// their 95% confidence intervals, and the names of the runs that the session has of them.
type trip struct {
	mean, meanHalf float64
	tail, tailHalf float64
	runs           [2]string // of the mean, and of the tail
}

// tail is the percentile that the paper prints (section 4-A), as a fraction.
const tail = 0.999

// point returns a mean or a tail as a point of a series.
func point(system string, value, half float64, size, rounds int) study.Point {
	return study.Point{System: system, At: []float64{float64(size)}, Value: value, Half: half, RoundTrips: rounds}
}

// exchange describes requests to a server, which answers each.
type exchange struct {
	d             design
	request, bulk int    // bytes of a request and of its answer
	window        int    // number of requests in flight
	work          string // name of the input with the time that the server spends on a request; empty: no time
	rounds        int
}

// measure runs the exchange. It returns round-trip times in microseconds, and answered requests per microsecond.
func (x exchange) measure(s *study.Session) (t trip, millions float64, err error) {
	b, err := newBed(s, &x.d, 1)
	if err != nil {
		return t, 0, err
	}
	n := s.Scale(x.rounds, study.MinRoundTrips)
	c := &asker{b: b, window: x.window, warm: max(n/10, 2*x.window), at: make([]simcore.Ps, x.window)}
	c.all = n + c.warm
	err = x.software(b, c)
	if err = errors.Join(err, b.run(err)); err != nil {
		return t, 0, fmt.Errorf("%s, %d B: %w", x.d.name, x.request, err)
	}
	return c.result(s, x.name()), float64(n) * 1e6 / float64(c.last-c.first), nil
}

// name names the exchange.
func (x exchange) name() string {
	return fmt.Sprintf("%s, %d B there and %d B back, %d in flight", x.d.name, x.request, x.bulk, x.window)
}

// software starts the loops of client and server on their cores.
func (x exchange) software(b *bed, c *asker) (err error) {
	if c.to, err = b.newFlow(&x.d, 0, x.request); err != nil {
		return err
	}
	if c.back, err = b.newFlow(&x.d, 1, x.bulk); err != nil {
		return err
	}
	client, err := b.sides[0].loop("client", c.step)
	if err != nil {
		return err
	}
	v := &answerer{b: b, to: c.to, back: c.back}
	if x.work != "" {
		v.work = ns(b.s.Input(x.work))
	}
	server, err := b.sides[1].loop("server", v.step)
	if err != nil {
		return err
	}
	return errors.Join(c.to.watch(client, server), c.back.watch(server, client))
}

// asker is the software of the client.
type asker struct {
	b           *bed
	to, back    *flow
	window      int
	warm, all   int
	sent, got   int
	at          []simcore.Ps // times at which requests were written, by number modulo the window
	times       []simcore.Ps
	first, last simcore.Ps
}

// step takes answers and writes requests as the window allows. It sends an incomplete batch when it can neither take an
// answer nor write a request.
func (a *asker) step() bool {
	if a.back.read() {
		n := a.got
		a.got++
		a.b.sides[0].core.Call(func() { a.answered(n) })
		return true
	}
	begun := a.b.engine.Now()
	if a.sent-a.got < a.window && a.sent < a.all && a.to.write() {
		a.at[a.sent%a.window] = begun
		a.sent++
		return true
	}
	a.to.flush()
	return false
}

// answered records the round-trip time of an answer that the core has read completely.
func (a *asker) answered(n int) {
	now := a.b.engine.Now()
	if n >= a.warm {
		a.times = append(a.times, now-a.at[n%a.window])
		a.last = now
	} else {
		a.first = now
	}
	if n == a.all-1 {
		a.b.stop()
	}
}

// result returns the measured times, and records their runs.
func (a *asker) result(s *study.Session, name string) trip {
	const micro = float64(simcore.Microsecond)
	t := trip{runs: [2]string{name + ", mean", name + ", tail"}}
	mean := study.MeanOf(a.times)
	s.Ran(t.runs[0], mean, 1)
	t.mean = 1 / mean.Rate / micro
	t.meanHalf = mean.Relative() * t.mean
	q := study.QuantileOf(a.times, tail)
	s.Ran(t.runs[1], q, 1)
	t.tail = 1 / q.Rate / micro
	t.tailHalf = q.Relative() * t.tail
	return t
}

// answerer is the software of the server.
type answerer struct {
	b        *bed
	to, back *flow
	work     simcore.Ps
	owed     int
}

func (v *answerer) step() bool {
	if v.owed > 0 && v.back.write() {
		v.owed--
		return true
	}
	if v.owed == 0 && v.to.read() {
		v.b.sides[1].core.Spend(v.work)
		v.owed++
		return true
	}
	v.back.flush()
	return false
}

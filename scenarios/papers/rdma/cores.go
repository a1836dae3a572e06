package rdma

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/papers/study"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/rnicverbs"
)

// Cores measures what posting a request costs software on simulated cores, and compares it with the costs that
// experiment path/doorbell charges its threads.
var Cores = study.Experiment{
	Group: "path", Name: "cores", Title: "Posting by software on simulated cores, against the charged costs",
	Figures:  "OP Fig. 10, section 3.3 Advice 4",
	Pictures: coresPictures,
	Inputs: inputs(
		study.Input{Name: "payload", Value: 64, Unit: "B", Source: "assumption: small; Fig. 10 does not print it"},
		study.Input{Name: "take", Value: 8, Unit: "ns", Source: "stack/driver/corebus: 20 cycles at 2.5 GHz for 64 B " +
			"that were read (assumption)"},
		study.Input{Name: "look", Value: 25, Unit: "ns", Source: "stack/driver/corebus: 62 cycles at 2.5 GHz for a " +
			"look at a completion ring (fs.sq_loop_2000)"},
	),
	Run: onCores,
}

// corePoster is a simulated core that posts requests.
type corePoster struct {
	name, path       string
	endpoint, socket int
	requester        uint16
}

// corePosters lists the cores. For each core of socket 0, a thread whose costs are charged as inputs is measured as
// well, with the same window. Queues and data are in the memory of socket 0.
var corePosters = []corePoster{
	{"Arm core", s2h, nicspec.EndpointArm, 0, nicspec.RequesterArm},
	{"host core", h2s, nicspec.EndpointHost, 0, nicspec.RequesterHost},
	{"host core of the other socket", h2s, nicspec.EndpointHost, 1, nicspec.RequesterHost},
}

func onCores(s *study.Session) error {
	x := study.NewSeries("posting", "Time of a request with one core or thread posting; batch 1 is an MMIO for each",
		"time a request", "ns", study.Axis{Name: "batch", Unit: "entries"})
	for _, p := range corePosters {
		for _, batch := range study.Points(s, append([]int{1}, batches...)) {
			at := float64(batch)
			e, err := p.post(s, batch)
			if err != nil {
				return fmt.Errorf("%s, batch %d: %w", p.name, batch, err)
			}
			addTime(x, p.name+", software", e, at)
			if p.socket > 0 {
				continue
			}
			if e, err = postCharged(s, p.path, batch); err != nil {
				return fmt.Errorf("%s charged, batch %d: %w", p.name, batch, err)
			}
			addTime(x, p.name+", charged", e, at)
		}
	}
	s.Record(x)
	return nil
}

// addTime adds the time per request to a series.
func addTime(x *study.Series, system string, e study.Estimate, at float64) {
	const ns = 1e-3
	v := ns / e.Rate
	x.Points = append(x.Points, study.Point{System: system, At: []float64{at}, Value: v, Half: e.Relative() * v,
		RoundTrips: e.RoundTrips})
}

// aheadOf returns the number of requests that a poster has in flight: at least as many READs as the NIC accepts.
func aheadOf(batch int) int { return max(2*batch, rnicspec.MaxRead) }

// signalOf returns how many requests share one completion entry.
func signalOf(batch int) int { return max(batch, 2) }

// postCharged returns the rate at which a thread posts if each step costs the time that the experiment's inputs give,
// in place of simulated software.
func postCharged(s *study.Session, path string, batch int) (study.Estimate, error) {
	b, err := newBed(s, snic, 0)
	if err != nil {
		return study.Estimate{}, err
	}
	l := b.newLoad(s.NewMeterAfter(2*aheadOf(batch), study.MinRoundTrips))
	from, to := b.ends(path, 0)
	w := works(s, from, rnicspec.Read, int(s.Input("payload")))
	if w.window, w.signal = aheadOf(batch), signalOf(batch); batch > 1 {
		w.batch = batch
	}
	l.start(from, to, w)
	if err := l.run(); err != nil {
		return study.Estimate{}, err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	s.Ran(fmt.Sprintf("charged, %s, batch %d", path, batch), l.meter.Estimate(), 1)
	return l.meter.Estimate(), nil
}

// coreLoad is a verbs driver on one core that posts READs of the other endpoint's memory over a loopback queue pair.
type coreLoad struct {
	s      *study.Session
	engine *simcore.Engine
	card   *board.Card
	dev    *rnicverbs.Device
	cq     *rnicverbs.CQ
	qp     *rnicverbs.QP
	meter  *study.Meter
	wqe    rnicspec.WQE
	period simcore.Ps // period of the core's clock
	err    error

	batch, window, signal int
	posted, ended         int
	to                    uint64
	over, busy, again     bool
}

// Addresses in a coreLoad's memory of its rings, of the READs' destination and of their source, and the size of
// destination and source.
const (
	coreArena = 1 << 20
	coreInto  = 64 << 20
	coreFrom  = 128 << 20
	coreSpan  = 32 << 20
)

// post returns the rate at which software on the core posts requests.
func (p corePoster) post(s *study.Session, batch int) (study.Estimate, error) {
	ep := p.endpoint
	l := &coreLoad{s: s, engine: simcore.NewEngine(), batch: batch, window: aheadOf(batch), signal: signalOf(batch),
		to: mem.Bus(1-ep, coreFrom)}
	l.meter = s.NewMeterAfter(2*l.window, study.MinRoundTrips)
	c, err := cardSpec(s, "Target", "bf2-cores")
	if err != nil {
		return study.Estimate{}, err
	}
	l.period = [...]simcore.Ps{nicspec.EndpointArm: c.Switch.Arm.Host.CPU.Period,
		nicspec.EndpointHost: c.Switch.Host.Host.CPU.Period}[ep]
	whole := board.DefaultEndpoint()
	c.Endpoint.ArmBytes, c.Endpoint.HostBytes = whole.ArmBytes, whole.HostBytes
	n, err := nicSpec(s, snic)
	if err != nil {
		return study.Estimate{}, err
	}
	if l.card, err = board.NewCard(l.engine, new(board.Pools), c, device.RNIC(n)); err != nil {
		return study.Estimate{}, err
	}
	r := l.card.Host
	if ep == nicspec.EndpointArm {
		r = l.card.Root
	}
	if err := l.open(p, r.MMIO(p.requester)); err != nil {
		return study.Estimate{}, errors.Join(err, l.card.Close())
	}
	e := l.meter.Estimate()
	s.Outcome.SimPs += int64(l.engine.Now())
	s.Ran(fmt.Sprintf("%s, batch %d", p.name, batch), e, 1)
	return e, errors.Join(l.card.Close(), s.Err())
}

// open sets up the queue pair by the driver on the core, and then starts the load.
func (l *coreLoad) open(p corePoster, regs *root.MMIO) error {
	ep := p.endpoint
	x, err := l.card.Memory.Host(ep).Core(p.socket, 0)
	if err != nil {
		return err
	}
	side := map[int]string{nicspec.EndpointArm: "arm", nicspec.EndpointHost: "host"}[ep]
	cycles := func(name string) int64 { return int64((ns(l.s.Input(name)) + l.period/2) / l.period) }
	bus, err := corebus.New(x.Core, regs, corebus.Spec{Poll: cycles("look"), Build: cycles(side + ".build"),
		Take: cycles("take")})
	if err != nil {
		return err
	}
	if l.dev, err = rnicverbs.Open(bus, driver.NewArena(mem.Bus(ep, coreArena), coreInto-coreArena)); err != nil {
		return err
	}
	if err := l.connect(ep); err != nil {
		return err
	}
	return errors.Join(l.engine.Run(), l.err, l.dev.Err(), l.card.Err())
}

func (l *coreLoad) connect(ep int) error {
	d := l.dev
	d.SetPort(rnicspec.SetPort{MAC: mac(0), IP: ip(0)})
	for e := range 2 {
		d.RegMR(rnicspec.CreateMR{Key: key(e), Access: rnicspec.AllAccess, PageLog: 21, VA: mem.Bus(e, 0),
			Bus: mem.Bus(e, 0), Bytes: coreFrom + coreSpan})
	}
	const log = 8
	var err error
	if l.cq, err = d.NewCQ(log); err != nil {
		return err
	}
	var q [2]*rnicverbs.QP
	for i := range q {
		if q[i], err = d.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: log, RecvLog: 0, Send: l.cq,
			Recv: l.cq}); err != nil {
			return err
		}
	}
	self := d.NewAH(rnicspec.CreateAH{MAC: mac(0), IP: ip(0), UDPPort: 0xc000, TTL: 64})
	for i := range q {
		q[i].Connect(rnicspec.ModifyQP{
			State: rnicspec.RTS, DestQP: q[1-i].Num(), Handle: self, PMTU: uint16(l.s.Input("net.mtu")),
			Access:  rnicspec.AllAccess,
			MaxRead: rnicspec.MaxRead, Retries: 7, RNRRetry: 7, MinRNR: 1,
		})
	}
	l.qp = q[0]
	l.wqe = rnicspec.WQE{
		Opcode: rnicspec.Read, Length: uint32(l.s.Input("payload")), LocalVA: mem.Bus(ep, coreInto), LocalKey: key(ep),
		RemoteKey: key(1 - ep),
	}
	if _, err = l.cq.Follow(l.poll); err != nil {
		return err
	}
	d.Then(l.post)
	return nil
}

func (l *coreLoad) fail(err error) {
	if err != nil && l.err == nil {
		l.err = err
		l.over = true
		l.engine.Stop()
	}
}

// post posts requests, a batch at a time, until the window is full.
func (l *coreLoad) post() {
	for !l.over && l.posted-l.ended+l.batch <= l.window {
		for range l.batch {
			l.posted++
			l.wqe.RemoteVA = l.to + uint64(l.posted)*4096%coreSpan
			if l.wqe.Flags = 0; l.posted%l.signal == 0 {
				l.wqe.Flags = rnicspec.FlagSignalled
			}
			if l.batch == 1 {
				l.fail(l.qp.Push(&l.wqe))
			} else {
				l.fail(l.qp.Post(&l.wqe))
			}
		}
		if l.batch > 1 {
			l.fail(l.qp.Ring())
		}
	}
}

// poll takes the completion entries that have arrived, and posts new requests for those that completed.
func (l *coreLoad) poll() {
	if l.busy {
		l.again = true
		return
	}
	l.busy = true
	l.fail(l.cq.Poll(l.takeEntries, l.polled))
}

func (l *coreLoad) takeEntries(c *rnicspec.CQE) {
	if c.Status != rnicspec.OK {
		l.fail(fmt.Errorf("%v ended with %v", c.Opcode, c.Status))
	}
	l.ended += l.signal
	if !l.over && !l.meter.Done(l.engine.Now(), l.signal) {
		l.over = true
	}
}

func (l *coreLoad) polled(int) {
	l.busy = false
	if l.again {
		l.again = false
		l.poll()
		return
	}
	l.post()
}

package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/ether"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
)

// Run is one replay, ready to be played.
type Run struct {
	opts   Options
	supply *traffic.Supply

	bed    *testbed.Bed
	engine *simcore.Engine
	dev    device.Device
	drv    *driver.Driver
	ports  players
	rx     *receive  // nil when dir is tx
	tx     *transmit // nil when dir is rx
	judge  *judge

	ctx          context.Context
	ev           simcore.Event
	phase        phase
	progress     simcore.Ps // time of the latest progress
	waited       simcore.Ps // longest wait for progress so far, not counting the current one
	progressMark uint64     // value of progressCount at the latest progress
	polls        int        // number of polls since the latest progress
	polling      bool       // a poll is in flight
	limits       limits
	counters     driver.Counters
	polled       map[int]uint64
	err          error
	before       rtlbridge.Wall // the bridge's clocks at the start of Play
}

type phase int

const (
	phaseSetup phase = iota
	phaseTraffic
	phaseSettle
	phaseCounters
	phaseDone
)

var phaseNames = [...]string{"setting the NIC up", "traffic", "waiting until the NIC has settled", "reading counters",
	"done"}

// New reads the captures and connects the testbed. The caller must Close
// the run.
func New(ctx context.Context, o Options) (*Run, error) {
	if err := o.Validate(); err != nil {
		return nil, &UsageError{err}
	}
	r := &Run{opts: o, ctx: ctx}
	var err error
	if r.supply, err = traffic.NewSupply(ctx, o.supply()); err != nil {
		return nil, errors.Join(&UsageError{err}, r.supply.Close())
	}
	spec := o.spec()
	spec.Context = ctx
	if r.bed, err = testbed.New(spec); err != nil {
		return nil, errors.Join(err, r.supply.Close())
	}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, r.bed.Close(), r.supply.Close())
	}
	return r, nil
}

// Engine returns the run's engine, for observers.
func (r *Run) Engine() *simcore.Engine { return r.engine }

// UsageError reports a mistake in options or input files.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// load sets up the testbed's traffic.
func (r *Run) load() error {
	b := r.bed
	r.engine, r.dev, r.drv, r.ports = b.Engine, b.NIC, b.Driver, b.Players
	if r.opts.Dir != "tx" {
		pace, err := b.Pace(r.opts.Speed)
		if err != nil {
			return &UsageError{err}
		}
		r.rx = &receive{ports: r.ports, fail: r.fail, shape: r.shape(), inFlight: make([]inFlight, len(r.ports))}
		for p, frames := range r.supply.Playlists() {
			err := r.ports[p].Load(traffic.Track{Source: frames, Pace: pace, Stall: r.opts.Stall,
				MaxGap: r.opts.MaxGap})
			if err != nil {
				return &UsageError{err}
			}
			r.rx.pass = append(r.rx.pass, frames.Pass())
			r.ports[p].Played = func(_ int, f traffic.Frame) { r.rx.inFlight[p].add(f) }
		}
	}
	if r.opts.Dir != "rx" {
		const stream = 0x7478 // seeds the draw of how a frame is cut into descriptors
		r.tx = &transmit{
			d: r.drv, mem: r.bed.Memory, frames: traffic.NewTurns(r.supply.Playlists()), longest: r.supply.Longest,
			pass:  r.supply.Frames,
			total: r.supply.Frames * r.opts.Loop, fix: r.opts.Fix, fail: r.fail,
			shape: r.shape(), rng: rand.New(rand.NewPCG(r.opts.Seed, stream)),
		}
	}
	for p := range r.ports {
		r.ports[p].Take = func(f *ether.Frame) { r.cameOut(p, f) }
	}
	r.ev.H = r
	r.limits = limitsOf(b).little(r.opts.Patience)
	if r.opts.Observe != nil {
		r.dev.Observe(r.opts.Observe)
	}
	var err error
	r.judge, err = newJudge(r)
	return err
}

func (r *Run) shape() *Shape {
	if r.opts.Shape == nil {
		return everyKind()
	}
	return r.opts.Shape
}

// BridgeDigest returns the digest of everything an RTL device did, which playback of the recording must repeat; it
// needs Options.Digest.
func (r *Run) BridgeDigest() uint64 { return r.dev.Digest() }

func (r *Run) cameOut(port int, f *ether.Frame) {
	if r.tx != nil {
		r.tx.sent(port, f)
	}
}

// ReceiveQueues returns the receive queues, once Play has begun.
func (r *Run) ReceiveQueues() []*driver.Copier {
	if r.rx == nil {
		return nil
	}
	return r.rx.queues
}

// TransmitQueues returns the transmit queues, once Play has begun.
func (r *Run) TransmitQueues() []*driver.TxQueue {
	if r.tx == nil {
		return nil
	}
	var list []*driver.TxQueue
	for _, q := range r.tx.queues {
		list = append(list, q.TxQueue)
	}
	return list
}

// Close closes the device.
func (r *Run) Close() error {
	return errors.Join(r.bed.Close(), r.judge.Close(), r.supply.Close())
}

// Play plays everything and judges it. The error is not nil if the run could not finish; faults of the NIC are in the
// result.
func (r *Run) Play() (*Result, error) {
	begin := stopwatch()
	r.before = r.dev.Wall()
	if err := r.setup(); err != nil {
		return nil, err
	}
	if err := r.bed.Begin(func() bool { return r.phase == phaseDone }); err != nil {
		return nil, err
	}
	r.wait()
	err := atRest(r.engine.Run())
	if err == nil {
		err = r.err
	}
	if err == nil {
		err = errors.Join(r.drv.Err(), r.bed.Err())
	}
	return r.result(begin(), err)
}

func (r *Run) setup() error {
	if r.rx != nil {
		if err := r.rx.setup(r.drv); err != nil {
			return err
		}
	}
	if r.tx != nil {
		if err := r.tx.setup(); err != nil {
			return err
		}
	}
	r.drv.Enable(true, true)
	r.drv.Sync() // wait until all register writes have taken effect before traffic starts
	r.drv.Then(r.traffic)
	return nil
}

func (r *Run) traffic() {
	r.phase = phaseTraffic
	for _, p := range r.ports {
		r.fail(p.Start())
	}
	if r.tx != nil {
		r.fail(r.tx.post())
	}
}

func (r *Run) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

func (r *Run) wait() {
	r.ev.At = simcore.Now(r.engine) + r.limits.look
	r.engine.Schedule(&r.ev)
}

// Handle checks the run's progress at regular intervals (sim.Handler).
func (r *Run) Handle(sim.Event) error {
	if err := errors.Join(r.err, r.drv.Err(), r.bed.Err(), r.bed.Overdue(), r.ctx.Err()); err != nil {
		return err
	}
	if r.opts.Beat.Wants() {
		r.opts.Beat.Report(r.status())
	}
	if r.phase == phaseTraffic && r.offered() {
		r.phase = phaseSettle
		r.poll()
	}
	if r.phase == phaseDone {
		return nil
	}
	if n := r.progressCount(); n != r.progressMark {
		r.waited = max(r.waited, simcore.Now(r.engine)-r.progress)
		r.progressMark, r.progress, r.polls = n, simcore.Now(r.engine), 0
		if r.opts.Progress != nil {
			r.opts.Progress(r.doneFrames(), r.allFrames())
		}
	} else if r.pausing() {
		r.progress = simcore.Now(r.engine)
	} else if simcore.Now(r.engine)-r.progress > r.limits.patience && !r.polling {
		return r.stuck()
	}
	r.wait()
	return nil
}

// offered reports whether all frames were sent and all entries posted.
func (r *Run) offered() bool {
	return (r.rx == nil || r.ports.sent() == r.ports.total()) && (r.tx == nil || r.tx.done())
}

// pausing reports whether a player waits for the time of its next frame. A gap of any length is not the NIC's fault.
func (r *Run) pausing() bool {
	return r.phase == phaseTraffic && r.rx != nil &&
		slices.ContainsFunc(r.ports, func(p *traffic.Player) bool { return p.Sent() < p.Total() && !p.Held() })
}

// progressCount returns a number that grows with any progress of the run. Register reads by which the run waits for an
// idle NIC do not count.
func (r *Run) progressCount() uint64 {
	n := uint64(r.ports.sent()) + uint64(r.phase)
	if r.phase == phaseSetup || r.phase == phaseCounters {
		n += r.drv.Begun()
	}
	if r.rx != nil {
		n += uint64(r.rx.got)
	}
	if r.tx != nil {
		n += uint64(r.tx.out + r.tx.next + r.tx.bad)
	}
	return n
}

func (r *Run) doneFrames() int {
	n := 0
	if r.rx != nil {
		n += r.ports.sent()
	}
	if r.tx != nil {
		n += r.tx.out + r.tx.bad
	}
	return n
}

func (r *Run) allFrames() int {
	n := 0
	if r.rx != nil {
		n += r.ports.total()
	}
	if r.tx != nil {
		n += r.tx.total
	}
	return n
}

// poll reads the receive counters and STATUS, again and again, until every frame is accounted for and the device is
// idle.
func (r *Run) poll() {
	r.polled, r.polling = map[int]uint64{}, true
	read := func(index int) {
		r.drv.ReadReg(nicspec.RegCounter(index), 8, func(v uint64) { r.polled[index] = v })
	}
	for p := range r.ports {
		read(nicspec.CntRxFrames.Index(p))
		read(nicspec.CntRxDelivered.Index(p))
		for _, c := range nicspec.DropCounters {
			read(c.Index(p))
		}
	}
	r.drv.ReadReg(nicspec.RegStatus, 4, func(v uint64) { r.polled[-1] = v })
	r.drv.Then(r.settled)
}

func (r *Run) settled() {
	r.polling = false
	r.polls++
	if r.polled[-1] == 0 && r.accounted(r.polled) {
		r.phase = phaseCounters
		r.fail(r.drv.ReadRuleHits(rxRulesMax, func([]uint64) {})) // for the referee, which compares them with its own
		r.drv.ReadCounters(func(c driver.Counters) {
			r.counters, r.phase = c, phaseDone
		})
		return
	}
	if r.err == nil && (r.polls < leastPolls || simcore.Now(r.engine)-r.progress <= r.limits.patience) {
		r.poll()
	}
}

// rxRulesMax bounds the rules that a replay uses.
const rxRulesMax = 16

var _ sim.Handler = (*Run)(nil)

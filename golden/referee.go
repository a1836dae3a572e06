package golden

import (
	"errors"
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/buffers"
	"nictwin/golden/counters"
	"nictwin/golden/msix"
	"nictwin/golden/pause"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Referee judges one run of one device. Make it with New, feed it every
// crossing in order with Observe, and end it with Finish. It is not safe for
// concurrent use.
type Referee struct {
	cfg  Config
	regs *core.Regs
	mon  *tlp.Monitor

	x       boundary.Crossing // current crossing
	now     int64             // cycle of the current crossing's last beat
	work    int64             // last cycle in which anything but a read of registers crossed
	hdr     tlp.Header        // header of the current TLP
	outcome core.Outcome      // effects of the current request

	dig verdict.Digest
	log *verdict.Log
	cnt counters.Bounds
	ver *windows.Receive

	devctl windows.Devctl
	held   backpressure
	msg    *msix.Messages
	flr    flrSide
	pin    busyPin

	bar barSide
	rx  rxSide
	tx  txSide
	ent *attribution.Entries
	buf *buffers.Buffers

	stats   Stats
	fault   string // reason for which the crossings cannot be judged; empty if they can
	stopped bool   // the device ended the run before the counters were read
}

// New returns a referee for a device that was just reset.
func New(cfg Config) (*Referee, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	mon := tlp.DefaultMonitorConfig()
	r := &Referee{cfg: cfg, regs: core.NewRegs(cfg.Build), now: -1}
	mon.Limits = r.regs.Limits()
	mon.DeviceID, mon.CheckDeviceID = nicspec.RequesterNic, true
	var err error
	if r.mon, err = tlp.NewMonitor(mon); err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	r.dig = verdict.NewDigest()
	r.log = verdict.NewLog(cfg.NIC, cfg.MaxMismatches, cfg.OnMismatch, cfg.Build.Ports, cfg.Build.NumRxq,
		cfg.Build.NumTxq)
	r.msg = msix.New(r.log)
	r.ver = windows.NewReceive(r.regs)
	r.devctl.Reset(r.regs)
	r.flr.over = never
	r.pin.init()
	r.held.init(cfg.Build.Ports)
	r.bar.reset(r.regs)
	r.rx.init(&cfg.Build)
	for i := range r.rx.ports {
		r.rx.ports[i].out = pause.NewOut(i, cfg.Build.EthBits, &r.held.eth[i], r.log)
	}
	r.tx.init(&cfg.Build)
	for i := range r.rx.queues {
		r.rx.queues[i].msgs = r.msg.Queue(verdict.Rxq(i))
	}
	for i := range r.tx.queues {
		r.tx.queues[i].msgs = r.msg.Queue(verdict.Txq(i))
	}
	queues := make([]*attribution.Queue, len(r.tx.queues))
	for i := range queues {
		queues[i] = &r.tx.queues[i].Queue
	}
	r.ent = attribution.NewEntries(&cfg.Build, queues, r.regs.CplTimeout(), r.log)
	slots := make([]*buffers.Queue, len(r.rx.queues))
	for i := range slots {
		slots[i] = &r.rx.queues[i].Queue
	}
	r.buf = buffers.New(slots, &r.ent.Writable)
	return r, nil
}

// Observe takes the next crossing. It keeps no pointer of the crossing. Crossings come in the order
// of their last cycles, inputs before outputs within a cycle.
func (r *Referee) Observe(x boundary.Crossing) {
	if r.fault != "" {
		return
	}
	if r.fault = r.invalid(&x); r.fault != "" {
		return
	}
	r.x, r.now = x, x.Last
	r.ent.Now = r.now
	r.log.At(&r.x)
	r.dig.Add(&r.x)
	r.stats.count(&r.x)
	r.cnt.Trim(r.now)
	if r.now > r.ent.Out.Next {
		r.expireReads()
	}
	switch x.Kind {
	case boundary.FrameIn:
		r.work = r.now
		r.frameIn()
	case boundary.FrameOut:
		r.work, r.flr.work = r.now, r.now
		r.mustBeBusy(verdict.Device, "a frame that is leaving", x.First-1, x.Last)
		r.frameOut()
	case boundary.TLPIn:
		r.tlpIn()
	default:
		r.mustBeBusy(verdict.Device, "a TLP that is leaving", x.First-1, x.Last)
		r.tlpOut()
		r.held.used.Add(x.First, x.Last)
	}
	r.x.Frame, r.x.TLP = nil, nil
}

var _ boundary.Observer = (*Referee)(nil).Observe

// invalid returns the reason for which a crossing is invalid, empty if it is valid.
func (r *Referee) invalid(x *boundary.Crossing) string {
	switch {
	case x.Kind >= boundary.NumKinds:
		return fmt.Sprintf("crossing of unknown kind %d", x.Kind)
	case x.Last < r.now || x.First > x.Last:
		return fmt.Sprintf("%v is out of order after cycle %d", *x, r.now)
	case x.Kind.IsTLP() && x.TLP == nil, !x.Kind.IsTLP() && x.Frame == nil:
		return fmt.Sprintf("%v carries nothing", *x)
	case uint(x.Port) >= uint(r.cfg.Build.Ports):
		return fmt.Sprintf("%v: the build has %d ports", *x, r.cfg.Build.Ports)
	}
	return ""
}

// Mismatches returns the number of mismatches so far.
func (r *Referee) Mismatches() uint64 {
	return r.log.Mismatches()
}

// tlpOut judges a TLP that the device sends.
func (r *Referee) tlpOut() {
	p := r.x.TLP
	r.hdr = *p.Parsed()
	h := &r.hdr
	r.expireReused(h)
	broken := r.mon.Check(tlp.FromDevice, uint64(r.now), p)
	if h.Kind.IsCompletion() {
		if before := r.log.Mismatches(); r.answerOut() && r.log.Mismatches() == before {
			r.reportViolations(verdict.Registers, broken)
		}
		return
	}
	r.work = r.now
	r.flr.work = r.now
	d := verdict.Device
	if len(broken) > 0 {
		r.log.AddCrossing(d)
		r.reportViolations(d, broken)
	}
	if h.Kind.IsMemory() {
		r.checkSize(h)
	}
	if h.Kind.IsMemory() && (h.TC != 0 || h.EP || h.Kind == tlp.MWr && h.Tag != 0) {
		r.failFlags(h)
	}
	switch h.Kind {
	case tlp.MRd:
		r.readOut()
	case tlp.MWr:
		r.writeOut()
	case tlp.MsgD:
		r.messageOut()
	default:
		r.log.AddCrossing(d)
		r.log.Fail(d, "P2", "Kind", "MRd, MWr, Cpl or CplD", h.Kind.String(), p.String())
	}
}

// tlpIn handles a TLP given to the device.
func (r *Referee) tlpIn() {
	p := r.x.TLP
	completion := core.DecodeInbound(&p.Hdr, &r.hdr) == core.InCompletion
	if completion && r.tooEarly(&r.hdr) { // r.mon sees only last beats: it would accept the completion
		r.stats.Foreign++
	} else if broken := r.mon.Check(tlp.ToDevice, uint64(r.now), p); len(broken) > 0 {
		r.stats.Foreign += uint64(len(broken))
	}
	if completion {
		r.work = r.now
		r.completionIn()
		return
	}
	r.requestIn()
}

// Config describes the device that a Referee watches and what the scenario allows. Start from
// DefaultConfig.
type Config struct {
	// NIC names the watched NIC in mismatches; empty if it is the only one.
	NIC string

	// Build is the build of the NIC behind the boundary [B2].
	Build nicspec.Build

	// MaxMismatches is the number of mismatches kept in full; later ones are only counted. 1 or
	// more.
	MaxMismatches int

	// ForbidOverflow and ForbidNoDesc make drops by RX_DROP_OVERFLOW and
	// RX_DROP_NO_DESC mismatches even where the contract allows them.
	ForbidOverflow bool
	ForbidNoDesc   bool

	// LingerCycles and HoldBytes are the bounds described in the package comment.
	LingerCycles int64
	HoldBytes    int

	// OnFrame, if set, is called for every frame that was compared.
	OnFrame func(*FrameEvent)

	// OnMismatch, if set, is called for every mismatch that is kept.
	OnMismatch func(*verdict.Mismatch)
}

// DefaultConfig returns the default configuration for a build.
func DefaultConfig(build nicspec.Build) Config {
	return Config{Build: build, MaxMismatches: 20, LingerCycles: 1 << 14, HoldBytes: 4 << 20}
}

// Validate returns every error of the configuration.
func (c *Config) Validate() error {
	var errs []error
	if err := c.Build.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("golden: %w", err))
	}
	if c.MaxMismatches < 1 {
		errs = append(errs, fmt.Errorf("golden: MaxMismatches is %d: want 1 or more", c.MaxMismatches))
	}
	if c.LingerCycles < 0 {
		errs = append(errs, fmt.Errorf("golden: LingerCycles is %d: want 0 or more", c.LingerCycles))
	}
	if c.HoldBytes < nicspec.RxBufBytes {
		errs = append(errs, fmt.Errorf("golden: HoldBytes is %d: want at least the receive buffer, %d",
			c.HoldBytes, nicspec.RxBufBytes))
	}
	return errors.Join(errs...)
}

// FrameEvent is one frame that was compared. It and its bytes are valid until the hook returns.
type FrameEvent struct {
	Rx       bool // delivered to memory; else sent by the device
	Known    bool // ID is valid
	ID       verdict.FrameID
	Port     int
	Queue    int
	Cycle    int64             // cycle in which the device finished the frame
	Since    int64             // if Known: cycle in which the device had the whole frame (Rx) or work entry
	Expected []byte            // frame that came in, or that had to leave; nil if unknown
	Got      []byte            // bytes in memory, or frame that left
	Mismatch *verdict.Mismatch // first mismatch of the frame, or nil
}

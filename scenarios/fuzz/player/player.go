package player

import (
	"errors"

	"nictwin/models/board"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/traffic"
)

// player performs a program's operations on a board as the driver, and plays the other parties of the traffic.
type player struct {
	prog        *program.Program
	sizes       nicspec.Build
	b           *testbed.Bed
	root        *root.Root
	judge       *judge.Judge
	watcher     *watcher
	waits       waits
	writeCycles int   // cycles that a software write takes to reach the NIC
	tag         uint8 // tag of the next raw request
	reads       rawReads
	// cardMPS is the MPS of a card's links; 0: a plain card, without a limit.
	cardMPS       int
	ctrl          uint32     // CTRL as last written
	gateOpensAt   simcore.Ps // time from which on the NIC can send TLPs again; 0: nothing holds them back
	arrivedFrames int        // frames that arrived at the NIC
	lastIn        int64      // cycle in which the latest frame arrived at the NIC
	done          bool       // the run is over: no further request may be sent to the device
	idleAt        int64      // latest cycle in which the busy pin was 0

	nic openReads // reads in flight of the NIC

	rx   map[int]*rxRing // enabled receive queues, by number
	tx   map[int]*txRing
	at   [program.Regions]uint64 // first bus address that the player uses in each part of memory
	free [program.Regions]uint64 // first free bus address of each part of memory
	used [program.Regions]uint64 // bytes of each part of memory that pieces in use occupy
	last [program.Regions]uint64 // address of the latest piece in each part of memory
	keys map[int]keyInForce
	held map[uint64]simcore.Ps // by first address of a fault: time until which the latest read there stays unanswered
}

// starts returns the first bus address to allocate in each part of memory.
func starts(b *program.Board) [program.Regions]uint64 {
	at := func(offset uint64) uint64 {
		if offset == 0 {
			return program.HighAt
		}
		return offset
	}
	return [program.Regions]uint64{mem.Bus(nicspec.EndpointHost, at(b.HostAt)),
		mem.Bus(nicspec.EndpointArm, program.LowAt), mem.Bus(nicspec.EndpointArm, at(b.ArmAt))}
}

const (
	linkCycles   = 64   // latency of a link: short, so that waits cost few cycles
	regTags      = 128  // register reads in flight
	leastTimeout = 1024 // minimum time-out of a read, in cycles [P6]
)

// Build builds the board with the NIC under test.
type Build func(testbed.Spec) (*testbed.Bed, error)

func newPlayer(p *program.Program, build Build, cov *coverage.Coverage) (*player, error) {
	sizes, err := program.SizesOf(p.Board.Build)
	if err != nil {
		return nil, err
	}
	spec, err := bed(p, sizes)
	if err != nil {
		return nil, err
	}
	b, err := build(spec)
	if err != nil {
		return nil, err
	}
	sizes.Ports, sizes.EthBits = p.Board.Ports, b.NIC.EthBits()
	x := &player{prog: p, sizes: sizes, b: b, root: b.Root, rx: map[int]*rxRing{}, tx: map[int]*txRing{},
		at:   starts(&p.Board),
		keys: map[int]keyInForce{}, reads: rawReads{}, held: map[uint64]simcore.Ps{}, writeCycles: linkCycles,
		nic: openReads{timeout: nicspec.ResetCplTimeout}}
	if spec.Card != nil {
		x.writeCycles = writeCyclesOf(spec.Card)
		x.cardMPS = linkMPS(spec.Card)
	}
	x.waits = waitsOf(b)
	x.watcher = newWatcher(p, &x.sizes, cov)
	for r := range x.free {
		x.free[r] = x.at[r] + program.PieceBytes
	}
	if err := x.connect(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return x, nil
}

func (x *player) connect() error {
	var err error
	x.judge, err = judge.Attach(x.b.NIC, judge.Options{
		Build: x.sizes, MaxMismatches: 5,
	})
	if err != nil {
		return err
	}
	x.b.NIC.Observe(x.watcher.crossing)
	x.b.NIC.Observe(x.watchReads)
	x.b.NIC.ObserveHeld(x.watcher.heldBack)
	x.b.NIC.ObserveRest(func(r boundary.Rest) { x.idleAt = r.Last })
	x.b.NIC.Observe(func(c boundary.Crossing) {
		if c.Kind == boundary.FrameIn {
			x.arrivedFrames++
			x.lastIn = max(x.lastIn, c.Last)
		}
		if x.waits.slow {
			x.waits.crossing(c)
		}
	})
	x.root.OnCompletion = func(h *tlp.Header, _ []byte) {
		x.reads.end(h)
		x.watcher.answered(h)
	}
	x.b.Host.OnCompletion = x.root.OnCompletion
	x.b.Faults.Struck = func(f *inject.Fault, h *tlp.Header) {
		x.held[f.From] = x.b.Engine.Now() + min(f.Delay, x.b.Cycles(max(0, leastTimeout-4*x.writeCycles)))
		x.watcher.struck(f, h)
	}
	pace, err := x.b.Pace("line")
	if err != nil {
		return err
	}
	for _, p := range x.b.Players {
		if err := p.Load(traffic.Track{Pace: pace, Stall: x.prog.Board.Stall}); err != nil {
			return err
		}
	}
	return x.b.Begin(func() bool { return x.done })
}

// bed returns the test bed for a program's NIC.
func bed(p *program.Program, sizes nicspec.Build) (testbed.Spec, error) {
	b := &p.Board
	s := testbed.Spec{
		Spec: device.Spec{Build: &sizes, Ports: b.Ports, EthBits: b.EthBits}, Seed: b.Seed, Stall: b.Stall,
		Burst: b.Burst,
	}
	e := endpoint(b)
	e.Gate = p.Gated()
	if b.Card == "" {
		s.LinkCycles, s.Endpoint, s.Credits = linkCycles, e, b.Credits
		return s, nil
	}
	c, err := boards.Card(b.Card)
	if err != nil {
		return s, err
	}
	e = onCard(c, e)
	c.Endpoint, c.Ports, c.EthBits = *e, max(b.Ports, 1), b.EthBits
	s.Card = c
	return s, nil
}

// linkMPS returns the longest write that every link of a card carries.
func linkMPS(c *board.CardSpec) int {
	most := tlp.PageBytes
	if c.Switch != nil {
		for _, d := range [...]*board.Downlink{&c.Switch.Arm, &c.Switch.Host} {
			if d.PCIe != nil {
				most = min(most, d.PCIe.Ends[0].MPS, d.PCIe.Ends[1].MPS)
			}
		}
	}
	return most
}

// writeCyclesOf estimates the cycles that a software write takes to a card's NIC, with a margin for traffic before it.
func writeCyclesOf(c *board.CardSpec) int {
	const before = 64
	way := c.PCIe.Latency
	if sw := c.Switch; sw != nil {
		way += sw.Latency
		if sw.Arm.PCIe != nil {
			way += sw.Arm.PCIe.Latency
		} else {
			way += sw.Arm.Fabric.Latency
		}
	}
	return int(way/simcore.Freq{PeriodPs: c.Period}.Period()) + before
}

// endpoint returns the host and Arm memories behind the NIC, with their latencies.
func endpoint(b *program.Board) *board.Endpoint {
	s := board.DefaultEndpoint()
	s.ArmBytes, s.HostBytes, s.Tags, s.Seed = program.MemoryBytes, program.MemoryBytes, regTags, b.Seed
	s.Latency, s.Delay.Jitter = simcore.Ps(b.Delay)*simcore.Nanosecond, simcore.Ps(b.Jitter)*simcore.Nanosecond
	s.Limits = tlp.Limits{MPS: b.MPS, MRRS: tlp.PageBytes, RCB: b.RCB}
	if b.Random {
		s.Split = tlp.CplRandom
	}
	s.Faults = true
	return &s
}

// run advances time by a number of cycles.
func (x *player) run(cycles int) error {
	until := x.b.Engine.Now() + x.b.Cycles(cycles)
	if x.gateOpensAt > 0 && x.gateOpensAt <= until {
		if err := x.open(); err != nil {
			return err
		}
	}
	return errors.Join(x.b.Engine.RunUntil(until), x.b.Err())
}

// alloc allocates n bytes of a part of memory and returns the bus address.
func (x *player) alloc(p program.Place, n int) uint64 {
	at := &x.free[p.Region()]
	bus := alignAddress(&p, *at)
	*at = bus + uint64(n)
	return bus ^ p.Far
}

// alignAddress returns the first free bus address from `from` on that has the alignment of p.
func alignAddress(p *program.Place, from uint64) uint64 {
	if p.Page > 0 {
		return (from+tlp.PageBytes-1)&^(tlp.PageBytes-1) + tlp.PageBytes - uint64(p.Page)
	}
	return (from+63)&^63 + uint64(p.Skew)
}

// write writes memory as software does. A write to addresses that no endpoint has is dropped.
func (x *player) write(bus uint64, b []byte) error {
	if ep, _ := mem.Split(bus); ep > nicspec.EndpointHost {
		return nil
	}
	return x.b.Memory.Write(bus, b)
}

// play carries out one operation.
func (x *player) play(o *program.Op) error {
	var err error
	switch {
	case o.RxQueue != nil:
		err = x.openRx(o.RxQueue)
	case o.TxQueue != nil:
		err = x.openTx(o.TxQueue)
	case o.Disable != nil:
		err = x.disableLate(o.Disable.Queue, o.Disable.Late)
	case o.Post != nil:
		err = x.post(o.Post)
	case o.Play != nil:
		x.frames(o.Play)
	case o.Send != nil:
		err = x.send(o.Send)
	case o.Bell != nil:
		err = x.bell(o.Bell)
	default:
		err = x.configure(o)
	}
	if err == nil && o.Wait > 0 {
		err = x.run(o.Wait)
	}
	return err
}

// configure carries out operations that do not concern a queue.
func (x *player) configure(o *program.Op) error {
	switch {
	case o.Key != nil:
		return x.key(o.Key)
	case o.Rule != nil:
		return x.rule(o.Rule)
	case o.Table != nil:
		return x.table(o.Table)
	case o.Write != nil:
		r, v := program.Register(o.Write.Reg), x.harmless(o.Write)
		if o.Write.Reg == "CTRL" {
			x.ctrl = v
		}
		return x.b.Arm.Write32(r.Offset+uint32(o.Write.Index*r.Stride), v)
	case o.Read != nil:
		n := 4
		if o.Read.Wide {
			n = 8
		}
		return x.readLater(o.Read.Off, n, func(uint64) {})
	case o.TLP != nil:
		return x.tlp(o.TLP)
	case o.Fault != nil:
		return x.fault(o.Fault)
	case o.Rewrite != nil:
		return x.rewrite(o.Rewrite)
	case o.Mend != nil:
		x.b.Faults.Clear()
	case o.Quiet != nil:
		return x.quiet()
	case o.Reset != nil:
		return x.reset()
	case o.Await != nil:
		return x.await(o.Await)
	case o.Feed != nil:
		return x.feed(o.Feed)
	case o.Gate != nil && x.b.Gate != nil:
		x.close(o.Gate.Cycles)
	}
	return nil
}

// frames plays frames into a port.
func (x *player) frames(p *program.Play) {
	to := x.b.Players[p.Port%len(x.b.Players)]
	list := make([]traffic.Frame, len(p.Frames))
	for i := range p.Frames {
		list[i].Data = p.Frames[i].Bytes(max(1, p.Frames[i].Len))
	}
	to.Play(list...)
}

var _ boundary.Observer = (*watcher)(nil).crossing

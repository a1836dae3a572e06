package golden

import (
	"math/rand/v2"
	"testing"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// chaos drives a NIC at random with everything that a driver may do.
type chaos struct {
	r   *rig
	m   *endpoint
	rng *rand.Rand
	opt chaosOpt
	rx  [chaosQueues]chaosRing
	tx  [chaosQueues]chaosRing

	longs map[uint32]nicspec.Wqe // posted entries of several blocks, by wqe_id
}

type chaosOpt struct {
	seed   uint64
	steps  int
	faults bool // some reads fail
	config bool // the configuration changes while frames come in
	queues bool // queues are disabled and enabled
	stall  int
	calm   bool // every work entry is valid, and rings are large enough
	pushes bool // some work entries are pushed
	copies bool // copies and invalidations are posted, too
	dense  bool // all pieces lie in 4 KB, which are rewritten all the time
	long   bool // also entries of several blocks, appended trailers, fences and trimmed frames
	few    bool // all pieces and sources are one of a few overlapping buffers, filled with 0 and 1
	parts  nicspec.Cap1Reg
}

type chaosRing struct {
	open   bool
	posted uint16
	cqi    uint16
	used   uint16            // consumer index as the completion entries show it
	blocks map[uint16]uint16 // number of blocks of the entry at an index
	log    int
}

const (
	chaosQueues = 4
	goodKey     = 5 | 9<<24
	keyBus      = 0x0100_0000_0070_0000
	keySpan     = 1 << 16
	copyBus     = 0x0100_0000_0080_0000 // key 7: destinations of copies
	linesBus    = 0x0000_0000_0090_0000 // key 8: copied from, to, and invalidated
	denseSpan   = 1 << 12
)

func chaosSpec(o chaosOpt, rng *rand.Rand) nic.Spec {
	s := nic.DefaultSpec()
	s.Ports, s.NumRxq, s.NumTxq, s.NumKeys, s.NumRules = 1+rng.IntN(2), 8, 8, 16, 16
	s.EthBits = 256 << rng.IntN(3)
	s.TLPBits = 512 << rng.IntN(2)
	s.Timing.Tags = 1 << rng.IntN(9)
	s.Timing.RxPrefetch, s.Timing.TxPrefetch = 4<<rng.IntN(4), 4<<rng.IntN(3)
	s.Timing.TxInFlight = 1 + rng.IntN(20)
	s.Parts |= o.parts
	if o.pushes {
		s.Parts |= nicspec.PartPush
	}
	if o.copies {
		s.Parts |= nicspec.PartCopy
		s.Timing.CopyJobs, s.Timing.CopyChunks = 1+rng.IntN(8), 1+rng.IntN(8)
	}
	return s
}

func newChaos(t testing.TB, o chaosOpt) *chaos {
	c := &chaos{opt: o, rng: rand.New(rand.NewPCG(o.seed, 5))}
	ro := defaultRig()
	ro.spec, ro.seed, ro.shuffle = chaosSpec(o, c.rng), o.seed, true
	ro.stalls = inject.Stalls{Seed: o.seed, Percent: o.stall}
	ro.policy = tlp.CplPolicy(c.rng.IntN(3))
	c.r = newRig(t, ro)
	c.m = c.r.mem
	c.m.Write(keyBus, pattern(keySpan, o.seed))
	c.m.Write(linesBus, pattern(keySpan, o.seed+1))
	c.begin()
	return c
}

// begin configures the device.
func (c *chaos) begin() {
	m := c.m
	m.Write32(nicspec.RegCplTimeout, uint32(1500+c.rng.IntN(3000)))
	m.Write32(nicspec.RegDevctl, uint32(c.rng.IntN(3)|c.rng.IntN(6)<<4))
	m.Write32(nicspec.RegCtrl, 3)
	m.Write32(nicspec.RegRxDefault, toQueue0+1)
	m.key(5, goodKeyEntry)
	m.key(7, nicspec.KeyEntryFields{Valid: 1, RightWrite: true, Length: keySpan, BusBase: copyBus})
	m.key(8, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: keySpan, BusBase: linesBus})
	m.key(6, nicspec.KeyEntryFields{Valid: 1, Length: keySpan, BusBase: keyBus})
	m.rule(3, dmacRule(0, nicspec.ActionDrop, 0))
	for q := range chaosQueues {
		m.rule(5+q, dmacRule(uint8(q+1), nicspec.ActionQueue, q))
		c.openRx(q)
		c.openTx(q)
	}
	c.beginRxParts()
}

// dmacRule returns a rule with an action for frames whose destination address begins with byte v<<1.
func dmacRule(v uint8, a nicspec.Action, q int) nicspec.RuleEntryFields {
	f := nicspec.RuleEntryFields{Valid: 1, Action: a, Queue: uint16(q)}
	f.Mask[8], f.Value[8] = 0xff, v<<1
	return f
}

func (c *chaos) openRx(q int) {
	log := 2 + c.rng.IntN(4)
	if c.opt.calm {
		log = 8
	}
	c.m.OpenRx(q, log, func(f *nicspec.RxqEntryFields) {
		f.SplitMode = nicspec.SplitMode(q % 3)
		f.SplitLen = uint16(c.rng.IntN(120))
		if q == 3 && !c.opt.calm {
			f.PayBufSize = 700
		}
		c.modes(f)
		if c.opt.long {
			f.Trim = uint8(q % 2)
		}
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = c.vector(q)
	})
	c.m.Write(c.m.Rx[q].Cq, make([]byte, 64<<log))
	c.rx[q] = chaosRing{open: true, log: log}
}

func (c *chaos) openTx(q int) {
	log := 2 + c.rng.IntN(4)
	c.m.OpenTx(q, log, func(f *nicspec.TxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = c.vector(4 + q)
		if c.opt.parts&nicspec.PartEcn != 0 {
			f.EcnMode = uint8(c.rng.IntN(4))
		}
		if c.opt.parts&nicspec.PartPause != 0 {
			f.PfcClass = uint8(q % 3)
		}
	})
	c.m.Write(c.m.Tx[q].Cq, make([]byte, 64<<log))
	c.tx[q] = chaosRing{open: true, log: log, blocks: map[uint16]uint16{}}
}

// collect reads the completion entries that have come.
func (c *chaos) collect() {
	for q := range chaosQueues {
		c.rx[q].collect(c.m, &c.m.Rx[q])
		c.tx[q].collect(c.m, &c.m.Tx[q])
	}
}

func (k *chaosRing) collect(m *endpoint, r *nictest.Ring) {
	for {
		var b [64]byte
		m.Read(r.Cq+64*uint64(k.cqi&(1<<r.Log-1)), b[:])
		if b[0] == 0 || b[63] != uint8(^k.cqi>>r.Log&1) {
			return
		}
		k.cqi++
		if e := nicspec.TxCqe(b[:]); e.Type() == nicspec.CqeTypeEvent {
			k.open = false
		} else {
			k.used = e.Index() + max(k.blocks[e.Index()], 1)
		}
	}
}

func (k *chaosRing) room() int { return 1<<k.log - int(k.posted-k.used) }

func (c *chaos) post() {
	q := c.rng.IntN(chaosQueues)
	k := &c.rx[q]
	n := min(c.rng.IntN(12), k.room())
	if c.opt.calm {
		n = k.room()
	}
	if !k.open || n <= 0 {
		return
	}
	if c.opt.faults && c.rng.IntN(30) == 0 {
		c.m.FailOnce(c.m.Rx[q].Base+16*uint64(k.posted&(1<<k.log-1)),
			nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
	}
	k.posted += uint16(n)
	c.m.post(q, n)
}

func (c *chaos) send() {
	for range c.rng.IntN(16) {
		peer, f := c.r.peers[c.rng.IntN(len(c.r.peers))], testFrame(c.rng)
		if c.opt.parts&nicspec.PartCrc32c != 0 && c.rng.IntN(2) == 0 {
			f = digested(f)
		}
		peer.send(f)
	}
}

// entry draws a work entry, usually a valid one.
func (c *chaos) entry() nicspec.WqeFields {
	w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Port: uint8(c.rng.IntN(c.r.opt.spec.Ports)),
		FComplete: c.rng.IntN(3) > 0,
		WqeId:     c.rng.Uint32(), FPad: c.rng.IntN(4) == 0}
	inline := testFrame(c.rng)
	w.InlineLen = uint8(min(c.rng.IntN(49), len(inline)))
	used := (int(w.InlineLen) + 15) / 16
	w.Nseg = uint8(c.rng.IntN(4 - used))
	copy(w.Slots[:used*16], inline[:w.InlineLen])
	for s := range int(w.Nseg) {
		n := 1 + c.rng.IntN(700)
		span := keySpan
		if c.opt.dense {
			span = denseSpan
		}
		at := c.rng.IntN(span - n)
		if c.rng.IntN(3) == 0 {
			n, at = 200, 4096*c.rng.IntN(3) // one of three ranges, so that many entries name the same
		}
		if c.opt.few {
			at, n = c.buffer()
		}
		(&nicspec.SegFields{Key: goodKey, Len: uint32(n), Addr: 0x1000 + uint64(at)}).Encode(w.Slots[16*(used+s):])
		if c.opt.faults && c.rng.IntN(40) == 0 {
			c.m.FailOnce(keyBus+uint64(at), nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
		}
	}
	if c.rng.IntN(3) == 0 {
		w.FIpCsum, w.FIcrc = c.rng.IntN(2) == 0, c.rng.IntN(2) == 0
		w.FUdpCsum = c.rng.IntN(3) == 0
		w.FUdpZero = !w.FUdpCsum && c.rng.IntN(3) == 0
		w.L3Off, w.L4Off = 14, 34
	}
	if c.opt.parts&nicspec.PartCrc32c != 0 && c.rng.IntN(3) == 0 {
		w.FCrc32c, w.CrcStart, w.CrcOff = true, uint16(c.rng.IntN(200)), uint16(c.rng.IntN(300))
	}
	if !c.opt.calm {
		c.spoil(&w, used)
	}
	return w
}

// buffer draws the place and the size of a piece among a few overlapping ones.
func (c *chaos) buffer() (at, n int) {
	at = []int{0, 0, 3, 64, 100, 512, 900, 1024}[c.rng.IntN(8)]
	return at, []int{60, 60, 100, 128, 200, 513, 700, 1 + c.rng.IntN(900)}[c.rng.IntN(8)]
}

func (c *chaos) work() {
	q := c.rng.IntN(chaosQueues)
	k := &c.tx[q]
	n := min(c.rng.IntN(10), k.room()-1)
	if !k.open || n <= 0 {
		return
	}
	if c.opt.faults && c.rng.IntN(40) == 0 {
		c.m.FailOnce(c.m.Tx[q].Base+64*uint64(k.posted&(1<<k.log-1)),
			nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
	}
	if c.opt.dense {
		c.m.Write(keyBus, pattern(denseSpan, c.rng.Uint64()))
	}
	if c.opt.few {
		b := make([]byte, 1024)
		for i := range b {
			b[i] = uint8(c.rng.IntN(2)) // two values only, so that bytes of many reads are equal
		}
		c.m.Write(keyBus+uint64(c.rng.IntN(1024)), b[:1+c.rng.IntN(len(b)-1)])
	}
	for i := 0; i < n; i++ {
		if c.opt.long && i < n-1 && c.rng.IntN(2) == 0 {
			i += c.postLong(q, n-1-i) - 1
			continue
		}
		w := c.entry()
		if c.opt.copies && c.rng.IntN(2) == 0 {
			w = c.copyEntry()
		}
		if i == n-1 {
			w.FComplete = true // the driver must learn when the batch has ended
		}
		c.m.push(q, &w)
		if c.opt.pushes && c.rng.IntN(2) == 0 {
			c.m.pushTx(q)
		}
	}
	k.posted += uint16(n)
	c.m.RingTx(q)
}

func (c *chaos) configure() {
	m := c.m
	switch c.rng.IntN(8) {
	case 0:
		m.Write32(nicspec.RegRxCtrl, c.rng.Uint32())
	case 1:
		m.Write32(nicspec.RegRxDefault, uint32(c.rng.IntN(3))<<16|uint32(c.rng.IntN(10)))
	case 2:
		m.Write32(nicspec.RegCtrl, 2)
		c.r.step(simcore.Ps(c.rng.IntN(300)) * simcore.Nanosecond)
		m.Write32(nicspec.RegCtrl, 3)
	case 3, 4:
		q := c.rng.IntN(chaosQueues)
		m.rule(5+q, dmacRule(uint8(c.rng.IntN(8)), nicspec.ActionQueue, q))
	case 5:
		m.Write32(nicspec.RegCtrl, 1)
		c.r.step(simcore.Ps(c.rng.IntN(2000)) * simcore.Nanosecond)
		m.Write32(nicspec.RegCtrl, 3)
	case 6:
		m.key(5, nicspec.KeyEntryFields{Valid: 1, RightRead: c.rng.IntN(4) > 0, Variant: 9, VaBase: 0x1000,
			Length: keySpan, BusBase: keyBus})
		m.key(5, goodKeyEntry)
	case 7:
		m.Write32(nicspec.RegCplTimeout, uint32(1500+c.rng.IntN(3000)))
	}
}

func (c *chaos) look() {
	m := c.m
	switch c.rng.IntN(5) {
	case 0:
		m.Reg(nicspec.RegCounter(c.rng.IntN(40)), 2)
	case 1:
		m.Reg(nicspec.RegCounter(128+c.rng.IntN(11)), uint16(1+c.rng.IntN(2)))
	case 2:
		m.Reg(nicspec.RegStatus, 1)
	case 3:
		t := nicspec.TableRxq
		if c.rng.IntN(2) == 0 {
			t = nicspec.TableTxq
		}
		m.Table(nicspec.TableOpRead, t, c.rng.IntN(chaosQueues), nil)
		for w := range 16 {
			m.Reg(nicspec.RegTblData(w), 1)
		}
	case 4:
		m.Write32(nicspec.RegRxDoorbell(c.rng.IntN(10)), c.rng.Uint32()) // usually bad
	}
}

func (c *chaos) reopen() {
	q := c.rng.IntN(chaosQueues)
	if c.rng.IntN(2) == 0 {
		c.m.disable(nicspec.TableRxq, q)
		c.r.step(simcore.Ps(c.rng.IntN(1000)) * simcore.Nanosecond)
		c.openRx(q)
	} else {
		c.m.disable(nicspec.TableTxq, q)
		c.openTx(q)
	}
}

func (c *chaos) run() {
	for range c.opt.steps {
		c.collect()
		switch c.rng.IntN(7) {
		case 0, 1:
			c.send()
		case 2, 3:
			c.post()
		case 4, 5:
			c.work()
		case 6:
			c.look()
		}
		if c.opt.config && c.rng.IntN(10) == 0 {
			c.configure()
		}
		if c.opt.parts != 0 && c.rng.IntN(4) == 0 {
			c.useRxParts()
			c.usePcieParts()
		}
		if c.opt.queues && c.rng.IntN(40) == 0 {
			c.reopen()
		}
		c.r.step(simcore.Ps(c.rng.IntN(400)) * simcore.Nanosecond)
	}
	c.m.Write32(nicspec.RegCtrl, 3)
	c.r.settle()
	c.m.readCounters()
}

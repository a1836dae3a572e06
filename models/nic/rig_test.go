package nic

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// rig is a NIC between a memory endpoint and one test peer per Ethernet port.
type rig struct {
	t      testing.TB
	eng    *simcore.Engine
	nic    *Comp
	host   *host
	peers  []*peer
	mon    *tlp.Monitor
	frames ether.Pool
	tlps   tlp.Pool
	seen   [boundary.NumKinds]int
	order  int64 // Last of the crossing seen last
	trace  func(boundary.Crossing)
}

type rigOpt struct {
	spec    Spec
	latency simcore.Ps // of the memory
	policy  tlp.CplPolicy
	seed    uint64
	shuffle bool // completions of different reads out of order
	link    simcore.LinkSpec
	quiet   bool // no monitor
}

func defaultRig() rigOpt {
	return rigOpt{spec: DefaultSpec(), latency: 200 * simcore.Nanosecond,
		link: simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}}
}

func newRig(t testing.TB, o rigOpt) *rig {
	t.Helper()
	r := &rig{t: t, eng: simcore.NewEngine()}
	var err error
	r.nic, err = Builder{Scheduler: r.eng, Spec: o.spec, Frames: &r.frames, TLPs: &r.tlps}.Build("NIC")
	require.NoError(t, err)
	r.host = newHost(r, o)
	_, err = simcore.Connect("PCIe", r.eng, o.link, r.nic.PCIe(), r.host.port)
	require.NoError(t, err)
	for p := range o.spec.Ports {
		e := &peer{ComponentBase: sim.NewComponentBase(fmt.Sprintf("Peer[%d]", p)), rig: r}
		e.port = simcore.NewPort(e, 16, fmt.Sprintf("Peer[%d].Eth", p))
		_, err = simcore.Connect(fmt.Sprintf("Wire[%d]", p), r.eng, o.link, r.nic.Eth(p), e.port)
		require.NoError(t, err)
		r.peers = append(r.peers, e)
	}
	cfg := tlp.DefaultMonitorConfig()
	cfg.MPS, cfg.MRRS = 256, 512
	cfg.DeviceID, cfg.CheckDeviceID = nicspec.RequesterNic, true
	r.mon, err = tlp.NewMonitor(cfg)
	require.NoError(t, err)
	r.nic.Observe(func(x boundary.Crossing) { r.observe(x, o.quiet) })
	return r
}

func (r *rig) observe(x boundary.Crossing, quiet bool) {
	r.seen[x.Kind]++
	if x.Last < r.order || x.First > x.Last {
		r.t.Errorf("crossing out of order: %v after cycle %d", x, r.order)
	}
	r.order = x.Last
	if r.trace != nil {
		r.trace(x)
	}
	if !x.Kind.IsTLP() || quiet {
		return
	}
	dir := tlp.FromDevice
	if x.Kind == boundary.TLPIn {
		dir = tlp.ToDevice
	}
	for _, v := range r.mon.Check(dir, uint64(x.Last), x.TLP) {
		if dir == tlp.FromDevice {
			r.t.Errorf("%v", v)
		}
	}
}

// run lets everything settle.
func (r *rig) run() {
	r.t.Helper()
	require.NoError(r.t, r.eng.Run())
}

// quiet runs until nothing is left, and checks [C1].
func (r *rig) idle() {
	r.t.Helper()
	r.run()
	require.False(r.t, r.nic.Busy(), "the device is busy with nothing left to happen")
	require.Zero(r.t, r.nic.reader.Outstanding())
	c := &r.nic.Regs().Counters
	delivered := uint64(0)
	for p := range r.nic.spec.Ports {
		d := c.Port(nicspec.CntRxDelivered, p)
		delivered += d
		require.Equal(r.t, c.Port(nicspec.CntRxFrames, p), d+c.Dropped(p), "port %d: frames in = delivered + dropped", p)
	}
	require.Equal(r.t, delivered, c.Dev(nicspec.CntRxCqe)-r.host.events, "delivered = entries - events")
}

// host is all memory, Arm and host, and the driver.
type host struct {
	*sim.ComponentBase
	rig     *rig
	port    *simcore.Port
	pages   map[uint64]*[4096]byte
	cpl     *tlp.Completer
	rng     uint64
	shuffle bool
	latency simcore.Ps
	out     ring[*tlp.Packet]
	late    []*lateRead
	rxq     [256]ringCfg
	txq     [256]ringCfg
	faults  map[uint64]fault // by address of a read
	answers map[uint8]answer
	tag     uint8
	writes  []write // kept if keep is set
	keep    bool
	events  uint64 // of receive queues, written
	stalled bool   // takes nothing
	limits  tlp.Limits
	idle    []*lateRead
	fault   fault // of the read that is being answered
	readFn  tlp.ReadFunc
	emitFn  func(*tlp.Packet)
}

type ringCfg struct {
	ring, cq uint64
	log      int
	pi       uint16
	cqi      uint16
}

type write struct {
	addr uint64
	data []byte
}

type answer struct {
	h    tlp.Header
	data [8]byte
}

type fault int

const (
	faultUR fault = iota + 1
	faultCA
	faultPoison
	faultSilent
	faultMalformed
)

type lateRead struct {
	simcore.Event
	h tlp.Header
}

func newHost(r *rig, o rigOpt) *host {
	h := &host{ComponentBase: sim.NewComponentBase("Host"), rig: r, pages: map[uint64]*[4096]byte{},
		latency: o.latency, shuffle: o.shuffle, rng: o.seed, faults: map[uint64]fault{},
		answers: map[uint8]answer{}}
	h.port = simcore.NewPort(h, 64, "Host.PCIe")
	h.readFn, h.emitFn = h.answerRead, h.emit
	h.limits = tlp.Limits{MPS: 256, MRRS: 512, RCB: 64}
	var err error
	h.cpl, err = tlp.NewCompleter(nicspec.RequesterHost, h.limits, o.policy, o.seed)
	require.NoError(r.t, err)
	return h
}

func (h *host) page(addr uint64) *[4096]byte {
	p := h.pages[addr>>12]
	if p == nil {
		p = new([4096]byte)
		h.pages[addr>>12] = p
	}
	return p
}

func (h *host) read(addr uint64, dst []byte) error {
	for len(dst) > 0 {
		n := copy(dst, h.page(addr)[addr&4095:])
		dst, addr = dst[n:], addr+uint64(n)
	}
	return nil
}

func (h *host) write(addr uint64, src []byte) {
	for len(src) > 0 {
		n := copy(h.page(addr)[addr&4095:], src)
		src, addr = src[n:], addr+uint64(n)
	}
}

func (h *host) bytes(addr uint64, n int) []byte {
	b := make([]byte, n)
	_ = h.read(addr, b)
	return b
}

func (h *host) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !h.stalled && h.port.Len() > 0 {
		p := h.port.Retrieve(now).(*tlp.Packet)
		h.take(p)
		h.rig.tlps.Put(p)
	}
}

func (h *host) take(p *tlp.Packet) {
	hdr, err := p.Header()
	if err != nil {
		h.rig.t.Fatal(err)
	}
	switch {
	case hdr.Kind == tlp.MWr:
		runs := hdr.Runs(p.Data)
		for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
			h.write(addr, b)
			if addr >= rxCq(0) && addr < rxCq(256) && nicspec.RxCqe(b).Type() == nicspec.CqeTypeEvent {
				h.events++
			}
			if h.keep {
				h.writes = append(h.writes, write{addr, append([]byte(nil), b...)})
			}
		}
	case hdr.Kind == tlp.MRd:
		late := h.getLate()
		late.h, late.H = hdr, h
		late.At = h.rig.eng.Now() + h.latency
		if h.shuffle {
			h.rng = mix(h.rng)
			late.At += simcore.Ps(h.rng % uint64(h.latency+1))
		}
		late.Arg = late
		h.rig.eng.Schedule(&late.Event)
	default:
		a := answer{h: hdr}
		copy(a.data[:], p.Data)
		h.answers[hdr.Tag] = a
	}
}

func (h *host) getLate() *lateRead {
	n := len(h.idle)
	if n == 0 {
		return new(lateRead)
	}
	late := h.idle[n-1]
	h.idle = h.idle[:n-1]
	return late
}

func (h *host) Handle(e sim.Event) error {
	late := e.(*simcore.Event).Arg.(*lateRead)
	off, _ := late.h.Span()
	h.fault = h.faults[late.h.Address+uint64(off)]
	h.idle = append(h.idle, late)
	if h.fault == faultSilent {
		return nil
	}
	err := h.cpl.Answer(&late.h, h.readFn, &h.rig.tlps, h.emitFn)
	h.flush()
	return err
}

// answerRead reads for a completion, with the fault at hand.
func (h *host) answerRead(addr uint64, dst []byte) error {
	switch h.fault {
	case faultUR:
		return tlp.ErrUnsupported
	case faultCA:
		return tlp.ErrAborted
	case faultPoison:
		return tlp.ErrPoisoned
	}
	return h.read(addr, dst)
}

func (h *host) emit(p *tlp.Packet) {
	if h.fault == faultMalformed {
		hdr, _ := p.Header()
		hdr.ByteCount++
		_ = p.SetHeader(&hdr)
	}
	h.out.push(p)
}

func (h *host) NotifyPortFree(sim.VTimeInSec, sim.Port) { h.flush() }

func (h *host) flush() {
	for h.out.n > 0 && h.port.CanSend() {
		if err := h.port.SendAt(h.out.pop(), h.rig.eng.Now()); err != nil {
			panic("refused")
		}
	}
}

// send queues a TLP for the device.
func (h *host) send(hdr tlp.Header, data []byte) {
	p := h.rig.tlps.Get()
	if len(data) > 0 {
		copy(p.Own(len(data)), data)
	}
	require.NoError(h.rig.t, p.SetHeader(&hdr))
	h.out.push(p)
	h.flush()
}

// wr32 writes a register.
func (h *host) wr32(off, v uint32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	h.send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 1, FirstBE: 0xf,
		Address: nicspec.BarBase + uint64(off)}, b[:])
}

// ask sends a register read of n words; the answer is read with got.
func (h *host) ask(off uint32, n uint16) (tag uint8) {
	h.tag++
	hdr := tlp.Header{Kind: tlp.MRd, Addr64: true, Length: n, FirstBE: 0xf, Tag: h.tag, RequesterID: nicspec.RequesterHost,
		Address: nicspec.BarBase + uint64(off)}
	if n > 1 {
		hdr.LastBE = 0xf
	}
	delete(h.answers, h.tag)
	h.send(hdr, nil)
	return h.tag
}

// rd32 reads a register, letting everything happen meanwhile.
func (h *host) rd32(off uint32) uint32 {
	h.rig.t.Helper()
	tag := h.ask(off, 1)
	h.rig.run()
	a, ok := h.answers[tag]
	require.True(h.rig.t, ok, "register %#x is not answered", off)
	require.Equal(h.rig.t, tlp.CplD, a.h.Kind)
	return binary.LittleEndian.Uint32(a.data[:])
}

// table carries out a table command and returns its status.
func (h *host) table(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) nicspec.TableStatus {
	h.rig.t.Helper()
	h.tableAsync(op, t, i, entry)
	got := nicspec.TblCmdReg(h.rd32(nicspec.RegTblCmd))
	if got.Busy() { // everything has happened by the time of the answer
		got = nicspec.TblCmdReg(h.rd32(nicspec.RegTblCmd))
	}
	require.False(h.rig.t, got.Busy(), "table command is still busy")
	return nicspec.TableStatus(got.Status())
}

func (h *host) tableAsync(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) {
	for w := 0; 4*w < len(entry); w++ {
		h.wr32(nicspec.RegTblData(w), binary.LittleEndian.Uint32(entry[4*w:]))
	}
	var cmd nicspec.TblCmdReg
	cmd.SetOp(uint32(op))
	cmd.SetTable(uint32(t))
	cmd.SetIndex(uint32(i))
	h.wr32(nicspec.RegTblCmd, uint32(cmd))
}

// Places of the rings in memory.
func rxRing(q int) uint64 { return 0x1000_0000 + uint64(q)<<20 }
func rxCq(q int) uint64   { return 0x0100_0000_3000_0000 + uint64(q)<<22 }
func txRing(q int) uint64 { return 0x2000_0000 + uint64(q)<<22 + 64 }
func txCq(q int) uint64   { return 0x6000_0000 + uint64(q)<<22 }

// openRx enables a receive queue.
func (h *host) openRx(q, log int, mod func(*nicspec.RxqEntryFields)) {
	h.rig.t.Helper()
	f := nicspec.RxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: rxRing(q), CqBase: rxCq(q),
		PayBufSize: 9216, HdrBufSize: 256}
	if mod != nil {
		mod(&f)
	}
	var b [64]byte
	f.Encode(b[:])
	require.Equal(h.rig.t, nicspec.TableStatusOk, h.table(nicspec.TableOpWrite, nicspec.TableRxq, q, b[:]))
	h.rxq[q] = ringCfg{ring: rxRing(q), cq: rxCq(q), log: log}
}

func (h *host) openTx(q, log int) {
	h.rig.t.Helper()
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(log), RingBase: txRing(q), CqBase: txCq(q)}
	var b [64]byte
	f.Encode(b[:])
	require.Equal(h.rig.t, nicspec.TableStatusOk, h.table(nicspec.TableOpWrite, nicspec.TableTxq, q, b[:]))
	h.txq[q] = ringCfg{ring: txRing(q), cq: txCq(q), log: log}
}

// post writes receive descriptors; the doorbell is rung by ringRx.
func (h *host) post(q int, hdr, pay uint64) {
	r := &h.rxq[q]
	var b [16]byte
	(&nicspec.RxDescFields{HdrAddr: hdr, PayAddr: pay}).Encode(b[:])
	h.write(r.ring+16*uint64(r.pi&(1<<r.log-1)), b[:])
	r.pi++
}

func (h *host) ringRx(q int) { h.wr32(nicspec.RegRxDoorbell(q), uint32(h.rxq[q].pi)) }

// postWqe writes a work entry.
func (h *host) postWqe(q int, raw []byte) {
	r := &h.txq[q]
	h.write(r.ring+64*uint64(r.pi&(1<<r.log-1)), raw)
	r.pi++
}

func (h *host) ringTx(q int) { h.wr32(nicspec.RegTxDoorbell(q), uint32(h.txq[q].pi)) }

// rxCqe takes the next completion entry of a receive queue, nil if none.
func (h *host) rxCqe(q int) nicspec.RxCqe { return h.nextCqe(&h.rxq[q]) }

func (h *host) txCqe(q int) nicspec.TxCqe { return h.nextCqe(&h.txq[q]) }

func (h *host) nextCqe(r *ringCfg) []byte {
	b := h.bytes(r.cq+64*uint64(r.cqi&(1<<r.log-1)), 64)
	if b[0] == 0 || b[63] != uint8(^r.cqi>>r.log&1) {
		return nil
	}
	r.cqi++
	return b
}

// peer is what is on the other side of an Ethernet port.
type peer struct {
	*sim.ComponentBase
	rig  *rig
	port *simcore.Port
	out  ring[*ether.Frame]
	got  []gotFrame
	n    int
	drop bool // does not keep what it gets
	hold bool // takes nothing
}

type gotFrame struct {
	queue int
	data  []byte
}

func (p *peer) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !p.hold && p.port.Len() > 0 {
		f := p.port.Retrieve(now).(*ether.Frame)
		p.n++
		if !p.drop {
			p.got = append(p.got, gotFrame{f.Queue, append([]byte(nil), f.Data...)})
		}
		p.rig.frames.Put(f)
	}
}

func (p *peer) Handle(sim.Event) error                  { return nil }
func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) { p.flush() }

func (p *peer) flush() {
	for p.out.n > 0 && p.port.CanSend() {
		if err := p.port.SendAt(p.out.pop(), p.rig.eng.Now()); err != nil {
			panic("refused")
		}
	}
}

func (p *peer) send(data []byte) {
	p.out.push(p.rig.frames.Copy(data))
	p.flush()
}

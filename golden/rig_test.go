package golden

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/host"
	"nictwin/models/msg"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// rig is a Go NIC on a board of test code: a memory with a driver behind its
// PCIe port and a peer behind each Ethernet port. What crosses is recorded.
type rig struct {
	t     testing.TB
	opt   rigOpt
	eng   *simcore.Engine
	nic   *nic.Comp
	mem   *memory
	peers []*peer

	frames msg.Frames
	tlps   msg.TLPs
	tape   []boundary.Crossing // copies, if opt.record
}

type rigOpt struct {
	spec    nic.Spec
	seed    uint64
	shuffle bool
	record  bool
	policy  tlp.CplPolicy
	see     func(boundary.Crossing)
}

func defaultRig() rigOpt { return rigOpt{spec: nic.DefaultSpec(), record: true, seed: 1} }

// smallRig has few queues and rules, so that all counters are soon read.
func smallRig() rigOpt {
	o := defaultRig()
	o.spec.NumRxq, o.spec.NumTxq, o.spec.NumRules = 8, 8, 16
	return o
}

func newRig(t testing.TB, o rigOpt) *rig {
	t.Helper()
	r := &rig{t: t, opt: o, eng: simcore.NewEngine()}
	var err error
	r.nic, err = nic.Builder{Scheduler: r.eng, Spec: o.spec, Frames: &r.frames, TLPs: &r.tlps}.Build("NIC")
	require.NoError(t, err)
	link := simcore.LinkSpec{Latency: 10 * simcore.Nanosecond}
	r.mem = newMemory(r)
	_, err = simcore.Connect("PCIe", r.eng, link, r.nic.PCIe(), r.mem.port)
	require.NoError(t, err)
	for p := range o.spec.Ports {
		e := &peer{ComponentBase: sim.NewComponentBase(fmt.Sprintf("Peer[%d]", p)), rig: r}
		e.port = simcore.NewPort(e, 64, fmt.Sprintf("Peer[%d].Eth", p))
		_, err = simcore.Connect(fmt.Sprintf("Wire[%d]", p), r.eng, link, r.nic.Eth(p), e.port)
		require.NoError(t, err)
		r.peers = append(r.peers, e)
	}
	r.nic.Observe(func(x boundary.Crossing) {
		if o.record {
			r.tape = append(r.tape, clone(x))
		}
		if o.see != nil {
			o.see(x)
		}
	})
	return r
}

// clone is a crossing that lives as long as it is wanted.
func clone(x boundary.Crossing) boundary.Crossing {
	if x.Frame != nil {
		x.Frame = &ether.Frame{Port: x.Frame.Port, Queue: x.Frame.Queue, Data: append([]byte(nil), x.Frame.Data...)}
	}
	if x.TLP != nil {
		x.TLP = &tlp.Packet{Hdr: x.TLP.Hdr, Data: append([]byte(nil), x.TLP.Data...)}
	}
	return x
}

// settle lets everything happen.
func (r *rig) settle() {
	r.t.Helper()
	require.NoError(r.t, r.eng.Run())
}

// step lets a while pass.
func (r *rig) step(d simcore.Ps) {
	r.t.Helper()
	require.NoError(r.t, r.eng.RunUntil(r.eng.Now()+d))
}

// judge plays a tape to a referee.
func judge(t testing.TB, cfg Config, tape []boundary.Crossing, final ...CounterValue) *Report {
	t.Helper()
	g, err := New(cfg)
	require.NoError(t, err)
	for i := range tape {
		g.Observe(tape[i])
	}
	return g.Finish(final...)
}

// peer is what is on the other side of an Ethernet port.
type peer struct {
	*sim.ComponentBase
	rig  *rig
	port *simcore.Port
	out  fifo[*msg.Frame]
	got  int
}

func (p *peer) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for p.port.Len() > 0 {
		p.got++
		p.rig.frames.Put(p.port.Retrieve(now).(*msg.Frame))
	}
}

func (p *peer) Handle(sim.Event) error                  { return nil }
func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) { p.flush() }

func (p *peer) send(data []byte) {
	p.out.push(p.rig.frames.Copy(data))
	p.flush()
}

func (p *peer) flush() {
	for p.out.n > 0 && p.port.CanSend() {
		if p.port.SendAt(p.out.pop(), p.rig.eng.Now()) != nil {
			panic("refused after CanSend")
		}
	}
}

// memory is Arm and host memory, and the driver.
type memory struct {
	*sim.ComponentBase
	rig     *rig
	port    *simcore.Port
	bytes   *host.Memory // of every endpoint, by bus address
	cpl     *tlp.Completer
	rng     uint64
	out     fifo[*msg.TLP]
	faults  map[uint64]fault // by address of a read
	delay   map[uint64]simcore.Ps
	rx, tx  [256]testRing
	answers map[uint8]uint64
	tag     uint8
}

type testRing struct {
	ring, cq uint64
	log      int
	pi       uint16
}

type fault uint8

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

func newMemory(r *rig) *memory {
	m := &memory{ComponentBase: sim.NewComponentBase("Memory"), rig: r, bytes: host.NewMemory(1 << 63),
		faults: map[uint64]fault{}, delay: map[uint64]simcore.Ps{}, rng: r.opt.seed, answers: map[uint8]uint64{}}
	m.port = simcore.NewPort(m, 256, "Memory.PCIe")
	var err error
	m.cpl, err = tlp.NewCompleter(nicspec.RequesterHost, tlp.Limits{MPS: 256, MRRS: 512, RCB: 64}, r.opt.policy, r.opt.seed)
	require.NoError(r.t, err)
	return m
}

func (m *memory) random() uint64 {
	m.rng += mixA
	return fold(m.rng^mixB, mixC)
}

func (m *memory) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for m.port.Len() > 0 {
		p := m.port.Retrieve(now).(*msg.TLP)
		m.take(&p.Packet)
		m.rig.tlps.Put(p)
	}
}

func (m *memory) take(p *tlp.Packet) {
	h := tlp.Parse(&p.Hdr)
	switch h.Kind {
	case tlp.MWr:
		runs := h.Runs(p.Data)
		for addr, b, ok := runs.Next(); ok; addr, b, ok = runs.Next() {
			m.bytes.Write(addr, b)
		}
	case tlp.MRd:
		late := &lateRead{h: h}
		late.H, late.Arg = m, late
		off, _ := h.Span()
		late.At = m.rig.eng.Now() + 200*simcore.Nanosecond + m.delay[h.Address+uint64(off)]
		if m.rig.opt.shuffle {
			late.At += simcore.Ps(m.random() % uint64(200*simcore.Nanosecond))
		}
		m.rig.eng.Schedule(&late.Event)
	case tlp.CplD:
		v := uint64(0)
		for i := len(p.Data) - 1; i >= 0; i-- {
			v = v<<8 | uint64(p.Data[i])
		}
		m.answers[h.Tag] = v
	}
}

func (m *memory) Handle(e sim.Event) error {
	late := e.(*simcore.Event).Arg.(*lateRead)
	off, _ := late.h.Span()
	at := late.h.Address + uint64(off)
	what := m.faults[at]
	delete(m.faults, at)
	if what == faultSilent {
		return nil
	}
	read := func(addr uint64, dst []byte) error {
		m.bytes.Read(addr, dst)
		return map[fault]error{faultUR: tlp.ErrUnsupported, faultCA: tlp.ErrAborted, faultPoison: tlp.ErrPoisoned}[what]
	}
	reply, err := m.cpl.Begin(&late.h)
	for err == nil && reply.More() {
		p := m.rig.tlps.Get()
		err = reply.Fill(&p.Packet, read)
		if what == faultMalformed {
			h := tlp.Parse(&p.Hdr)
			h.ByteCount = h.ByteCount%tlp.PageBytes + 1
			err = p.SetHeader(&h)
		}
		m.out.push(p)
	}
	m.flush()
	return err
}

func (m *memory) NotifyPortFree(sim.VTimeInSec, sim.Port) { m.flush() }

func (m *memory) flush() {
	for m.out.n > 0 && m.port.CanSend() {
		if m.port.SendAt(m.out.pop(), m.rig.eng.Now()) != nil {
			panic("refused after CanSend")
		}
	}
}

func (m *memory) send(h tlp.Header, data []byte) {
	p := m.rig.tlps.Get()
	if len(data) > 0 {
		copy(p.Own(len(data)), data)
	}
	require.NoError(m.rig.t, p.SetHeader(&h))
	m.out.push(p)
	m.flush()
}

// write writes a register.
func (m *memory) write(off, v uint32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	m.send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 1, FirstBE: 0xf, Address: nicspec.BarBase + uint64(off)}, b[:])
}

// ask sends a read of n words of registers.
func (m *memory) ask(off uint32, n uint16) (tag uint8) {
	m.tag++
	h := tlp.Header{Kind: tlp.MRd, Addr64: true, Length: n, FirstBE: 0xf, Tag: m.tag, RequesterID: nicspec.RequesterHost,
		Address: nicspec.BarBase + uint64(off)}
	if n > 1 {
		h.LastBE = 0xf
	}
	m.send(h, nil)
	return m.tag
}

// reg reads a register; time goes on until the answer is there.
func (m *memory) reg(off uint32, n uint16) uint64 {
	tag := m.ask(off, n)
	delete(m.answers, tag)
	for range 10000 {
		m.rig.step(100 * simcore.Nanosecond)
		if v, ok := m.answers[tag]; ok {
			return v
		}
	}
	m.rig.t.Fatalf("register %#x is not answered", off)
	return 0
}

// table carries out a table command, and waits for its end.
func (m *memory) table(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) nicspec.TableStatus {
	m.tableLater(op, t, i, entry)
	got := nicspec.TblCmdReg(m.reg(nicspec.RegTblCmd, 1))
	for range 10000 {
		if !got.Busy() {
			break
		}
		got = nicspec.TblCmdReg(m.reg(nicspec.RegTblCmd, 1))
	}
	require.False(m.rig.t, got.Busy(), "a table command stays busy")
	return nicspec.TableStatus(got.Status())
}

func (m *memory) tableLater(op nicspec.TableOp, t nicspec.Table, i int, entry []byte) {
	for w := 0; 4*w < len(entry); w++ {
		m.write(nicspec.RegTblData(w), binary.LittleEndian.Uint32(entry[4*w:]))
	}
	m.write(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(op, t, i)))
}

package nic

import (
	"encoding/binary"
	"nictwin/models/fifo"
	"nictwin/models/msg"
	"nictwin/models/nictest"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	memory "nictwin/models/host"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// host is all memory, Arm and host, and the driver.
type host struct {
	*sim.ComponentBase
	rig     *rig
	port    *simcore.Port
	mem     *memory.Memory // of every endpoint, by bus address
	cpl     *tlp.Completer
	rng     uint64
	shuffle bool
	latency simcore.Ps
	out     fifo.Queue[*msg.TLP]
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
	h := &host{ComponentBase: sim.NewComponentBase("Host"), rig: r, mem: memory.NewMemory(1 << 63),
		latency: o.latency, shuffle: o.shuffle, rng: o.seed, faults: map[uint64]fault{},
		answers: map[uint8]answer{}}
	h.port = simcore.NewPort(h, 64, "Host.PCIe")
	h.readFn = h.answerRead
	h.limits = tlp.Limits{MPS: 256, MRRS: 512, RCB: 64}
	var err error
	h.cpl, err = tlp.NewCompleter(nicspec.RequesterHost, h.limits, o.policy, o.seed)
	require.NoError(r.t, err)
	return h
}

func (h *host) write(addr uint64, src []byte) { h.mem.Write(addr, src) }

func (h *host) bytes(addr uint64, n int) []byte {
	b := make([]byte, n)
	h.mem.Read(addr, b)
	return b
}

func (h *host) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !h.stalled && h.port.Len() > 0 {
		p := h.port.Retrieve(now).(*msg.TLP)
		h.take(&p.Packet)
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
			h.rng = nictest.Mix(h.rng)
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
	reply, err := h.cpl.Begin(&late.h)
	for err == nil && reply.More() {
		p := h.rig.tlps.Get()
		if err = reply.Fill(&p.Packet, h.readFn); err == nil {
			h.emit(p)
		}
	}
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
	h.mem.Read(addr, dst)
	return nil
}

func (h *host) emit(p *msg.TLP) {
	if h.fault == faultMalformed {
		hdr, _ := p.Header()
		hdr.ByteCount++
		_ = p.SetHeader(&hdr)
	}
	h.out.Push(p)
}

func (h *host) NotifyPortFree(sim.VTimeInSec, sim.Port) { h.flush() }

func (h *host) flush() {
	for h.out.Len() > 0 && h.port.CanSend() {
		if err := h.port.SendAt(h.out.Pop(), h.rig.eng.Now()); err != nil {
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
	h.out.Push(p)
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
	h.wr32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(op, t, i)))
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

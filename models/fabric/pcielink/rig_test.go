package pcielink

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// end is a component at an end of the link. It keeps what it retrieves and can refuse classes.
type end struct {
	*sim.ComponentBase
	s     simcore.Scheduler
	port  *simcore.Port
	got   []*msg.TLP
	at    []simcore.Ps
	hold  bool    // leave received TLPs in the port
	shut  [3]bool // TLP classes that this end of the link refuses for now
	freed int
	on    func(p *msg.TLP)
}

// plain is an end that is not Selective.
type plain struct{ *end }

// picky is a Selective end.
type picky struct{ *end }

func (p picky) Takes(_ *simcore.Port, t *msg.TLP) bool { return !p.shut[t.Parsed().Kind.Class()] }

func newEnd(s simcore.Scheduler, name string, capacity int, selective bool) *end {
	e := &end{ComponentBase: sim.NewComponentBase(name), s: s}
	var c sim.Component = plain{e}
	if selective {
		c = picky{e}
	}
	e.port = simcore.NewPort(c, capacity, name+".Port")
	return e
}

func (e *end) Handle(sim.Event) error                    { return nil }
func (e *end) NotifyPortFree(sim.VTimeInSec, sim.Port)   { e.freed++ }
func (e *end) NotifyRecv(now sim.VTimeInSec, _ sim.Port) { e.drain(now) }

func (e *end) drain(now sim.VTimeInSec) {
	for !e.hold && e.port.Len() > 0 {
		p := e.port.Retrieve(now).(*msg.TLP)
		e.got, e.at = append(e.got, p), append(e.at, simcore.FromSec(now))
		if e.on != nil {
			e.on(p)
		}
	}
}

// rig is a link between two ends.
type rig struct {
	t    *testing.T
	e    *simcore.Engine
	l    *Link
	a, b *end
	seq  uint64
}

func newRig(t *testing.T, spec Spec, selective bool) *rig {
	t.Helper()
	e := simcore.NewEngine()
	r := &rig{t: t, e: e, a: newEnd(e, "A", 1024, selective), b: newEnd(e, "B", 1024, selective)}
	var err error
	r.l, err = Builder{Scheduler: e, Spec: spec}.Build("Link")
	require.NoError(t, err)
	require.NoError(t, r.l.Connect(r.a.port, r.b.port))
	return r
}

// tlp makes a TLP of a kind, with n bytes of payload; a read requests n bytes.
func (r *rig) tlp(k tlp.Kind, n int, attr tlp.Attr) *msg.TLP {
	r.seq++
	p := &msg.TLP{Seq: r.seq}
	h := tlp.Header{Kind: k, Length: uint16(n / 4), Attr: attr, RequesterID: 0x200, Tag: uint8(r.seq)}
	switch k {
	case tlp.MWr, tlp.MRd:
		h.Addr64, h.Address, h.FirstBE, h.LastBE = true, 1<<56, 0xf, 0xf
		if n == 4 {
			h.LastBE = 0
		}
	case tlp.CplD, tlp.Cpl:
		h.ByteCount = uint16(max(n, 4))
	}
	if k.HasData() {
		p.Own(n)
	}
	require.NoError(r.t, p.SetHeader(&h))
	return p
}

func (r *rig) send(from *end, ps ...*msg.TLP) {
	r.t.Helper()
	for _, p := range ps {
		p.Depart = r.e.Now()
		require.Nil(r.t, from.port.Send(p))
	}
}

func (r *rig) run() {
	r.t.Helper()
	require.NoError(r.t, r.e.Run())
	require.NoError(r.t, r.l.Err())
}

// order returns the sequence numbers of the TLPs that an end has received.
func (e *end) order() (seqs []uint64) {
	for _, p := range e.got {
		seqs = append(seqs, p.Seq)
	}
	return seqs
}

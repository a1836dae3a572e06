package nictest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// EndpointSpec configures an Endpoint.
type EndpointSpec struct {
	Latency simcore.Ps    // latency of reads
	Jitter  simcore.Ps    // largest random addition to Latency; completions of different reads may overtake each other
	Split   tlp.CplPolicy // how completions are split
	Seed    uint64
	Bare    bool // for measurements: without Faults and Gate
}

// Endpoint is the other end of a NIC's PCIe port: memory at every bus address behind a root
// complex, a driver's rings, and means to inject faults and back-pressure.
type Endpoint struct {
	*mem.Sparse // memory at all bus addresses, of every endpoint
	Root        *root.Root
	Faults      *inject.Faults
	Gate        *inject.Gate
	Rx, Tx      [256]Ring
	Answers     map[uint8]Answer // the NIC's answers to register reads and raw requests, by tag

	// Wrote, if set, is called for every write of the NIC.
	Wrote func(addr uint64, b []byte)

	// Wait runs the simulation until holds returns true, or until a limit is reached.
	Wait func(holds func() bool)

	t    testing.TB
	port *simcore.Port
	tlps *msg.TLPs
	tag  uint8
}

// Answer is a completion of the NIC.
type Answer struct {
	tlp.Header
	Data [8]byte
}

// Value returns the register value that was read.
func (a *Answer) Value() (v uint64) {
	for i := len(a.Data) - 1; i >= 0; i-- {
		v = v<<8 | uint64(a.Data[i])
	}
	return v
}

// Limits are the sizes by which an Endpoint splits completions.
var Limits = tlp.Limits{MPS: 256, MRRS: 512, RCB: 64}

// NewEndpoint assembles an endpoint. The caller sets Wait and links Port to the NIC.
func NewEndpoint(t testing.TB, e *simcore.Engine, tlps *msg.TLPs, s EndpointSpec) *Endpoint {
	t.Helper()
	p := &Endpoint{Sparse: mem.NewSparse(1 << 63), Answers: map[uint8]Answer{}, t: t, tlps: tlps}
	slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Jitter: s.Jitter, Seed: s.Seed}, watched{p})
	require.NoError(t, err)
	spec := root.DefaultSpec()
	spec.Latency, spec.Limits, spec.Split, spec.Seed = s.Latency, Limits, s.Split, s.Seed
	p.Root, err = root.Builder{Scheduler: e, Spec: spec, Memory: slow, TLPs: tlps}.Build("Root")
	require.NoError(t, err)
	p.Root.OnCompletion = p.answered
	if p.port = p.Root.PCIe(); s.Bare {
		return p
	}
	p.Faults, p.Gate = inject.NewFaults("Faults", e, tlps), inject.NewGate("Gate", e)
	_, err = simcore.Connect("RootLink", e, simcore.LinkSpec{}, p.port, p.Faults.Peer())
	require.NoError(t, err)
	_, err = simcore.Connect("FaultsLink", e, simcore.LinkSpec{}, p.Faults.Device(), p.Gate.Peer())
	require.NoError(t, err)
	p.port = p.Gate.Device()
	return p
}

// watched is the memory behind the root complex: it reports writes to Wrote.
type watched struct{ p *Endpoint }

func (w watched) Check(op mem.Op, addr uint64, n int) error { return w.p.Sparse.Check(op, addr, n) }

func (w watched) Access(a *mem.Access) {
	if a.Op == mem.Write && w.p.Wrote != nil {
		w.p.Wrote(a.Addr, a.Data)
	}
	w.p.Sparse.Access(a)
}

// Port returns the port to link to the NIC.
func (p *Endpoint) Port() *simcore.Port { return p.port }

// Bytes returns n bytes at a bus address.
func (p *Endpoint) Bytes(addr uint64, n int) []byte {
	b := make([]byte, n)
	p.Read(addr, b)
	return b
}

// Fail makes every read that starts at an address fail. Faults added earlier take precedence.
func (p *Endpoint) Fail(addr uint64, kind inject.FaultKind) {
	p.Strike(inject.Fault{Kind: kind, From: addr})
}

// FailOnce makes the next read that starts at an address fail.
func (p *Endpoint) FailOnce(addr uint64, kind inject.FaultKind) {
	p.Strike(inject.Fault{Kind: kind, From: addr, Count: 1})
}

// Strike adds a fault for reads that start at address f.From.
func (p *Endpoint) Strike(f inject.Fault) {
	p.t.Helper()
	f.To = f.From + 1
	require.NoError(p.t, p.Faults.Add(f))
}

// ReadFaults has one fault of each kind that the contract distinguishes.
var ReadFaults = []inject.FaultKind{inject.FaultUR, inject.FaultCA, inject.FaultPoison, inject.FaultSilent,
	inject.FaultByteCount}

func (p *Endpoint) answered(h *tlp.Header, data []byte) {
	a := Answer{Header: *h}
	copy(a.Data[:], data)
	p.Answers[h.Tag] = a
}

// Send sends the NIC a TLP.
func (p *Endpoint) Send(h tlp.Header, data []byte) {
	p.t.Helper()
	x := p.tlps.Get()
	if len(data) > 0 {
		copy(x.Own(len(data)), data)
	}
	require.NoError(p.t, x.SetHeader(&h))
	p.Root.Send(x)
}

// Write32 writes a register.
func (p *Endpoint) Write32(off, v uint32) {
	p.t.Helper()
	p.Send(tlp.Header{Kind: tlp.MWr, Addr64: true, Length: 1, FirstBE: 0xf, Address: nicspec.BarBase + uint64(off)},
		[]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
}

// Ask sends a read of n words of registers; the answer arrives in Answers.
func (p *Endpoint) Ask(off uint32, n uint16) (tag uint8) {
	p.t.Helper()
	p.tag++
	h := tlp.Header{Kind: tlp.MRd, Addr64: true, Length: n, FirstBE: 0xf, Tag: p.tag,
		RequesterID: nicspec.RequesterHost,
		Address:     nicspec.BarBase + uint64(off)}
	if n > 1 {
		h.LastBE = 0xf
	}
	delete(p.Answers, p.tag)
	p.Send(h, nil)
	return p.tag
}

// Reg reads n words of registers and waits for the answer.
func (p *Endpoint) Reg(off uint32, n uint16) uint64 {
	p.t.Helper()
	tag := p.Ask(off, n)
	p.Wait(func() bool { _, ok := p.Answers[tag]; return ok })
	a, ok := p.Answers[tag]
	require.True(p.t, ok, "register %#x is not answered", off)
	require.Equal(p.t, tlp.CplD, a.Kind)
	return a.Value()
}

package board

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nic"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
	"nictwin/rtlbridge"
)

// Device is a NIC of any kind on the board.
type Device interface {
	boundary.Observable
	PCIe() *simcore.Port
	Eth(port int) *simcore.Port
	// Begin is called once everything is connected. done tells that nothing more will be asked of the device.
	Begin(done func() bool) error
	// Check returns what is wrong with the device itself after the run: stream rules broken, by name.
	Check() error
	Cycles() int64
	Build() string  // hash of the RTL build, empty for the model
	Digest() uint64 // of all events, as rtlbridge.Playback's; 0 unless Spec.Digest was set
	Wall() rtlbridge.Wall
	io.Closer
}

func (s *Spec) newDevice(e *simcore.Engine, p *pools) (Device, error) {
	if s.NIC == Model {
		return s.newModel(e, p)
	}
	return s.newRTL(e, p)
}

// model is the Go NIC.
type model struct {
	*nic.Comp
}

func (s *Spec) newModel(e *simcore.Engine, p *pools) (Device, error) {
	n := nic.DefaultSpec()
	n.Stall = nic.Stall{Seed: s.Seed, EthOut: s.Stall, TLPOut: s.Stall, TLPIn: s.Stall}
	c, err := nic.Builder{Scheduler: e, Spec: n, Frames: &p.frames, TLPs: &p.tlps}.Build("NIC")
	if err != nil {
		return nil, err
	}
	return &model{c}, nil
}

func (m *model) Begin(func() bool) error { return nil }
func (m *model) Check() error            { return nil }
func (m *model) Cycles() int64           { return m.Cycle() }
func (m *model) Build() string           { return "" }
func (m *model) Digest() uint64          { return 0 }
func (m *model) Wall() rtlbridge.Wall    { return rtlbridge.Wall{} }
func (m *model) Close() error            { return nil }

// rtl is a device behind the bridge.
type rtl struct {
	*rtlbridge.Comp
	conn  *rtlbridge.Conn
	spec  Spec
	broke error // first stream rule that was broken
	count int

	observers []boundary.Observer
}

// Names of the NIC's streams in its manifest.
const (
	streamEthIn, streamEthOut = "eth_rx", "eth_tx"
	streamTLPIn, streamTLPOut = "tlp_rx", "tlp_tx"
	portPCIe, portEth         = "PCIe", "Eth"
)

// Build builds the device of a manifest, or finds it in the cache.
func Build(manifest, variant string, log io.Writer) (*rtlbridge.Device, error) {
	m, err := rtlbridge.LoadManifest(manifest)
	if err != nil {
		return nil, err
	}
	return rtlbridge.Build(m, rtlbridge.BuildOptions{Variant: rtlbridge.Variant(variant), Log: log})
}

func (s *Spec) device() (*rtlbridge.Device, error) {
	if s.Built != nil {
		return s.Built, nil
	}
	if _, err := os.Stat(s.DUT); err != nil {
		return nil, fmt.Errorf("--dut: %w", err)
	}
	return Build(s.DUT, s.Variant, s.Log)
}

// open starts the device, or reaches the one that runs elsewhere.
func (s *Spec) open() (*rtlbridge.Conn, error) {
	if s.Connect != "" {
		token, err := s.token()
		if err != nil {
			return nil, err
		}
		return rtlbridge.Dial(s.Connect, rtlbridge.DialOptions{Token: token, Record: s.Record})
	}
	dev, err := s.device()
	if err != nil {
		return nil, err
	}
	return rtlbridge.Launch(dev, rtlbridge.LaunchOptions{Record: s.Record})
}

func (s *Spec) newRTL(e *simcore.Engine, p *pools) (Device, error) {
	conn, err := s.open()
	if err != nil {
		return nil, err
	}
	spec := rtlbridge.CompSpec{Quantum: s.Quantum, InLatency: s.latency(), OutLatency: s.latency(), Digest: s.Digest}
	if s.Serial {
		spec.Mode = rtlbridge.Serial
	}
	eth := rtlbridge.EtherBinding(portEth, streamEthIn, streamEthOut, 0, &p.frames, true)
	pcie := rtlbridge.TLPBinding(portPCIe, streamTLPIn, streamTLPOut, &p.tlps, true)
	c, err := rtlbridge.NewComp("NIC", e, conn, spec, []rtlbridge.Binding{pcie, eth})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &rtl{Comp: c, conn: conn, spec: *s}, nil
}

func (r *rtl) PCIe() *simcore.Port   { return r.Port(0) }
func (r *rtl) Eth(int) *simcore.Port { return r.Port(1) }
func (r *rtl) Cycles() int64         { return int64(r.Cycle()) }
func (r *rtl) Build() string         { return hex.EncodeToString(r.conn.Hello().BuildHash[:]) }
func (r *rtl) Close() error          { return r.conn.Close() }
func (r *rtl) Wall() rtlbridge.Wall  { return r.Comp.Wall() }

// MaxFrame is the longest frame offered: longer than any the NIC takes, and than any capture is likely to hold.
const MaxFrame = 1 << 18

func (r *rtl) Begin(done func() bool) error {
	s := r.conn.NewStart(r.spec.Seed)
	s.Poison = r.spec.Stall > 0 // what the device reads without looking at tvalid shows
	for i := range s.Streams {
		s.Streams[i].StallPercent = r.spec.Stall
		s.Streams[i].MaxBytes = MaxFrame
	}
	r.Done = done
	r.Comp.Observe(r.happened)
	return r.Comp.Begin(s)
}

func (r *rtl) violated(e *rtlbridge.Event) {
	r.count++
	if r.broke == nil {
		r.broke = fmt.Errorf("stream %s, cycle %d: %v", r.conn.Hello().Streams[e.Stream].Name, e.First, e.Rule)
	}
}

func (r *rtl) Check() error {
	if r.count > 1 {
		return fmt.Errorf("%w (and %d more)", r.broke, r.count-1)
	}
	return r.broke
}

// Observe implements boundary.Observable; it must be called before Begin.
func (r *rtl) Observe(f boundary.Observer) { r.observers = append(r.observers, f) }

// happened translates the bridge's events: an input has crossed when its last beat was accepted.
func (r *rtl) happened(e rtlbridge.Event) {
	c := boundary.Crossing{First: int64(e.First), Last: int64(e.Last)}
	switch {
	case e.Kind == rtlbridge.EventViolation:
		r.violated(&e)
		return
	case e.Msg == nil:
		return
	case e.Kind == rtlbridge.EventOut:
		c.Kind = boundary.FrameOut
	case e.Flags&rtlbridge.InEnd == 0:
		return
	}
	switch m := e.Msg.(type) {
	case *ether.Frame:
		c.Frame = m
	case *tlp.Packet:
		c.TLP = m
		c.Kind += boundary.TLPIn - boundary.FrameIn
	}
	for _, f := range r.observers {
		f(c)
	}
}

var (
	_ Device = (*model)(nil)
	_ Device = (*rtl)(nil)
)

package board

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"nictwin/models/boundary"
	"nictwin/models/msg"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/rtlbridge"
)

// Device is a NIC of any kind on the board.
type Device interface {
	boundary.Observable
	PCIe() *simcore.Port
	Eth(port int) *simcore.Port
	EthBits() int // of an Ethernet stream: what a port carries a cycle
	Period() simcore.Ps
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
	ethBits int
	rest    rest
}

func (s *Spec) newModel(e *simcore.Engine, p *pools) (Device, error) {
	n := nic.DefaultSpec()
	if s.Build != nil {
		n.Build = *s.Build
	}
	n.Ports, n.Freq.PeriodPs = s.ports(), s.PeriodPs
	if s.EthBits != 0 {
		n.EthBits = s.EthBits
	}
	c, err := nic.Builder{Scheduler: e, Spec: n, Stalls: s.stalls(), Frames: &p.frames, TLPs: &p.tlps}.Build("NIC")
	if err != nil {
		return nil, err
	}
	r := rest{engine: e, period: n.Freq.Period(), device: c.Name(), busy: c.Busy, patience: rtlbridge.DefaultPatience}
	return &model{c, n.EthBits, r}, nil
}

func (m *model) Begin(done func() bool) error {
	m.rest.done = done
	m.rest.begin()
	return nil
}

func (m *model) EthBits() int         { return m.ethBits }
func (m *model) Period() simcore.Ps   { return m.Spec().Freq.Period() }
func (m *model) Check() error         { return nil }
func (m *model) Cycles() int64        { return m.Cycle() }
func (m *model) Build() string        { return "" }
func (m *model) Digest() uint64       { return 0 }
func (m *model) Wall() rtlbridge.Wall { return rtlbridge.Wall{} }
func (m *model) Close() error         { return nil }

// rtl is a device behind the bridge.
type rtl struct {
	*rtlbridge.Comp
	conn    *rtlbridge.Conn
	spec    Spec
	ethBits int
	broke   *StreamError // first stream rule that was broken

	observers []boundary.Observer
}

// Names of the NIC's streams in its manifest.
const (
	streamEthIn, streamEthOut = "eth_rx", "eth_tx"
	streamTLPIn, streamTLPOut = "tlp_rx", "tlp_tx"
	portPCIe, portEth         = "PCIe", "Eth"
	// Parameters of the NIC's top module [B2].
	paramPorts, paramEthBits = "Ports", "EthBits"
)

// IsNIC returns nil for a device with the streams and the busy signal of a NIC, and otherwise an error that names what it
// lacks.
func IsNIC(m *rtlbridge.Manifest) error {
	var lacks []string
	for _, want := range []struct{ name, dir string }{
		{streamEthIn, rtlbridge.DirIn}, {streamEthOut, rtlbridge.DirOut},
		{streamTLPIn, rtlbridge.DirIn}, {streamTLPOut, rtlbridge.DirOut},
	} {
		if !slices.ContainsFunc(m.Streams, func(s rtlbridge.Stream) bool { return s.Name == want.name && s.Dir == want.dir }) {
			lacks = append(lacks, fmt.Sprintf("%s (%s)", want.name, want.dir))
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s: no stream %s: this device is no NIC", m.Name, strings.Join(lacks, ", "))
	}
	if m.Busy == "" {
		return fmt.Errorf("%s: no busy signal: a NIC has one [B8], which its manifest observes and names as busy", m.Name)
	}
	return nil
}

// Eth is the Ethernet side of a build of the NIC [B2]; what is 0 is as the manifest has it.
type Eth struct {
	Ports int
	Bits  int // of the stream of a port
}

// Of is the manifest of a NIC for a build with these ports [B2] [B3].
func (e Eth) Of(m *rtlbridge.Manifest) (*rtlbridge.Manifest, error) {
	w, err := m.Widen(paramPorts, max(e.Ports, 1), streamEthIn, streamEthOut)
	if err != nil || e.Bits == 0 {
		return w, err
	}
	return w.With(paramEthBits, e.Bits)
}

// Build builds the device of a manifest with these Ethernet ports, or finds it in the cache. ctx ends the wait for another
// process that builds it.
func Build(ctx context.Context, manifest, variant string, eth Eth, log io.Writer) (*rtlbridge.Device, error) {
	m, err := rtlbridge.LoadManifest(manifest)
	if err != nil {
		return nil, err
	}
	return BuildOf(ctx, m, variant, eth, log)
}

// BuildOf is Build of a manifest that was read.
func BuildOf(ctx context.Context, m *rtlbridge.Manifest, variant string, eth Eth, log io.Writer) (*rtlbridge.Device, error) {
	m, err := eth.Of(m)
	if err != nil {
		return nil, err
	}
	return rtlbridge.Build(m, rtlbridge.BuildOptions{Variant: rtlbridge.Variant(variant), Log: log, Context: ctx})
}

// Sized is the manifest of a NIC for a build with the queues, keys, rules and parts of these sizes [B2].
func Sized(m *rtlbridge.Manifest, sizes *nicspec.Build) *rtlbridge.Manifest {
	w := *m
	w.Parameters = maps.Clone(m.Parameters)
	for name, n := range map[string]int{"NumRxq": sizes.NumRxq, "NumTxq": sizes.NumTxq, "NumKeys": sizes.NumKeys, "NumRules": sizes.NumRules} {
		w.Parameters[name] = strconv.Itoa(n)
	}
	if sizes.Parts != nicspec.PartsDefault {
		w.Parameters["Parts"] = strconv.Itoa(int(sizes.Parts))
	}
	return &w
}

func (s *Spec) device() (*rtlbridge.Device, error) {
	if s.Built != nil {
		return s.Built, nil
	}
	if _, err := os.Stat(s.DUT); err != nil {
		return nil, fmt.Errorf("--dut: %w", err)
	}
	variant := s.Variant
	if s.Coverage != "" {
		variant = string(rtlbridge.VariantCoverage)
	}
	return Build(s.Context, s.DUT, variant, Eth{s.ports(), s.EthBits}, s.Log)
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
	o := rtlbridge.LaunchOptions{Record: s.Record}
	if s.Coverage != "" {
		if o.Coverage, err = dev.CoverageFile(s.Coverage); err != nil {
			return nil, err
		}
	}
	return rtlbridge.Launch(dev, o)
}

func (s *Spec) newRTL(e *simcore.Engine, p *pools) (Device, error) {
	conn, err := s.open()
	if err != nil {
		return nil, err
	}
	period := s.PeriodPs
	if period == 0 {
		period = simcore.Ps(conn.Hello().PeriodPs)
	}
	latency := s.latency(period)
	spec := rtlbridge.CompSpec{Period: period, Quantum: s.Quantum, InLatency: latency, OutLatency: latency, Digest: s.Digest}
	if s.Serial {
		spec.Mode = rtlbridge.Serial
	}
	bind := []rtlbridge.Binding{rtlbridge.TLPBinding(portPCIe, streamTLPIn, streamTLPOut, &p.tlps, true)}
	for i := range s.ports() {
		in, out := rtlbridge.LaneName(streamEthIn, i), rtlbridge.LaneName(streamEthOut, i)
		bind = append(bind, rtlbridge.EtherBinding(rtlbridge.LaneName(portEth, i), in, out, i, &p.frames, true))
	}
	bits, err := s.pins(conn)
	var c *rtlbridge.Comp
	if err == nil {
		c, err = rtlbridge.NewComp("NIC", e, conn, spec, bind)
	}
	if err != nil {
		if s.Connect != "" {
			err = &FitError{s.Connect, err}
		}
		return nil, errors.Join(err, conn.Close())
	}
	return &rtl{Comp: c, conn: conn, spec: *s, ethBits: bits}, nil
}

// FitError tells that a device which runs elsewhere is not the one that the settings speak of.
type FitError struct {
	Address string
	Err     error
}

func (e *FitError) Error() string { return "device at " + e.Address + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FitError) Unwrap() error { return e.Err }

// pins holds the Ethernet pins of the device to what is wanted, and returns the bits of a stream.
func (s *Spec) pins(c *rtlbridge.Conn) (bits int, err error) {
	if more := rtlbridge.LaneName(streamEthIn, s.ports()); stream(c, more) != nil {
		return 0, fmt.Errorf("the device has the stream %s, too: it has more than %d ports", more, s.ports())
	}
	in := stream(c, streamEthIn)
	if in == nil {
		return 0, nil // the bindings say so
	}
	bits = 8 * in.DataBytes
	if c.Hello().Busy < 0 {
		return 0, errors.New("the device names no busy signal: a NIC has one [B8]")
	}
	if s.EthBits != 0 && s.EthBits != bits {
		return 0, fmt.Errorf("--eth-bits %d: the device has Ethernet streams of %d bits", s.EthBits, bits)
	}
	return bits, nil
}

// stream is a stream of the device, nil if it has none of that name.
func stream(c *rtlbridge.Conn, name string) *rtlbridge.StreamInfo {
	all := c.Hello().Streams
	if i := slices.IndexFunc(all, func(s rtlbridge.StreamInfo) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// bindEth is the binding of the first Ethernet port; those after it follow.
const bindEth = 1

func (r *rtl) PCIe() *simcore.Port     { return r.Port(bindEth - 1) }
func (r *rtl) Eth(p int) *simcore.Port { return r.Port(bindEth + p) }
func (r *rtl) EthBits() int            { return r.ethBits }
func (r *rtl) Period() simcore.Ps      { return r.Spec().Period }
func (r *rtl) Cycles() int64           { return int64(r.Cycle()) }
func (r *rtl) Build() string           { return hex.EncodeToString(r.conn.Hello().BuildHash[:]) }
func (r *rtl) Close() error            { return r.conn.Close() }
func (r *rtl) Wall() rtlbridge.Wall    { return r.Comp.Wall() }

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
	if r.broke != nil {
		r.broke.More++
		return
	}
	r.broke = &StreamError{r.conn.Hello().Streams[e.Stream].Name, max(-1, e.Port-bindEth), int64(e.First), e.Rule, 0}
}

func (r *rtl) Check() error {
	if r.broke == nil {
		return nil
	}
	return r.broke
}

// Observe implements boundary.Observable; it must be called before Begin.
func (r *rtl) Observe(f boundary.Observer) { r.observers = append(r.observers, f) }

// ObserveRest implements boundary.Observable.
func (r *rtl) ObserveRest(f boundary.RestObserver) {
	r.Comp.ObserveRest(func(first, last uint64) { f(boundary.Rest{First: int64(first), Last: int64(last)}) })
}

// ObserveHeld implements boundary.Observable.
func (r *rtl) ObserveHeld(f boundary.HeldObserver) {
	streams := r.conn.Hello().Streams
	of := make([]boundary.Held, len(streams)) // kind and port; NumKinds is none of a NIC's
	for i, s := range streams {
		of[i].Kind = boundary.NumKinds
		switch s.Name {
		case streamTLPIn:
			of[i].Kind = boundary.TLPIn
		case streamTLPOut:
			of[i].Kind = boundary.TLPOut
		}
		for port := range r.spec.ports() {
			switch s.Name {
			case rtlbridge.LaneName(streamEthIn, port):
				of[i] = boundary.Held{Kind: boundary.FrameIn, Port: port}
			case rtlbridge.LaneName(streamEthOut, port):
				of[i] = boundary.Held{Kind: boundary.FrameOut, Port: port}
			}
		}
	}
	r.Comp.ObserveHeld(func(stream int, first, last uint64) {
		if x := of[stream]; x.Kind != boundary.NumKinds {
			x.First, x.Last = int64(first), int64(last)
			f(x)
		}
	})
}

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
	case *msg.Frame:
		c.Frame, c.Port = &m.Frame, e.Port-bindEth
	case *msg.TLP:
		c.TLP = &m.Packet
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

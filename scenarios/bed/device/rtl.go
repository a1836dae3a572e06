package device

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// rtl is a device behind the bridge.
type rtl struct {
	*rtlbridge.Comp
	conn    *rtlbridge.Conn
	slot    board.Slot
	ethBits int
	idle    protocol.IdleMode
	broke   *StreamError // first violation of a stream rule

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

// open starts the device, or connects to a remote one. A remote device has no build here: only its hello describes it.
func (s *Spec) open() (*rtlbridge.Conn, *build.Device, error) {
	if s.Connect != "" {
		token, err := s.token()
		if err != nil {
			return nil, nil, err
		}
		conn, err := rtlbridge.Dial(s.Connect, rtlbridge.DialOptions{Token: token, Record: s.Record})
		return conn, nil, err
	}
	dev, err := s.device()
	if err != nil {
		return nil, nil, err
	}
	o := rtlbridge.LaunchOptions{Record: s.Record}
	if s.Coverage != "" {
		if o.Coverage, err = dev.CoverageFile(s.Coverage); err != nil {
			return nil, nil, err
		}
	}
	if w := s.Wave; w != nil {
		from, to, _ := w.Policy.Cycles(w.Failed, w.At, cmp.Or(s.PeriodPs, simcore.Ps(dev.Manifest.Clocks[0].PeriodPs)))
		o.Wave, o.WaveFrom, o.WaveTo = w.file(s.slot), from, to
	}
	conn, err := rtlbridge.Launch(dev, o)
	return conn, dev, err
}

func (o *Opened) newRTL(slot board.Slot) (Device, error) {
	spec := rtlbridge.CompSpec{
		Period: slot.Period, Quantum: o.spec.Quantum, Digest: o.spec.Digest,
		InLatency:  min(slot.PCIe.Latency, slot.Eth.Latency),
		OutLatency: min(slot.PCIe.Latency, slot.Eth.Latency),
		Patience:   max(rtlbridge.DefaultPatience, uint64(slot.Turn/slot.Period)),
	}
	if o.spec.Serial {
		spec.Mode = rtlbridge.Serial
	}
	bind := []rtlbridge.Binding{rtlbridge.TLPBinding(portPCIe, streamTLPIn, streamTLPOut, slot.TLPs, true)}
	for i := range slot.Ports {
		in, out := manifest.LaneName(streamEthIn, i), manifest.LaneName(streamEthOut, i)
		bind = append(bind, rtlbridge.EtherBinding(manifest.LaneName(portEth, i), in, out, i, slot.Frames, true))
	}
	bits, err := pins(o.conn, &slot)
	if err == nil && slot.Build != nil && !o.spec.sameBuild(slot.Build) {
		err = field.Errorf("build", "%+v: the device was built with other sizes or parts", *slot.Build)
	}
	if w := o.spec.Wave; err == nil && w != nil {
		w.begin(o.spec.slot, o.built, slot.Period)
	}
	var c *rtlbridge.Comp
	if err == nil {
		c, err = rtlbridge.NewComp(slot.Name, slot.Engine, o.conn, spec, bind)
	}
	if err != nil {
		if o.spec.Connect != "" {
			err = &FitError{o.spec.Connect, err}
		}
		return nil, errors.Join(err, o.conn.Close())
	}
	return &rtl{Comp: c, conn: o.conn, slot: slot, ethBits: bits, idle: o.spec.Idle}, nil
}

// FitError reports that a remote device does not match the settings.
type FitError struct {
	Address string
	Err     error
}

func (e *FitError) Error() string { return "device at " + e.Address + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FitError) Unwrap() error { return e.Err }

// pins checks the Ethernet pins of the device against the slot, and returns the width of a port's stream in bits; 0 if
// the device has no such stream.
func pins(c *rtlbridge.Conn, s *board.Slot) (bits int, err error) {
	if more := manifest.LaneName(streamEthIn, s.Ports); stream(c, more) != nil {
		return 0, fmt.Errorf("the device has the stream %s, too: it has more than %d ports", more, s.Ports)
	}
	in := stream(c, streamEthIn)
	if in == nil {
		return 0, nil // binding the streams reports the missing one
	}
	bits = 8 * in.DataBytes
	if c.Hello().Busy < 0 {
		return 0, errors.New("the device names no busy signal: a NIC has one [B8]")
	}
	if s.EthBits != 0 && s.EthBits != bits {
		return 0, field.Errorf("eth_bits", "%d: the device has Ethernet streams of %d bits", s.EthBits, bits)
	}
	return bits, nil
}

// stream returns a stream of the device by name, or nil.
func stream(c *rtlbridge.Conn, name string) *protocol.StreamInfo {
	all := c.Hello().Streams
	if i := slices.IndexFunc(all, func(s protocol.StreamInfo) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// bindEth is the index of the first Ethernet port's binding; those of the other ports follow.
const bindEth = 1

func (r *rtl) PCIe() *simcore.Port     { return r.Port(bindEth - 1) }
func (r *rtl) Eth(p int) *simcore.Port { return r.Port(bindEth + p) }
func (r *rtl) EthBits() int            { return r.ethBits }
func (r *rtl) Period() simcore.Ps      { return r.Spec().Period }
func (r *rtl) Cycles() int64           { return int64(r.Cycle()) }
func (r *rtl) Build() string           { return hex.EncodeToString(r.conn.Hello().BuildHash[:]) }
func (r *rtl) Close() error            { return r.conn.Close() }
func (r *rtl) Wall() rtlbridge.Wall    { return r.Comp.Wall() }

func (r *rtl) Begin(done func() bool) error {
	s := r.conn.NewStart(r.slot.Seed)
	s.Idle = r.idle
	s.Poison = r.slot.Stall > 0 // reveals a device that reads without looking at tvalid
	for i := range s.Streams {
		s.Streams[i].StallPercent = r.slot.Stall
		if r.conn.Hello().Streams[i].Name != streamTLPIn {
			s.Streams[i].BurstLog2 = r.slot.Burst
		}
		s.Streams[i].MaxBytes = ether.MaxOffered
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
	of := make([]boundary.Held, len(streams)) // by stream; kind NumKinds: not a stream of a NIC
	for i, s := range streams {
		of[i].Kind = boundary.NumKinds
		switch s.Name {
		case streamTLPIn:
			of[i].Kind = boundary.TLPIn
		case streamTLPOut:
			of[i].Kind = boundary.TLPOut
		}
		for port := range r.slot.Ports {
			switch s.Name {
			case manifest.LaneName(streamEthIn, port):
				of[i] = boundary.Held{Kind: boundary.FrameIn, Port: port}
			case manifest.LaneName(streamEthOut, port):
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

// happened reports an event of the bridge as a crossing. An input crosses when its last beat is accepted.
func (r *rtl) happened(e rtlbridge.Event) {
	c := boundary.Crossing{First: int64(e.First), Last: int64(e.Last)}
	switch {
	case e.Kind == protocol.EventViolation:
		r.violated(&e)
		return
	case e.Msg == nil:
		return
	case e.Kind == protocol.EventOut:
		c.Kind = boundary.FrameOut
	case e.Flags&protocol.InEnd == 0:
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

var _ Device = (*rtl)(nil)

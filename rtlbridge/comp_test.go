package rtlbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// peer is the other end of the link: it sends `first` frames, one every gap, and answers every frame that comes
// back after that with a new one until `total` have been sent, so that results depend on when outputs arrive.
type peer struct {
	*sim.ComponentBase
	port             *simcore.Port
	s                simcore.Scheduler
	ev               simcore.Event
	pool             *msg.Frames
	first, total     int
	gap              simcore.Ps
	sent, got, bytes int
	arrived          []simcore.Ps
	bad              error
}

func (p *peer) Handle(sim.Event) error {
	if p.sent < p.first {
		p.send()
	}
	if p.sent < p.first {
		p.ev.At = simcore.Now(p.s) + p.gap
		p.s.Schedule(&p.ev)
	}
	return p.bad
}

func size(i int) int { return 60 + (i*977)%1900 }

func (p *peer) send() {
	f := p.pool.Copy(taggedFrame(p.sent))
	f.Depart = simcore.Now(p.s)
	if p.port.Send(f) != nil {
		p.bad = fmt.Errorf("frame %d refused", p.sent)
	}
	p.sent++
}

var tagged = func() (all [256][]byte) {
	for i := range all {
		all[i] = frame(size(i), i)
	}
	return all
}()

func taggedFrame(i int) []byte { return tagged[i%len(tagged)] }

func (p *peer) NotifyRecv(now sim.VTimeInSec, port sim.Port) {
	for m := port.Retrieve(now); m != nil; m = port.Retrieve(now) {
		f := m.(*msg.Frame)
		if !bytes.Equal(f.Data, taggedFrame(p.got)) || f.Queue != p.got%7 {
			p.bad = fmt.Errorf("frame %d came back changed", p.got)
		}
		p.got++
		p.bytes += len(f.Data)
		p.arrived = append(p.arrived, f.Arrive)
		p.pool.Put(f)
		if p.sent >= p.first && p.sent < p.total {
			p.send()
		}
	}
}

func (p *peer) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

// lastPid is the process of the latest runLoop, for tests that stop or kill it.
var lastPid int

type loopOptions struct {
	comp    CompSpec
	latency simcore.Ps
	stall   int
	credits int
	first   int
	total   int
	akita   bool
	socket  bool
	ties    []protocol.TieValue
	record  *bytes.Buffer
	observe func(Event)
	held    func(stream int, first, last uint64)
	timeout time.Duration
	gap     simcore.Ps
	idle    protocol.IdleMode
	rate    simcore.Rate
}

type loopResult struct {
	digest  uint64
	arrived []simcore.Ps
	cycles  uint64
	wall    Wall
	rests   []heldTime
	elapsed time.Duration
}

// engine is the common interface of both engines.
type engine interface {
	simcore.Scheduler
	Run() error
}

// runLoop plays frames through the FIFO device and back and checks that they are unchanged.
func runLoop(t testing.TB, d *build.Device, o loopOptions) (loopResult, error) {
	t.Helper()
	lo := LaunchOptions{Timeout: o.timeout, Socket: o.socket}
	if o.record != nil {
		lo.Record = o.record
	}
	c := launch(t, d, lo)
	lastPid = c.proc.cmd.Process.Pid
	var e engine = simcore.NewEngine()
	if o.akita {
		e = sim.NewSerialEngine()
	}
	pool := &msg.Frames{}
	b := EtherBinding("Eth", "in", "out", 0, pool, true)
	b.Encode = func(m sim.Msg) (side, data []byte, err error) {
		f := m.(*msg.Frame)
		return []byte{byte(f.Seq % 7), 0, 0, 0}, f.Data, nil
	}
	decode := b.Decode
	b.Decode = func(side, data []byte) (simcore.Timed, error) { return decode(side[:2], data) }
	seq := uint64(0)
	encode := b.Encode
	b.Encode = func(m sim.Msg) (side, data []byte, err error) {
		m.(*msg.Frame).Seq = seq
		seq++
		return encode(m)
	}
	o.comp.InLatency, o.comp.OutLatency, o.comp.Digest = o.latency, o.latency, true
	o.comp.MaxCycles = 1_000_000
	k, err := NewComp("DUT", e, c, o.comp, []Binding{b})
	if err != nil {
		return loopResult{}, err
	}
	p := &peer{ComponentBase: sim.NewComponentBase("Peer"), s: e, pool: pool, first: o.first, total: o.total,
		gap: max(o.gap, 30_000)}
	p.port = simcore.NewPort(p, 4096, "Peer.Eth")
	p.ev.H = p
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: o.latency, Rate: o.rate, Credits: 1024,
		ReverseCredits: o.credits, CreditLatency: o.latency}, p.port, k.Port(0))
	require.NoError(t, err)
	k.Done = func() bool { return p.got == p.total || p.bad != nil }
	if o.observe != nil {
		k.Observe(o.observe)
	}
	if o.held != nil {
		k.ObserveHeld(o.held)
	}
	start := c.NewStart(7)
	for i := range start.Streams {
		start.Streams[i].StallPercent, start.Streams[i].BurstLog2 = o.stall, 2
	}
	start.Ties, start.Idle = o.ties, o.idle
	var rests []heldTime
	k.ObserveRest(func(first, last uint64) { rests = append(rests, heldTime{first, last}) })
	require.NoError(t, k.Begin(start))
	p.s.Schedule(&p.ev)
	begin := time.Now()
	if err := errors.Join(e.Run(), p.bad); err != nil {
		return loopResult{}, err
	}
	elapsed := time.Since(begin)
	require.True(t, k.Ended())
	require.Equal(t, o.total, p.got)
	require.NoError(t, c.Close())
	return loopResult{k.Digest(), p.arrived, k.Cycle(), k.Wall(), rests, elapsed}, nil
}

// TestSameResultsForEveryQuantum checks that modes, quanta, engines and variants do not affect any event.
func TestSameResultsForEveryQuantum(t *testing.T) {
	base := loopOptions{latency: 800_000, stall: 30, first: 40, total: 120, rate: simcore.Gbps(200)}
	var want loopResult
	for _, mode := range []Mode{Serial, Pipelined} {
		for _, q := range []uint32{1, 16, 64, 77, 256} {
			o := base
			o.comp = CompSpec{Mode: mode, Quantum: q}
			r, err := runLoop(t, fifo(t, build.VariantSpeed), o)
			require.NoError(t, err)
			if want.arrived == nil {
				want = r
			}
			require.Equal(t, want.digest, r.digest, "%v, quantum %d", mode, q)
			require.Equal(t, want.arrived, r.arrived, "%v, quantum %d", mode, q)
		}
	}
	o := base
	o.akita = true
	r, err := runLoop(t, fifo(t, build.VariantDebug), o)
	require.NoError(t, err)
	require.Equal(t, want.digest, r.digest, "on Akita's engine, with assertions")
	require.Equal(t, want.arrived, r.arrived)
	o = base
	o.socket = true
	r, err = runLoop(t, fifo(t, build.VariantSpeed), o)
	require.NoError(t, err)
	require.Equal(t, want.digest, r.digest, "over the socket alone")
	o = base
	o.stall = 31
	r, err = runLoop(t, fifo(t, build.VariantSpeed), o)
	require.NoError(t, err)
	require.NotEqual(t, want.digest, r.digest, "another stall pattern must show")
}

func TestCreditsHoldTheDeviceBack(t *testing.T) {
	free := loopOptions{latency: 400_000, first: 60, total: 60, comp: CompSpec{Quantum: 64}}
	unlimited, err := runLoop(t, fifo(t, build.VariantSpeed), free)
	require.NoError(t, err)
	var last loopResult
	for i, mode := range []Mode{Serial, Pipelined} {
		o := free
		o.credits, o.comp.Mode = 1, mode
		o.comp.Quantum = []uint32{128, 40}[i]
		r, err := runLoop(t, fifo(t, build.VariantSpeed), o)
		require.NoError(t, err)
		// Each output follows the previous one after a round trip of 2 x 400 ns.
		for j := 1; j < len(r.arrived); j++ {
			require.GreaterOrEqual(t, r.arrived[j]-r.arrived[j-1], simcore.Ps(800_000))
		}
		if i > 0 {
			require.Equal(t, last.digest, r.digest)
		}
		last = r
	}
	require.Less(t, unlimited.arrived[59], last.arrived[59])
}

func TestPlaybackGivesTheSameDigest(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	var rec bytes.Buffer
	r, err := runLoop(t, d, loopOptions{latency: 800_000, stall: 20, credits: 3, first: 50, total: 90, record: &rec})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "inputs")
	require.NoError(t, os.WriteFile(file, rec.Bytes(), 0o644))
	p, err := build.Playback(t.Context(), d, file)
	require.NoError(t, err)
	require.Equal(t, r.digest, p.Digest)
	require.Equal(t, r.cycles, p.Cycles)
	require.EqualValues(t, 90, p.Outputs)
	require.EqualValues(t, 90, p.Inputs)
	_, err = build.Playback(t.Context(), d, fifoManifest)
	require.ErrorContains(t, err, "no whole frame at byte 0")
}

// TestPlaybackIsCancelled checks that canceling the context ends a playback.
func TestPlaybackIsCancelled(t *testing.T) {
	hangs := filepath.Join(t.TempDir(), "dut")
	require.NoError(t, os.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep infinity\n"), 0o755))
	gone := errors.New("nobody wants it any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(gone) })
	_, err := build.Playback(ctx, &build.Device{Manifest: &manifest.Manifest{Name: "x"}, Binary: hangs}, "inputs")
	require.ErrorIs(t, err, gone)
	var infra *protocol.InfraError
	require.ErrorAs(t, err, &infra)
}

func TestObserverOrder(t *testing.T) {
	var last uint64
	n := map[protocol.EventKind]int{}
	_, err := runLoop(t, fifo(t, build.VariantSpeed), loopOptions{latency: 400_000, stall: 25, first: 30, total: 30,
		observe: func(e Event) {
			require.GreaterOrEqual(t, e.Last, last)
			last = e.Last
			require.NotNil(t, e.Msg)
			if e.Kind != protocol.EventIn || e.Flags&protocol.InEnd != 0 {
				n[e.Kind]++
			}
		}})
	require.NoError(t, err)
	require.Equal(t, map[protocol.EventKind]int{protocol.EventIn: 30, protocol.EventOut: 30}, n)
}

func TestAhead(t *testing.T) {
	const cycle = simcore.Ps(2500)
	for _, x := range []struct {
		spec CompSpec
		want int
	}{
		{CompSpec{Quantum: 64, InLatency: 64 * cycle, OutLatency: 64 * cycle}, 2},
		{CompSpec{Quantum: 64, InLatency: 256 * cycle, OutLatency: 128 * cycle}, 3},
		{CompSpec{Quantum: 64, InLatency: 256 * cycle, OutLatency: 256 * cycle}, MaxAhead},
		{CompSpec{Quantum: 64, InLatency: 10 * cycle, OutLatency: 182 * cycle}, 3},
		{CompSpec{Quantum: 64, InLatency: 10 * cycle, OutLatency: 181 * cycle}, 2},
		{CompSpec{Quantum: 64, InLatency: 256 * cycle, OutLatency: 256 * cycle, Ahead: 3}, 3},
		{CompSpec{Quantum: 64, InLatency: 256 * cycle, OutLatency: 256 * cycle, Mode: Serial}, 1},
	} {
		got, err := x.spec.resolve(cycle)
		require.NoError(t, err)
		require.Equal(t, x.want, got.Ahead, "%+v", x.spec)
	}
	for _, n := range []int{-1, 1, 3} {
		_, err := CompSpec{Quantum: 64, InLatency: 64 * cycle, OutLatency: 64 * cycle, Ahead: n}.resolve(cycle)
		require.ErrorContains(t, err, "the links allow 2 to 2 in pipelined mode")
	}
}

package pcielink

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/sim/simcore"
)

// traffic sends random TLPs from both ends, with few credits and receivers that pause at random,
// and checks conservation at every step.
type traffic struct {
	*rig
	rng  *rand.Rand
	sent [2][]order.Key
	left int
}

func newTraffic(t *testing.T, seed uint64, n int) *traffic {
	s := Default(4)
	few := Credits{PostedHeaders: 3, PostedData: 40, NonPostedHeaders: 2, NonPostedData: 2, CompletionHeaders: 3,
		CompletionData: 40}
	s.Latency = 10 * simcore.Nanosecond
	s.Credits, s.Buffer = [2]Credits{few, few}, Buffer{Posted: 4, NonPosted: 4, Completion: 4, WireBytes: 512}
	return &traffic{rig: newRig(t, s, true), rng: rand.New(rand.NewPCG(seed, 1)), left: n}
}

func (x *traffic) random() *msg.TLP {
	attr := tlp.Attr(x.rng.IntN(2)) * tlp.RelaxedOrder
	kind := []tlp.Kind{tlp.MWr, tlp.MRd, tlp.CplD, tlp.MsgD}[x.rng.IntN(4)]
	return x.tlp(kind, 4+4*x.rng.IntN(64), attr)
}

// Handle performs one step: it sends some TLPs from either end, and draws which classes each
// receiver takes.
func (x *traffic) Handle(sim.Event) error {
	for i, from := range [...]*end{x.a, x.b} {
		for range x.rng.IntN(4) {
			p := x.random()
			if !x.l.Room(from.port, p.Parsed().Kind.Class(), x.e.Now()) {
				continue
			}
			x.send(from, p)
			p.Seq = uint64(len(x.sent[i])) + 1
			x.sent[i] = append(x.sent[i], order.KeyOf(p.Parsed()))
		}
	}
	for _, to := range [...]*end{x.a, x.b} {
		for c := range to.shut {
			to.shut[c] = x.rng.IntN(2) == 0 && x.left > 100
		}
		to.hold = x.rng.IntN(3) == 0 && x.left > 100
		x.l.Retry(to.port)
		to.drain(x.e.CurrentTime())
	}
	x.conserved()
	if x.left--; x.left > 0 {
		x.e.Schedule(&simcore.Event{At: x.e.Now() + simcore.Ps(x.rng.IntN(20_000)), H: x})
	}
	return nil
}

// conserved requires that the bytes sent equal those received plus those held.
func (x *traffic) conserved() {
	for i := range 2 {
		c := x.l.Counters(i)
		in, out := c.In[0].Plus(c.In[1]).Plus(c.In[2]), c.Out[0].Plus(c.Out[1]).Plus(c.Out[2])
		require.Equal(x.t, in, out.Plus(x.l.Held(i)))
	}
}

// inOrder requires that no TLP passed one that it must not pass.
func (x *traffic) inOrder(sent []order.Key, got []uint64) {
	for i, late := range got {
		for _, early := range got[:i] {
			if early > late && order.Entry(sent[early-1], sent[late-1]) == order.MustNotPass {
				x.t.Fatalf("TLP %d passed TLP %d", early, late)
			}
		}
	}
}

// Bytes must be conserved at every step and order be kept; all TLPs must arrive, and some must have
// passed others.
func TestConservationAndOrder(t *testing.T) {
	for seed := range uint64(4) {
		x := newTraffic(t, seed, 1500)
		require.NoError(t, x.Handle(nil))
		x.run()
		require.True(t, x.l.Idle())
		passed := 0
		for i, to := range [...]*end{x.b, x.a} {
			got := to.order()
			require.Len(t, got, len(x.sent[i]))
			require.Greater(t, len(got), 1000)
			x.inOrder(x.sent[i], got)
			for k := range got[1:] {
				if got[k] > got[k+1] {
					passed++
				}
			}
		}
		require.Greater(t, passed, 20)
	}
}

// flow is a sender and a receiver that keep the link full, on any engine. The receiver returns each
// TLP to the pool.
type flow struct {
	a, b *end
	l    *Link
	free []*msg.TLP
	left int
}

func newFlow(t testing.TB, e simcore.Scheduler, spec Spec) *flow {
	f := &flow{a: newEnd(e, "A", 64, false), b: newEnd(e, "B", 64, false)}
	f.b.on = func(p *msg.TLP) {
		f.free = append(f.free, p)
		f.push(simcore.Now(e))
	}
	var err error
	f.l, err = Builder{Scheduler: e, Spec: spec}.Build("Link")
	require.NoError(t, err)
	require.NoError(t, f.l.Connect(f.a.port, f.b.port))
	for i := range 96 {
		p := new(msg.TLP)
		if i%3 == 0 {
			err = p.SetMemRead(tlp.Origin{RequesterID: 0x200}, uint8(i), 1<<56, 256)
		} else {
			err = p.SetMemWrite(tlp.Origin{RequesterID: 0x200}, 1<<56, make([]byte, 128+4*i))
		}
		require.NoError(t, err)
		f.free = append(f.free, p)
	}
	return f
}

func (f *flow) push(now simcore.Ps) {
	for f.left > 0 && len(f.free) > 0 && f.a.port.CanSend() {
		p := f.free[0]
		copy(f.free, f.free[1:])
		f.free = f.free[:len(f.free)-1]
		f.left--
		f.a.port.SendAt(p, now)
	}
}

func wide() Spec {
	s := Default(4)
	s.Ends[1].MPS = 512
	return s
}

func TestNothingAllocatesPerTLP(t *testing.T) {
	e := simcore.NewEngine()
	f := newFlow(t, e, wide())
	f.b.on = nil
	step := func() {
		f.left = 96
		for f.left > 0 || len(f.b.got) > 0 {
			f.push(e.Now())
			if err := e.Run(); err != nil {
				t.Error(err)
			}
			f.free, f.b.got, f.b.at = append(f.free, f.b.got...), f.b.got[:0], f.b.at[:0]
		}
	}
	step()
	require.Zero(t, testing.AllocsPerRun(20, step))
}

// Akita's engine must give the same times, with so few credits that TLPs wait for them.
func TestSameOnAkitasEngine(t *testing.T) {
	spec := wide()
	spec.Credits[1] = Credits{PostedHeaders: 2, PostedData: 64, NonPostedHeaders: 1, NonPostedData: 1}
	var logs [2]string
	for i, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
		f := newFlow(t, e, spec)
		f.left = 300
		for f.left > 0 {
			f.push(simcore.Now(e))
			require.NoError(t, e.Run())
		}
		require.Len(t, f.b.got, 300)
		require.True(t, f.l.Idle())
		for k, p := range f.b.got {
			logs[i] += fmt.Sprintln(f.b.at[k], p.Parsed())
		}
	}
	require.Equal(t, logs[0], logs[1])
}

func TestSpecs(t *testing.T) {
	for _, name := range PresetNames {
		s, err := Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate(), name)
	}
	require.Len(t, presets, len(PresetNames))
	_, err := Preset("gen6-x16")
	require.ErrorContains(t, err, `preset "gen6-x16": want one of ["gen3-x16"`)
	bad := Spec{
		Generation: 6, Width: 3, Gbps: -1, Latency: -1, Overhead: Overhead{-1, 13}, DLLP: DLLP{-1, -1, -1},
		Ends:   [2]tlp.Limits{{MPS: 100, MRRS: 512, RCB: 64}, {MPS: 256, MRRS: 512, RCB: 64}},
		Buffer: Buffer{WireBytes: -1},
	}
	err = bad.Validate()
	for _, want := range []string{
		"generation 6: want 3, 4 or 5", "width 3: want 1, 2", "gbps -1: want", "latency_ps -1: want",
		"framing_bytes -1: want",
		"request_header_bytes 13: want 0, 12 or 16", "dllp.bytes -1", "dllp.ack_every -1", "dllp.update_every -1",
		"buffer.posted 0: want 1 to", "buffer.non_posted 0: want", "buffer.completion 0", "buffer.wire_bytes -1",
		"ends[0].mps 100: want",
	} {
		require.ErrorContains(t, err, want)
	}
	s := Default(4)
	s.Credits[1].PostedData, s.Credits[0].CompletionHeaders = 15, 1<<20
	err = s.Validate()
	require.ErrorContains(t, err, "credits[1].posted_data 15: want 16 (a TLP of the largest payload) to 32752, or 0 "+
		"for infinite")
	require.ErrorContains(t, err, "credits[0].completion_headers 1048576: want 1")
	_, err = Builder{Scheduler: simcore.NewEngine(), Spec: bad}.Build("Link")
	require.ErrorContains(t, err, "Link: generation 6")
	_, err = Builder{Spec: s}.Build("Link")
	require.ErrorContains(t, err, "has no scheduler")
}

package etherlink

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// A link must lose the configured share of frames; the same seed loses the same frames.
func TestLossBySeed(t *testing.T) {
	play := func(seed uint64) (lost uint64, sum uint64) {
		l := DefaultLink()
		l.Loss, l.Seed = 0.01, seed
		r := newRig(t, simcore.NewEngine(), fixed(Default(2)), l)
		digest := r.digest()
		n := uint16(0)
		r.hosts[0].refill = func() *msg.Frame {
			if n++; n > 20_000 {
				return nil
			}
			return r.pool.Copy(frame(1, 2, 100, 0, n))
		}
		r.hosts[0].push()
		r.run()
		return r.links[0].Counters(0).Lost.Frames, digest()
	}
	a, first := play(1)
	b, again := play(1)
	_, other := play(2)
	require.InDelta(t, 200, a, 60)
	require.Equal(t, []any{a, first}, []any{b, again})
	require.NotEqual(t, first, other)
}

// ahead is a component that runs ahead of the engine.
type ahead struct{ *host }

func (ahead) LookAhead() bool { return true }

func TestConnectSaysWhatIsWrong(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	h := newHost(t, e, pool, "Host", 1)
	other := newHost(t, e, pool, "Other", 1)
	_, err := Connect("Cable", e, pool, DefaultLink(), h.port, h.port)
	require.EqualError(t, err, "etherlink: Cable: both ends are port Host.Eth")
	_, err = Connect("Cable", e, pool, DefaultLink(), simcore.NewPort(ahead{h}, 1, "Ahead.Eth"), h.port)
	require.ErrorContains(t, err, "end 0: port Ahead.Eth belongs to Host, which runs ahead of the engine: it needs a "+
		"simcore.Link")
	_, err = Connect("Cable", e, pool, DefaultLink(), h.port, other.port)
	require.NoError(t, err)
	_, err = Connect("Again", e, pool, DefaultLink(), h.port, simcore.NewPort(nil, 1, "Free"))
	require.EqualError(t, err, "etherlink: Again: end 0: port Host.Eth is plugged in already")
}

// Frames that find their receiver's port full must be counted as overrun.
func TestOverrun(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	h := newHost(t, e, pool, "Host", 200_000)
	deaf := simcore.NewPort(nil, 4, "Deaf")
	l, err := Connect("Cable", e, pool, DefaultLink(), h.port, deaf)
	require.NoError(t, err)
	for range 6 {
		h.out.Push(pool.Copy(frame(1, 2, 100, 0, 1)))
	}
	h.push()
	require.NoError(t, e.Run())
	require.EqualValues(t, 2, l.Counters(0).Overrun.Frames)
	require.EqualValues(t, 4, l.Counters(0).Out.Frames)
}

// On a simcore.Link, the switch must send at that link's rate and latency; devices that run ahead
// need such links.
func TestSwitchOnPlainLinks(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	sw, err := Builder{Scheduler: e, Spec: fixed(Default(2)), Frames: pool}.Build("Switch")
	require.NoError(t, err)
	spec, hosts := DefaultLink(), []*host{}
	for i, name := range []string{"A", "B"} {
		h := newHost(t, e, pool, name, spec.Mbps)
		_, err := simcore.Connect(name+".Cable", e, spec.Plain(64), h.port, sw.Port(i))
		require.NoError(t, err)
		hosts = append(hosts, h)
	}
	hosts[1].keep = true
	for range 3 {
		hosts[0].out.Push(pool.Copy(frame(1, 2, 1000, 0, 1)))
	}
	hosts[0].push()
	require.NoError(t, e.Run())
	require.Equal(t, []simcore.Ps{110_000 + 40_960, 110_000 + 2*40_960, 110_000 + 3*40_960}, hosts[1].at)
}

// Congestion must propagate over two switches: the second pauses the first, which pauses its hosts.
// No frame may be lost.
func TestPausesSpread(t *testing.T) {
	e := simcore.NewEngine()
	spec := Default(4)
	spec.Learning = true
	a := newRig(t, e, spec, DefaultLink())
	b, err := Builder{Scheduler: e, Spec: spec, Frames: a.pool}.Build("Second")
	require.NoError(t, err)
	// The second switch takes the place of host 3 at the first one.
	a.links[3].Unplug(a.hosts[3].port)
	a.links = a.links[:3]
	trunk, err := Connect("Trunk", e, a.pool, DefaultLink(), a.sw.Port(3), b.Port(0))
	require.NoError(t, err)
	slow := DefaultLink()
	slow.Mbps = 25_000
	_, err = Connect("Last", e, a.pool, slow, b.Port(1), a.hosts[3].port)
	require.NoError(t, err)
	for i := range 3 {
		a.stream(i, 100, frame(byte(i+1), 4, 4096, RoCEClass, uint16(i)))
	}
	require.NoError(t, e.Run())
	require.Equal(t, 300*4096, a.hosts[3].bytes)
	require.Zero(t, a.sw.Dropped(0))
	require.Zero(t, b.Dropped(0))
	require.NotZero(t, a.sw.Counters(3).PausesIn.Frames)
	require.NotZero(t, a.sw.Paused(3, RoCEClass))
	require.NotZero(t, a.hosts[0].pauses)
	require.Zero(t, trunk.Held(0))
}

// steady returns a rig with endless traffic between four pairs of hosts on one switch.
func steady(tb testing.TB) *rig {
	r := newRig(tb, simcore.NewEngine(), fixed(Default(8)), DefaultLink())
	for i := range 4 {
		f := frame(byte(i+1), byte(i+5), 1024, RoCEClass, 1)
		r.stream(i, 1<<60, f)
	}
	return r
}

func TestNothingAllocates(t *testing.T) {
	r := incast(t, simcore.NewEngine(), Default(13), RoCEClass, 1<<60) // incast gives marks and pauses
	e := r.e.(*simcore.Engine)
	until := 200 * simcore.Microsecond
	require.NoError(t, e.RunUntil(until))
	before := r.hosts[0].bytes
	require.Zero(t, testing.AllocsPerRun(10, func() {
		until += 10 * simcore.Microsecond
		if err := e.RunUntil(until); err != nil {
			t.Error(err)
		}
	}))
	require.Greater(t, r.hosts[0].bytes-before, 100*2000)
}

// BenchmarkLinkSwitchLink measures one frame over link, switch and link.
func BenchmarkLinkSwitchLink(b *testing.B) {
	r := steady(b)
	e := r.e.(*simcore.Engine)
	until := 10 * simcore.Microsecond
	require.NoError(b, e.RunUntil(until))
	b.ReportAllocs()
	b.ResetTimer()
	start := r.sw.Counters(4).Out.Frames
	for int(r.sw.Counters(4).Out.Frames-start)*4 < b.N {
		until += simcore.Microsecond
		if err := e.RunUntil(until); err != nil {
			b.Fatal(err)
		}
	}
}

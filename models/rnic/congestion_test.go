package rnic

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/wire"
	"nictwin/models/nic/boundary"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// limiter is a controller with a fixed rate and window that checks how the NIC keeps them.
type limiter struct {
	t            *testing.T
	rate, window int64
	sent, acked  int64
}

func (l *limiter) Rate() int64                  { return l.rate }
func (l *limiter) Window() int64                { return l.window }
func (l *limiter) Notified(int64)               {}
func (l *limiter) Lost(int64, int, bool)        {}
func (l *limiter) Next() int64                  { return int64(never) }
func (l *limiter) Tick(int64)                   {}
func (l *limiter) Acked(_ int64, n int, _ bool) { l.acked += int64(n) }
func (l *limiter) Sent(_ int64, n int) {
	l.sent += int64(n)
	require.LessOrEqual(l.t, l.sent-l.acked, max(l.window, int64(n)))
}

// limited posts 16 requests of 8 KB on each of two connected queue pairs with a limiter each, and returns how long they
// take. The first has those of ops[0], the second those of ops[1].
func limited(t *testing.T, l *limiter, windowed bool, ops ...[]rnicspec.Opcode) simcore.Ps {
	r := newRig(t, 2, testSpec())
	for _, h := range r.hosts {
		h.region(1)
		h.nic.SetCongestion(Congestion{Windowed: windowed, New: func(int64, int) (Controller, Notifier, error) {
			own := *l
			return &own, nil, nil
		}})
	}
	a, b := r.hosts[0].qp(rnicspec.RC, 1), r.hosts[1].qp(rnicspec.RC, 1)
	connect(a, b, 1024)
	from, to := r.hosts[0].alloc(1, 1<<20), r.hosts[1].alloc(1, 1<<20)
	begin := r.e.Now()
	for k, list := range ops {
		for i := range 16 {
			[]*testQP{a, b}[k].post(rnicspec.WQE{Opcode: list[i%len(list)], Flags: sig, Length: 8192, LocalVA: from,
				LocalKey: 2, RemoteVA: to, RemoteKey: 2})
		}
	}
	last := simcore.Ps(0)
	r.hosts[0].nic.Observe(func(boundary.Crossing) { last = r.e.Now() })
	r.run()
	for _, c := range a.poll() {
		require.Equal(t, rnicspec.OK, c.Status)
	}
	require.True(t, r.hosts[0].nic.Idle() && r.hosts[1].nic.Idle())
	return last - begin
}

var (
	writes = []rnicspec.Opcode{rnicspec.Write}
	reads  = []rnicspec.Opcode{rnicspec.Read}
)

// A rate paces WRITEs, the data of READs, and both together, which a queue pair sends in turn.
func TestPaced(t *testing.T) {
	const frames, frame, gbps = 16 * 8, 1024 + 62, 10
	want := float64(frames * frame * 8 / gbps * simcore.Nanosecond)
	l := &limiter{t: t, rate: gbps * 1e9, window: int64(never)}
	require.InEpsilon(t, want, float64(limited(t, l, false, writes)), 0.05)
	require.InEpsilon(t, want, float64(limited(t, l, false, reads)), 0.05)
	require.InEpsilon(t, 2*want, float64(limited(t, l, false, reads, writes)), 0.05, "the second sends both")
}

// A window bounds what is unacknowledged; even the smallest one lets packets pass, and READs need none.
func TestWindowed(t *testing.T) {
	l := limiter{t: t, rate: 1e15, window: 64 << 10}
	wide := limited(t, &l, true, writes, reads)
	for _, window := range []int64{1, 1024, 4096} { // limiter checks what is unacknowledged
		l.window = window
		require.Greater(t, limited(t, &l, true, writes, reads), wide)
	}
}

// every is a notifier that sends a CNP for each mark, and one at the end of an interval.
type every struct{ ends, interval int64 }

func (e *every) Arrived(now int64, _ bool) bool { e.ends = now + e.interval; return true }
func (e *every) Next() int64                    { return e.ends }
func (e *every) Tick(int64) bool                { e.ends = int64(never); return true }

// Marked packets make CNPs leave, as A17 wants them, which reach the controller of the sender. A queue pair that was
// destroyed sends none.
func TestNotifies(t *testing.T) {
	require.Equal(t, 5, notifications(t, simcore.Microsecond, false))
	require.Equal(t, 5, notifications(t, simcore.Millisecond, false))
	require.Equal(t, 4, notifications(t, simcore.Millisecond, true))
}

// notifications sends four marked packets, destroys the receiver's queue pair if asked to, and returns the number of
// CNPs.
func notifications(t *testing.T, interval simcore.Ps, destroy bool) int {
	l := &leak{ComponentBase: sim.NewComponentBase("Leak")}
	r := newRig(t, 2, testSpec(), l)
	l.mark = func(f []byte) {
		if wire.BTH(f[42:]).Fields().Opcode != wire.CNPOpcode {
			core.MarkCE(f)
		}
	}
	cnps := 0
	r.hosts[1].nic.Observe(func(x boundary.Crossing) {
		if x.Kind != boundary.FrameOut {
			return
		}
		h := wire.BTH(x.Frame.Data[42:]).Fields()
		if h.Opcode == wire.CNPOpcode {
			cnps++
			body := wire.CNP(x.Frame.Data[54:]).Fields()
			require.NoError(t, wire.CheckCNP(&h, &body))
			require.Equal(t, wire.OK, wire.VerifyFrameICRC(x.Frame.Data).Verdict)
		}
	})
	for _, h := range r.hosts {
		h.region(1)
		h.nic.SetCongestion(Congestion{New: func(int64, int) (Controller, Notifier, error) {
			return &limiter{t: t, rate: 1e15, window: int64(never)}, &every{int64(never), int64(interval)}, nil
		}})
	}
	a, b := r.hosts[0].qp(rnicspec.RC, 1), r.hosts[1].qp(rnicspec.RC, 1)
	connect(a, b, 1024)
	a.post(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 4096, LocalVA: r.hosts[0].alloc(1, 4096),
		LocalKey: 2, RemoteVA: r.hosts[1].alloc(1, 4096), RemoteKey: 2})
	require.NoError(t, r.e.RunUntil(r.e.Now()+100*simcore.Microsecond))
	if destroy {
		r.hosts[1].do(&rnicspec.DestroyQP{QPN: b.n})
	}
	r.run()
	require.Equal(t, rnicspec.OK, a.poll()[0].Status)
	require.True(t, r.hosts[1].nic.Idle())
	require.EqualValues(t, 4, r.hosts[1].nic.Counter(rnicspec.CntMarked))
	require.EqualValues(t, cnps, r.hosts[0].nic.Counter(rnicspec.CntCNPsReceived))
	return cnps
}

// While a queue pair has both, packets of requests and with data of READs leave alternately, so that neither waits for
// the end of the other.
func TestPacedInTurn(t *testing.T) {
	r := newRig(t, 2, testSpec())
	for _, h := range r.hosts {
		h.region(1)
		h.nic.SetCongestion(Congestion{New: func(int64, int) (Controller, Notifier, error) {
			return &limiter{t: t, rate: 10e9, window: int64(never)}, nil, nil
		}})
	}
	a, b := r.hosts[0].qp(rnicspec.RC, 1), r.hosts[1].qp(rnicspec.RC, 1)
	connect(a, b, 1024)
	from, to := r.hosts[0].alloc(1, 1<<16), r.hosts[1].alloc(1, 1<<16)
	var kinds []wire.Operation
	r.hosts[1].nic.Observe(func(x boundary.Crossing) {
		if x.Kind == boundary.FrameOut && len(x.Frame.Data) > 1024 {
			kinds = append(kinds, wire.BTH(x.Frame.Data[42:]).Fields().Opcode.Info().Operation)
		}
	})
	for k, op := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write} {
		q := []*testQP{a, b}[k]
		q.post(rnicspec.WQE{Opcode: op, Flags: sig, Length: 1 << 15, LocalVA: []uint64{from, to}[k], LocalKey: 2,
			RemoteVA: []uint64{to, from}[k], RemoteKey: 2})
	}
	r.run()
	require.Len(t, kinds, 64)
	count := 0
	for _, o := range kinds[:32] {
		if o == wire.OpWrite {
			count++
		}
	}
	require.InDelta(t, 16, count, 4, "%v", kinds)
}

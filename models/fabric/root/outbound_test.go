package root_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/mem/memrig"
	"nictwin/models/memory/mem/memtest"
	"nictwin/models/nic/nicspec"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// pair is two roots that face each other. The first reaches the memory of the second by an
// Outbound.
type pair struct {
	near, far *root.Root
	out       *root.Outbound
	space     *mem.Space
	pool      msg.TLPs
}

const outID = nicspec.RequesterArm + 1

func newPair(t testing.TB, e sim.Engine, s root.OutboundSpec, d inject.DelaySpec, refuse uint64) *pair {
	p := new(pair)
	var err error
	p.space, err = mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	memory, err := inject.NewDelay("Delay", e, d, &refusing{p.space, refuse})
	require.NoError(t, err)
	p.near, err = root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: mem.NewSparse(1),
		TLPs: &p.pool}.Build("Near")
	require.NoError(t, err)
	p.far, err = root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: memory, TLPs: &p.pool}.Build("Far")
	require.NoError(t, err)
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 50 * ns, Rate: simcore.Gbps(256), Credits: 8},
		p.near.PCIe(), p.far.PCIe())
	require.NoError(t, err)
	p.out, err = p.near.NewOutbound(outID, s, tlp.Limits{MPS: 128, MRRS: 128, RCB: 64}, p.space)
	require.NoError(t, err)
	return p
}

// refusing is a memory that aborts reads from an address on, unless that is 0.
type refusing struct {
	*mem.Space
	from uint64
}

func (r *refusing) Access(a *mem.Access) {
	if a.Op == mem.Read && r.from != 0 && a.Addr >= r.from {
		a.Finish(mem.ErrAborted)
		return
	}
	r.Space.Access(a)
}

func outbound(tags int) memrig.Build {
	return func(t testing.TB, e sim.Engine) *memrig.Rig {
		p := newPair(t, e, root.OutboundSpec{Tags: tags}, inject.DelaySpec{Latency: 40 * ns, Jitter: 90 * ns, Seed: 5},
			0)
		return &memrig.Rig{
			Bench: memtest.Bench{Target: p.out, Peek: p.space.Read, Base: mem.Bus(nicspec.EndpointHost, 0),
				Size: 1 << 20, Ends: true, Nowhere: []uint64{mem.Bus(3, 0)}, Window: 700},
			Idle: func() bool { return p.out.Idle() && p.near.Idle() && p.far.Idle() && p.pool.Live() == 0 },
			Flow: func() memrig.Flow {
				s := p.out.Stats()
				return memrig.Flow{Accepted: s.AcceptedBytes, Finished: s.FinishedBytes, Held: s.Held}
			},
		}
	}
}

func TestOutboundKeepsTheProtocol(t *testing.T) {
	memrig.Contract(t, "one tag", outbound(1))
	memrig.Contract(t, "many tags", outbound(32))
}

func TestOutboundConserves(t *testing.T) { memrig.Conserve(t, outbound(3)) }

func TestOutboundAllocatesNothing(t *testing.T) { memrig.NoAllocation(t, 300, 1000, outbound(3)) }

// A read must be split at MRRS and 4 KB, and take the latency of both directions; with one tag its
// requests must follow one another.
func TestOutboundTimes(t *testing.T) {
	for tags, want := range map[int]simcore.Ps{1: 3 * (50 + 300 + 50) * ns, 3: (50 + 300 + 50) * ns} {
		e := simcore.NewEngine()
		p := newPair(t, e, root.OutboundSpec{Tags: tags}, inject.DelaySpec{}, 0)
		var end simcore.Ps
		p.out.Access(&mem.Access{Op: mem.Read, Addr: mem.Bus(1, 4096-10), Data: make([]byte, 10+128+1),
			Done: func(a *mem.Access) {
				require.NoError(t, a.Err)
				end = e.Now()
			}})
		require.False(t, p.near.Idle())
		require.NoError(t, e.Run())
		require.EqualValues(t, 3, p.out.Stats().ReadTLPs)
		require.InDelta(t, float64(want), float64(end), float64(60*ns), "%d tags: the wire takes the rest", tags)
		require.NoError(t, p.near.Overdue())
	}
}

func TestOutboundErrors(t *testing.T) {
	e := simcore.NewEngine()
	p := newPair(t, e, root.DefaultOutboundSpec(), inject.DelaySpec{}, mem.Bus(1, 300))
	var got []error
	read := func(addr uint64, n int) {
		p.out.Access(&mem.Access{Op: mem.Read, Addr: addr, Data: make([]byte, n), Done: func(a *mem.Access) {
			got = append(got, a.Err)
		}})
		require.NoError(t, e.Run())
	}
	read(mem.Bus(1, 100), 500)
	require.ErrorIs(t, got[0], mem.ErrAborted)
	require.ErrorContains(t, got[0], "was completed with status CA")
	read(mem.Bus(1, 0), 300)
	require.NoError(t, got[1])
	read(mem.Bus(1, 1<<20), 1)
	require.ErrorIs(t, got[2], mem.ErrNoMemory)
	require.True(t, p.out.Idle())
	require.Zero(t, p.out.Stats().Held)
	require.Zero(t, p.pool.Live())

	_, err := p.near.NewOutbound(outID, root.DefaultOutboundSpec(), tlp.DefaultLimits(), p.space)
	require.ErrorContains(t, err, "requester 0x1 is in use: want another")
	_, err = p.near.NewOutbound(9, root.OutboundSpec{}, tlp.Limits{}, p.space)
	require.ErrorContains(t, err, "tags 0: want 1 to 256")
	require.ErrorContains(t, err, "limits.mps 0")
	_, err = p.near.NewOutbound(9, root.DefaultOutboundSpec(), tlp.DefaultLimits(), nil)
	require.ErrorContains(t, err, "no memory to reach")
}

// An unexpected completion must end the run, and a read without completion must be overdue.
func TestOutboundBreaches(t *testing.T) {
	e := simcore.NewEngine()
	p := newPair(t, e, root.DefaultOutboundSpec(), inject.DelaySpec{Latency: 10 * simcore.Millisecond}, 0)
	p.out.Access(&mem.Access{Op: mem.Read, Addr: mem.Bus(1, 0), Data: make([]byte, 8), Done: func(*mem.Access) {}})
	require.NoError(t, e.RunUntil(2*simcore.Millisecond))
	require.ErrorContains(t, p.near.Overdue(), "Near.Outbound: read of 8 B at 0x100000000000000: no completion "+
		"within 1000000000 ps (reg_timeout_ps)")
	x := p.pool.Get()
	require.NoError(t,
		x.SetHeader(&tlp.Header{Kind: tlp.Cpl, RequesterID: outID, Tag: 9, ByteCount: 4, Status: tlp.StatusUR}))
	p.far.Send(x)
	require.NoError(t, e.RunUntil(3*simcore.Millisecond))
	require.ErrorContains(t, p.near.Err(), "Near.Outbound received an unexpected completion")
}

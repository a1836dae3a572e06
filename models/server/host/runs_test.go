package host_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	"nictwin/models/sim/simcore"
)

// oneByOne is a memory that takes no runs, so that cores issue single stores.
type oneByOne struct{ mem.Target }

// counted is an engine that counts the events scheduled.
type counted struct {
	*simcore.Engine
	events int
}

func (c *counted) Schedule(e sim.Event) {
	c.events++
	c.Engine.Schedule(e)
}

// workload is two cores and a device that access the same small memory, and a log of their results.
type workload struct {
	*counted
	t      *testing.T
	rng    *rand.Rand
	s      *host.Server
	parts  []*host.Core
	cores  []*cpu.Core
	device *iio.Buffer
	log    []string
	stored int // number of lines stored
}

const workloadBytes = 48 << 10 // size of the memory that the workloads access, in bytes

// newWorkload makes a workload on a machine with small caches, so that lines are evicted and accesses
// wait for the last-level cache.
func newWorkload(t *testing.T, seed uint64, runs bool) *workload {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := &workload{counted: &counted{Engine: simcore.NewEngine()}, t: t, rng: rng}
	spec, err := host.Preset("host-fn", mem.Bus(1, 0), tlb.Page4K)
	require.NoError(t, err)
	spec.SocketBytes, spec.TLB.Covers, spec.TLB.Tables = half, half*uint64(spec.Sockets), mem.Bus(1, half/2)
	spec.TLB.Entries, spec.TLB.Ways = 8, 4
	spec.Private.SizeBytes, spec.Private.Ways = 4<<10, 4
	llc := *spec.LLC
	llc.Geometry = core.Geometry{SizeBytes: 32 << 10 << rng.IntN(2), Ways: 4, DeviceWays: 3, Replacement: core.LRU,
		Index: core.Hashed}
	llc.Fetches, llc.WriteBacks = 1+rng.IntN(6), 1+rng.IntN(3)
	if rng.IntN(2) == 0 {
		llc.Rate = simcore.Gbps(1200)
	}
	spec.LLC, spec.CPU.Stores = &llc, 2+rng.IntN(40)
	space, err := mem.NewSpace(2*half, 2*half)
	require.NoError(t, err)
	c.s, err = host.Builder{Scheduler: c, Spec: spec, Memory: space}.Build("Host")
	require.NoError(t, err)
	for i := range 2 {
		p, err := c.s.Core(0, i)
		require.NoError(t, err)
		memory := mem.Target(p.TLB)
		if !runs {
			memory = oneByOne{p.TLB}
		}
		x, err := cpu.Builder{Scheduler: c, Spec: spec.CPU, Memory: memory, View: p.Memory,
			Watcher: p.Memory}.Build(fmt.Sprintf("Core[%d]", i))
		require.NoError(t, err)
		c.parts, c.cores = append(c.parts, p), append(c.cores, x)
	}
	c.device, err = c.s.Device(0, "IIO")
	require.NoError(t, err)
	return c
}

func (c *workload) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf("%v: ", c.Now())+fmt.Sprintf(format, args...))
}

// place draws an address and a number of bytes.
func (c *workload) place(most int) (addr uint64, n int) {
	n = 1 + c.rng.IntN(most)
	at := c.rng.IntN(workloadBytes - n)
	if c.rng.IntN(2) == 0 {
		at &^= 63
	}
	return mem.Bus(1, uint64(at)), n
}

// software records some random operations of a core, most of them stores.
func (c *workload) software(who int) {
	x := c.cores[who]
	for range 1 + c.rng.IntN(5) {
		addr, n := c.place(5000)
		b := make([]byte, n)
		b[0], b[n-1] = byte(c.rng.Uint32()), byte(who)
		var err error
		switch c.rng.IntN(12) {
		default:
			c.stored += (n + 63) / 64
			err = x.Store(addr, b)
		case 0, 1:
			err = x.Load(addr, b[:min(n, 700)])
			c.note("core %d loads %x", who, b[:min(n, 700)])
		case 2:
			x.Fence()
		case 3:
			x.Compute(int64(n))
		case 4:
			err = x.Clean(addr, n)
		case 5:
			if to, k := c.place(600); to+uint64(k) <= addr || addr+600 <= to {
				err = x.Copy(to, addr, min(k, n))
			}
		}
		require.NoError(c.t, err)
		x.Call(func() { c.note("core %d", who) })
	}
}

// access makes the device read or write.
func (c *workload) access() {
	addr, n := c.place(256)
	c.device.Access(&mem.Access{Op: mem.Op(c.rng.IntN(2)), Addr: addr, Data: make([]byte, n),
		Done: func(a *mem.Access) { c.note("device %v %x: %v", a.Op, a.Data, a.Err) }})
}

// Handle lets one core or the device work, and schedules its next turn.
func (c *workload) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	if who := c.rng.IntN(4); who < 2 {
		c.software(who)
	} else {
		c.access()
	}
	for _, p := range c.parts {
		c.note("%+v %+v %+v", p.TLB.Stats(), p.Private.Stats(), p.Memory.Stats())
	}
	c.note("%+v %+v", c.s.LLC[0].Stats(), c.s.LLC[0].Counters())
	if ev.Kind++; ev.Kind < 120 {
		ev.At += simcore.Ps(c.rng.IntN(int(600 * ns)))
		c.Engine.Schedule(ev)
	}
	return nil
}

// play returns the log, and the number of events.
func (c *workload) play() ([]string, int) {
	c.Engine.Schedule(&simcore.Event{H: c})
	require.NoError(c.t, c.Run())
	require.True(c.t, c.s.Idle())
	all := make([]byte, workloadBytes)
	require.NoError(c.t, c.parts[0].Memory.Read(mem.Bus(1, 0), all))
	c.note("%x %+v", all, c.s.DRAM[0].Counters())
	for i, x := range c.cores {
		require.NoError(c.t, x.Err())
		require.True(c.t, x.Idle())
		c.note("%+v %+v %+v", x.Stats(), c.parts[i].Throttle.Stats(), c.parts[i].Memory.Stats())
	}
	return c.log, c.events
}

// Runs must give the same results, times and counts as the same stores issued one by one.
func TestRunsEqualSingleStores(t *testing.T) {
	fewer := 0
	for seed := range uint64(60) {
		want, events := newWorkload(t, seed, false).play()
		got, together := newWorkload(t, seed, true).play()
		require.Equal(t, len(want), len(got), "seed %d", seed)
		for i := range want {
			require.Equal(t, want[i], got[i], "seed %d, note %d", seed, i)
		}
		fewer += events - together
	}
	require.Greater(t, fewer, 20_000, "events that runs save")
}

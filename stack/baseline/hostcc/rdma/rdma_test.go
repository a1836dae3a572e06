package rdma

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/server/host/iio"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/rnicverbs"
)

const (
	ns = simcore.Nanosecond
	us = simcore.Microsecond
)

// registers records what is written to RegMark.
type registers struct {
	e     *simcore.Engine
	marks []uint32
	at    []simcore.Ps
}

func (r *registers) Write(off uint32, b []byte) error {
	if off == rnicspec.RegMark {
		r.marks, r.at = append(r.marks, binary.LittleEndian.Uint32(b)), append(r.at, r.e.Now())
	}
	return nil
}

func (r *registers) Read(_ uint32, _ int, done func(uint64, error)) error {
	done(rnicspec.Magic|rnicspec.Version<<32, nil)
	return nil
}

type handler func()

func (h handler) Handle(sim.Event) error { h(); return nil }

// rig is a host with HostCC, and an IIO buffer that holds each write for a microsecond.
type rig struct {
	t     *testing.T
	e     *simcore.Engine
	regs  registers
	host  *host.Server
	cores []*host.Core // of an application, of another program, of the loop
	s     *Server
	iio   *iio.Buffer
}

func newRig(t *testing.T, spec Spec) *rig {
	r := &rig{t: t, e: simcore.NewEngine()}
	const half, at = 1 << 24, nicspec.EndpointHost
	h, err := host.Preset("host-ce", mem.Bus(at, 0), tlb.Page1G)
	require.NoError(t, err)
	h.SocketBytes, h.TLB.Covers, h.TLB.Tables = half, 2*half, h.Base+half-4096
	space, err := mem.NewSpace(1, 2*half)
	require.NoError(t, err)
	r.host, err = host.Builder{Scheduler: r.e, Spec: h, Memory: space}.Build("Host")
	require.NoError(t, err)
	slow, err := inject.NewDelay("Slow", r.e, inject.DelaySpec{Latency: us}, space)
	require.NoError(t, err)
	r.iio, err = iio.Builder{Scheduler: r.e, Spec: iio.Spec{Bytes: 1 << 20}, Memory: slow}.Build("IIO")
	require.NoError(t, err)
	for i := range 3 {
		c, err := r.host.Core(0, i)
		require.NoError(t, err)
		r.cores = append(r.cores, c)
	}
	r.regs.e = r.e
	bus, err := corebus.New(r.cores[2].Core, &r.regs, corebus.HostSpec())
	require.NoError(t, err)
	dev, err := rnicverbs.Open(bus, driver.NewArena(1<<20, 1<<20))
	require.NoError(t, err)
	r.s, err = New(Config{Spec: spec, Bus: bus, Host: r.host, IIO: r.iio, Device: dev,
		Flows: []*cpu.Core{r.cores[0].Core}})
	require.NoError(t, err)
	require.NoError(t, r.e.Run())
	return r
}

// writes makes the device write n times so many lines, one write in each period.
func (r *rig) writes(n, lines int, period simcore.Ps) {
	for i := range n {
		r.e.Schedule(&simcore.Event{At: r.e.Now() + simcore.Ps(i)*period, H: handler(func() {
			r.iio.Access(&mem.Access{Op: mem.Write, Addr: mem.Bus(nicspec.EndpointHost, 0),
				Data: make([]byte, lines*mem.LineBytes), Done: func(*mem.Access) {}})
		})})
	}
}

// The register follows the occupancy, and the throttle both signals. When the traffic is over, both are as they were,
// and the loop rests, until the device writes again.
func TestControl(t *testing.T) {
	for name, x := range map[string]struct {
		lines  int // in a write
		period simcore.Ps
		change func(*Spec)
		marks  bool
		raises bool
	}{
		"few lines, slow link":  {1, 20 * ns, nil, false, false},  // 50 lines, 26 Gbps
		"many lines, slow link": {1, 10 * ns, nil, true, true},    // 100 lines, 51 Gbps
		"many lines, fast link": {8, 20 * ns, start, true, false}, // 400 lines, 205 Gbps
		"few lines, fast link":  {8, 20 * ns, many, false, false},
		"no throttle":           {1, 10 * ns, func(s *Spec) { s.Levels = 0 }, true, false},
		"no marks":              {1, 10 * ns, func(s *Spec) { s.Mark = MarkNone }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			spec := DefaultSpec()
			spec.ReducePs = 5e6
			if x.change != nil {
				x.change(&spec)
			}
			r := newRig(t, spec)
			for range 2 {
				before := r.s.Stats()
				r.regs.marks = nil
				r.writes(int(60*us/x.period), x.lines, x.period)
				require.NoError(t, r.e.RunUntil(r.e.Now()+60*us))
				require.Equal(t, x.raises, r.s.Stats().Raised > before.Raised, "while there is traffic")
				require.NoError(t, r.e.Run())
				got := r.s.Stats()
				t.Logf("%+v, register %v", got, r.regs.marks)
				require.Greater(t, got.Samples-before.Samples, uint64(60), "it was at rest, and woke")
				require.Equal(t, x.marks, len(r.regs.marks) > 0)
				if x.marks {
					require.Equal(t, []uint32{1, 0}, r.regs.marks, "a write for each change")
				}
				require.Equal(t, got.Raised, got.Lowered)
				require.Zero(t, r.s.Level())
				require.NoError(t, r.s.Err())
			}
		})
	}
}

// start makes the average of the link follow at once, so that it is above its target as soon as the occupancy is.
func start(s *Spec) { s.LinkGain = 1 }

// many makes 400 lines few.
func many(s *Spec) { s.OccupancyLines = 500 }

// The register is written a sample and the way to the NIC after the occupancy has passed its threshold, and cores of
// applications are spared while others are throttled.
func TestThrottles(t *testing.T) {
	r := newRig(t, DefaultSpec())
	r.writes(int(60*us/(5*ns)), 1, 5*ns)
	begin := r.e.Now()
	require.NoError(t, r.e.RunUntil(begin+40*us))
	require.Len(t, r.regs.marks, 1)
	require.Greater(t, r.regs.at[0], begin+2*us)
	require.Less(t, r.regs.at[0], begin+10*us)
	require.Equal(t, 4, r.s.Level())
	for i, c := range r.cores[:2] {
		c.Call(func() { require.NoError(t, c.Load(mem.Bus(nicspec.EndpointHost, 1<<20), make([]byte, 1<<14))) })
		require.NoError(t, r.e.RunUntil(r.e.Now()+5*us))
		require.Equal(t, i == 1, c.Throttle.Stats().Delayed > 0, "core %d", i)
	}
	require.NoError(t, r.e.Run())
}

// A loop that ends while it rests is not woken any more.
func TestClose(t *testing.T) {
	r := newRig(t, DefaultSpec())
	r.s.Close()
	r.writes(1, 1, ns)
	require.NoError(t, r.e.Run())
	require.Zero(t, r.s.Stats().Samples)
}

// Specs and configurations that lack something are refused by name.
func TestErrors(t *testing.T) {
	s := Spec{Mark: "twice"}
	err := s.Validate()
	for _, want := range []string{`mark "twice": want register or none`, "rate 0 bytes", `throttle ""`, "period_ps"} {
		require.ErrorContains(t, err, want)
	}
	_, err = New(Config{Spec: DefaultSpec()})
	require.ErrorContains(t, err, "hostcc: want the driver of the NIC")
	r := newRig(t, DefaultSpec())
	c := r.s.c
	c.Flows = []*cpu.Core{c.Bus.Core()}
	_, err = New(c)
	require.ErrorContains(t, err, "hostcc: a flow on the core of the control loop: want it on another")
	c.IIO = nil
	_, err = New(c)
	require.ErrorContains(t, err, "hostcc: want a core for the control loop, a host and its IIO buffer")
}

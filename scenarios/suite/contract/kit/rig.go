package kit

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"
	"nictwin/models/board"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/traffic"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

// Rig is a board with a NIC under test, and the operations that checks perform on it. A method that waits runs the
// simulation until the event has happened, and fails the test if it does not happen.
type Rig struct {
	T      *testing.T
	eth    int // number that the NIC gives the port that checks call 0; see PortOf
	Bed    *testbed.Bed
	Root   *root.Root
	NIC    *driver.Driver // writes registers; values that it refuses are written directly
	Sizes  nicspec.Build
	Stall  int
	OneWay int // cycles from a write of software until it takes effect; also from an answer to its arrival
	judge  *judge.Judge
	found  []*verdict.Mismatch // mismatches that the referee has reported so far

	Cpls   []Completion // answers to raw requests
	Out    []sent       // frames that left, in order
	Rx     map[int]*RxRing
	Tx     map[int]*TxRing
	Free   [2]uint64 // first free offset of each memory
	Keys   KeyTable  // memory keys as written last
	over   bool
	IdleAt int64  // latest cycle in which the busy pin was seen at 0
	Roce   uint16 // value of ROCE_PORT

	RssKey [nicspec.RssKeyBytes]byte     // RSS key as written last
	RxMod  func(*nicspec.RxqEntryFields) // changes the entry of each receive queue that is opened; may be nil
	TxMod  func(*nicspec.TxqEntryFields) // changes the entry of each transmit queue that is opened; may be nil
	Indir  [nicspec.RssEntries]int       // table Indirection as written last

	Reads []tlp.Header // reads of the device, recorded while Keep is set
	Keep  bool
	Watch func(boundary.Crossing) // sees every TLP; may be nil

	Frames func(boundary.Crossing) // sees every frame; may be nil
}

// Completion is the NIC's answer to a raw request.
type Completion struct {
	tlp.Header
	Data []byte
}

// sent is a frame that left the NIC.
type sent struct {
	Port  int // number that checks use for the port; the NIC may use another, see PortOf
	Queue int
	Data  []byte
	cycle int64
}

// LinkCycles is the latency of the links: short, so that waiting costs few cycles.
const LinkCycles = 64

const MemoryBytes = 1 << 40 // size of each endpoint's memory, so that addresses have more than 32 bits

// Endpoint returns the spec of the memories, with their stalls and the way in which they split completions.
func Endpoint(stall int) board.Endpoint {
	s := board.DefaultEndpoint()
	s.ArmBytes, s.HostBytes, s.Tags, s.Latency, s.Seed = MemoryBytes, MemoryBytes, 128, 80*simcore.Nanosecond, 5
	s.Limits = tlp.Limits{MPS: 512, MRRS: 4096, RCB: 64}
	if stall > 0 {
		s.Delay.Jitter, s.Split = 300*simcore.Nanosecond, tlp.CplRandom
	}
	s.Faults = true
	return s
}

func NewRig(t *testing.T, sizes nicspec.Build, build Build, s testbed.Spec) *Rig {
	t.Helper()
	b, err := build(s)
	require.NoError(t, err)
	r := &Rig{T: t, eth: sizes.Ports - 1, Bed: b, Root: b.Root, Sizes: sizes, Stall: s.Stall, Rx: map[int]*RxRing{},
		Tx:   map[int]*TxRing{},
		Free: [2]uint64{1 << 20, 1 << 33}, Roce: nicspec.ResetRocePort, Keys: KeyTable{}, OneWay: oneWayCycles(s.Card)}
	t.Cleanup(r.close)
	r.NIC, err = driver.New(rootbus.Bus{Regs: b.Arm, Memory: b.Memory}, driver.Options{Build: sizes, MaxPolls: 1})
	require.NoError(t, err)
	r.judge, err = judge.Attach(b.NIC, judge.Options{
		Build: sizes, MaxMismatches: 5,
		OnMismatch: func(m *verdict.Mismatch) { r.found = append(r.found, m) },
	})
	require.NoError(t, err)
	b.NIC.Observe(r.see)
	b.NIC.ObserveRest(func(x boundary.Rest) { r.IdleAt = x.Last })
	b.Root.OnCompletion = func(h *tlp.Header, data []byte) {
		r.Cpls = append(r.Cpls, Completion{*h, append([]byte(nil), data...)})
	}
	b.Host.OnCompletion = b.Root.OnCompletion
	pace, err := b.Pace("line")
	require.NoError(t, err)
	for _, p := range b.Players {
		require.NoError(t, p.Load(traffic.Track{Pace: pace, Stall: s.Stall}))
	}
	require.NoError(t, b.Begin(func() bool { return r.over }))
	return r
}

func (r *Rig) see(x boundary.Crossing) {
	if r.Watch != nil && x.TLP != nil {
		r.Watch(x)
	}
	if r.Frames != nil && x.Frame != nil {
		r.Frames(x)
	}
	switch {
	// Without stalls only the device could hold back a frame, which [B4] forbids.
	case x.Kind == boundary.FrameIn && r.Stall == 0:
		beats := (8*len(x.Frame.Data) + r.Sizes.EthBits - 1) / r.Sizes.EthBits
		require.EqualValues(r.T, beats, x.Last-x.First+1, "cycles in which a frame of %d B came in", len(x.Frame.Data))
	case x.Kind == boundary.FrameOut:
		r.Out = append(r.Out, sent{r.PortOf(x.Port), x.Frame.Queue, append([]byte(nil), x.Frame.Data...), x.Last})
	case x.Kind == boundary.TLPOut && r.Keep && tlp.Parse(&x.TLP.Hdr).Kind == tlp.MRd:
		r.Reads = append(r.Reads, tlp.Parse(&x.TLP.Hdr))
	}
}

// close ends the device. If the test has failed, it prints what the referee found.
func (r *Rig) close() {
	if err := r.Bed.Close(); err != nil {
		r.T.Errorf("closing the device: %v", err)
	}
	if r.T.Failed() && !r.over {
		for _, m := range r.found {
			r.T.Logf("the referee: %v", m.Detail())
		}
	}
}

// Finish waits until all work has ended, reads every counter, and fails the test if the referee found mismatches.
func (r *Rig) Finish() {
	r.T.Helper()
	r.Quiet()
	r.BusyFalls()
	for i := range r.Sizes.NumRules {
		r.ReadLater(nicspec.RegRuleHits(i), 8, func(uint64) {})
	}
	r.Counters()
	r.over = true
	require.NoError(r.T, errors.Join(r.Bed.Err(), r.Bed.NIC.Check()))
	rep := r.judge.Finish(judge.Whole)
	if !rep.Passed() {
		r.T.Errorf("the referee: %v", rep)
	}
	for _, n := range rep.Notes {
		r.T.Logf("note: %s", n)
	}
}

// Set fails the test if the driver refused a setting.
func (r *Rig) Set(err error) { r.T.Helper(); require.NoError(r.T, errors.Join(err, r.NIC.Err())) }

// Run advances the simulation by n cycles.
func (r *Rig) Run(n int) {
	r.T.Helper()
	err := r.Bed.Engine.RunUntil(r.Bed.Engine.Now() + r.Bed.Cycles(n))
	require.NoError(r.T, errors.Join(err, r.Bed.Err()))
}

// Patience is the limit of every wait, in cycles.
const Patience = 100_000

// Until advances the simulation until holds returns true.
func (r *Rig) Until(what string, holds func() bool) {
	r.T.Helper()
	const step = 16
	for n := 0; !holds(); n += step {
		if n > Patience {
			require.FailNow(r.T, "the NIC breaks [C3]", "waited for %d cycles until %s", Patience, what)
		}
		r.Run(step)
	}
}

// Quiet waits until all frames are played, and device and endpoint are idle.
func (r *Rig) Quiet() {
	r.T.Helper()
	r.Until("all frames are played", r.allPlayed)
	r.Run(2 * nicspec.VisibleCycles)
	r.Until("the device is idle", func() bool { return r.Read(nicspec.RegStatus) == 0 })
	r.Until("the endpoint is idle", r.Bed.Idle)
	r.Run(2 * nicspec.VisibleCycles)
	r.Until("the device is still idle", func() bool { return r.Read(nicspec.RegStatus) == 0 })
	r.Run(nicspec.VisibleCycles) // until counters have been stepped
}

// Alloc reserves n bytes of an endpoint's memory; the address is a multiple of align, a power of
// two.
func (r *Rig) Alloc(endpoint, n, align int) uint64 {
	at := (r.Free[endpoint] + uint64(align) - 1) &^ (uint64(align) - 1)
	r.Free[endpoint] = at + uint64(n)
	return mem.Bus(endpoint, at)
}

func (r *Rig) Store(bus uint64, b []byte) {
	r.T.Helper()
	require.NoError(r.T, r.Bed.Memory.Write(bus, b))
}

func (r *Rig) Load(bus uint64, n int) []byte {
	r.T.Helper()
	b := make([]byte, n)
	require.NoError(r.T, r.Bed.Memory.Read(bus, b))
	return b
}

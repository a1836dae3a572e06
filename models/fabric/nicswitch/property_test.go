package nicswitch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// tight returns specs of a switch and of links with small queues, buffers and credits.
func tight() (Spec, pcielink.Spec) {
	spec, pcie := Default(), link()
	spec.NICLink, spec.NICRate, spec.NICBuffer = Shared, simcore.Gbps(256), 256
	spec.Queue = Queue{Posted: 3, NonPosted: 2, Completion: 3}
	few := pcielink.Credits{PostedHeaders: 2, PostedData: 64, NonPostedHeaders: 1, NonPostedData: 1,
		CompletionHeaders: 2, CompletionData: 64}
	pcie.Credits, pcie.Buffer = [2]pcielink.Credits{few, few},
		pcielink.Buffer{Posted: 2, NonPosted: 64, Completion: 2, WireBytes: 64}
	return spec, pcie
}

// storm sends random TLPs, some of them to addresses that no port claims; its receivers pause at
// random.
type storm struct {
	*rig
	rng    *rand.Rand
	left   int
	routes *route.Table
	sent   map[[2]string][]uint64
	keys   map[uint64]order.Key
	lost   int
}

func newStorm(t *testing.T, e sim.Engine, seed uint64, steps int) *storm {
	spec, pcie := tight()
	x := &storm{
		rig: newRig(t, e, spec, pcie), rng: rand.New(rand.NewPCG(seed, 7)), left: steps,
		sent: map[[2]string][]uint64{}, keys: map[uint64]order.Key{},
	}
	var err error
	x.routes, err = route.NewTable(spec.Routes())
	require.NoError(t, err)
	return x
}

func (x *storm) random() *msg.TLP {
	n := 4 + 4*x.rng.IntN(32)
	addr := []uint64{armAddr, hostAddr, nicspec.BarBase, 9 << 56}[x.rng.IntN(4)]
	ids := []uint16{nicspec.RequesterArm, nicspec.RequesterHost, nicspec.RequesterNic, 0x900}
	switch x.rng.IntN(5) {
	case 0, 1:
		return x.write(addr, n)
	case 2:
		return x.read(ids[x.rng.IntN(3)], addr, n)
	case 3:
		return x.completion(ids[x.rng.IntN(4)], n)
	}
	return x.message(tlp.RouteByID, ids[x.rng.IntN(4)], tlp.CodeVendor0)
}

// Handle performs one step of the storm.
func (x *storm) Handle(sim.Event) error {
	for i, name := range []string{PortNIC, PortArm, PortHost} {
		for range x.rng.IntN(3) {
			p := x.random()
			if out, v := x.routes.Route(i, p.Parsed()); v == route.Forward {
				way := [2]string{name, x.sw.spec.Ports[out].Name}
				x.sent[way] = append(x.sent[way], p.Seq)
				x.keys[p.Seq] = order.KeyOf(p.Parsed())
			} else {
				x.lost++
			}
			x.send(name, p)
		}
		d := x.devs[name]
		d.hold = x.left > 50 && x.rng.IntN(3) > 0
		d.drain(x.e.CurrentTime())
	}
	in, out := x.sw.Balance()
	require.Equal(x.t, in, out)
	if x.left--; x.left > 0 {
		x.e.Schedule(&simcore.Event{At: simcore.Now(x.e) + simcore.Ps(x.rng.IntN(60_000)), H: x})
	}
	return nil
}

// Bytes must be conserved at every step; every TLP must arrive at its destination, and none may
// pass one that it must not pass.
func TestConservation(t *testing.T) {
	for seed := range uint64(4) {
		x := newStorm(t, simcore.NewEngine(), seed, 1000)
		require.NoError(t, x.Handle(nil))
		x.run()
		require.True(t, x.sw.Idle())
		require.Zero(t, x.sw.Held())
		require.Greater(t, x.lost, 300)
		for way, sent := range x.sent {
			require.Greater(t, len(sent), 100)
			place := map[uint64]int{}
			for i, seq := range x.devs[way[1]].seqs() {
				place[seq] = i
			}
			for i, late := range sent {
				require.Contains(t, place, late, "%v", way)
				for _, early := range sent[:i] {
					if place[late] < place[early] && order.Entry(x.keys[late], x.keys[early]) == order.MustNotPass {
						t.Fatalf("seed %d, %v: %d passed %d", seed, way, late, early)
					}
				}
			}
		}
	}
}

// A second run, and one on Akita's engine, must deliver the same TLPs at the same times.
func TestSameOnAkitasEngine(t *testing.T) {
	var logs [3]string
	for i, e := range []sim.Engine{simcore.NewEngine(), simcore.NewEngine(), sim.NewSerialEngine()} {
		x := newStorm(t, e, 5, 300)
		require.NoError(t, x.Handle(nil))
		x.run()
		for _, name := range []string{PortNIC, PortArm, PortHost} {
			for k, p := range x.devs[name].got {
				logs[i] += fmt.Sprintln(name, x.devs[name].at[k], p.Parsed())
			}
		}
	}
	require.Equal(t, logs[0], logs[1])
	require.Equal(t, logs[0], logs[2])
}

func TestNothingAllocatesPerTLP(t *testing.T) {
	e := simcore.NewEngine()
	spec, pcie := tight()
	r := newRig(t, e, spec, pcie)
	var free [2][]*msg.TLP
	for i := range 64 {
		free[0] = append(free[0], r.write(hostAddr, 4*i+4))
		free[1] = append(free[1], r.read(nicspec.RequesterHost, armAddr, 4*i+4))
	}
	step := func() {
		r.send(PortNIC, free[0]...)
		r.send(PortHost, free[1]...)
		if err := e.Run(); err != nil {
			t.Error(err)
		}
		for _, d := range r.devs {
			d.got, d.at = d.got[:0], d.at[:0]
		}
	}
	for range 3 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(20, step))
}

func TestSpecs(t *testing.T) {
	for _, name := range PresetNames {
		s, err := Preset(name)
		require.NoError(t, err)
		require.NoError(t, s.Validate())
	}
	_, err := Preset("bf4")
	require.ErrorContains(t, err, `preset "bf4": want one of ["bf2" "bf3"]`)
	s := Default()
	s.Latency, s.NICLink, s.NICBuffer, s.Queue, s.Overhead.Framing = -1, "narrow", -1, Queue{}, -1
	s.NICRate = simcore.Rate{Bytes: 1}
	s.Ports[1].Capacity, s.Ports[2].Name, s.Ports[0].Memory[0].Bytes = 0, PortArm, 0
	err = s.Validate()
	for _, want := range []string{
		"latency_ps -1: want", `nic_link "narrow": want shared or wide`, "nic_wire_bytes -1: want",
		"nic_rate 1 bytes in 0 ps: want",
		"queue.posted 0: want 1 to", "queue.non_posted 0", "queue.completion 0", "framing_bytes -1: want 0 to 64",
		"ports[1].capacity 0: want 1 to", `ports[2].name "Arm": want a name that no other port has`,
		"ports[0].memory[0] 0 bytes from",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = Builder{Scheduler: simcore.NewEngine(), Spec: s}.Build("Switch")
	require.ErrorContains(t, err, "Switch: latency_ps -1")
	_, err = Builder{Spec: Default()}.Build("Switch")
	require.ErrorContains(t, err, "has no scheduler")
	s = Default()
	s.NICLink, s.Ports = Shared, s.Ports[:1]
	require.ErrorContains(t, s.Validate(), "nic_rate 0: want a rate for a NIC link that is shared")
	require.ErrorContains(t, s.Validate(), "ports 1 of them: want 2 to 32")
}

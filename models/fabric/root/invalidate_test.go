package root_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// sender puts TLPs on its link.
type sender struct {
	*sim.ComponentBase
	port *simcore.Port
}

func (s *sender) Handle(sim.Event) error                  { return nil }
func (s *sender) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
func (s *sender) NotifyRecv(sim.VTimeInSec, sim.Port)     {}

// Writes of lines alternate with messages that invalidate them in a last-level cache. The lines
// must be dropped, and nothing may be allocated in steady state.
func TestInvalidatingAllocatesNothing(t *testing.T) {
	const lines, at = 8, 0x4000
	e, pool := simcore.NewEngine(), new(msg.TLPs)
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	spec, err := armcache.Preset("bf3")
	require.NoError(t, err)
	cache, err := armcache.Builder{Scheduler: e, Spec: spec, Memory: space, Backdoor: space}.Build("Cache")
	require.NoError(t, err)
	rc, err := root.Builder{Scheduler: e, Spec: root.DefaultSpec(), Memory: cache, TLPs: pool,
		Invalidates: true}.Build("Root")
	require.NoError(t, err)
	s := &sender{ComponentBase: sim.NewComponentBase("NIC")}
	s.port = simcore.NewPort(s, 64, "NIC.PCIe")
	_, err = simcore.Connect("Link", e, simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(400)},
		rc.PCIe(), s.port)
	require.NoError(t, err)

	message := make([]byte, nicspec.InvalidateMsgSize)
	(&nicspec.InvalidateMsgFields{Addr: at, Lines: lines}).Encode(message)
	vendor := tlp.Vendor{Type: 1, Routing: tlp.RouteByID, TargetID: nicspec.RequesterArm,
		VendorID: nicspec.InvalidateVendor}
	from := tlp.Origin{RequesterID: nicspec.RequesterNic}
	var failed error
	send := func(p *msg.TLP, err error) {
		if err != nil {
			failed = err
		}
		p.Depart = e.Now()
		if s.port.Send(p) != nil {
			t.Error("the link refused a TLP")
		}
	}
	round := func() {
		for i := range uint64(lines) {
			p := pool.Get()
			own := p.Own(mem.LineBytes)
			own[0] = 7
			send(p, p.SetMemWrite(from, at+i*mem.LineBytes, own))
		}
		p := pool.Get()
		own := p.Own(len(message))
		copy(own, message)
		send(p, p.SetVendor(from, vendor, own))
		if err := e.Run(); err != nil {
			failed = err
		}
	}
	for range 20 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(200, round))
	require.NoError(t, failed)
	require.NoError(t, rc.Err())
	valid, _ := cache.Resident()
	require.Zero(t, valid, "every line was dropped")
	var got [1]byte
	require.NoError(t, space.Read(at, got[:]))
	require.Zero(t, got[0], "without write-back")
}

package nicswitch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

func TestTLPsAreRouted(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(), link())
	r.send(PortNIC, r.write(armAddr, 64), r.write(hostAddr, 64), r.read(nicspec.RequesterNic, hostAddr, 64),
		r.message(tlp.RouteByID, nicspec.RequesterArm, tlp.CodeVendor1), r.completion(nicspec.RequesterHost, 4))
	r.send(PortHost, r.write(nicspec.BarBase, 4), r.write(armAddr, 64), r.completion(nicspec.RequesterNic, 64))
	r.send(PortArm, r.read(nicspec.RequesterArm, nicspec.BarBase+8, 4),
		r.message(tlp.RouteBroadcast, 0, tlp.CodeVendor1))
	r.run()
	require.ElementsMatch(t, []uint64{1, 4, 7}, r.devs[PortArm].seqs())
	require.ElementsMatch(t, []uint64{2, 3, 5, 10}, r.devs[PortHost].seqs())
	require.ElementsMatch(t, []uint64{6, 8, 9, 10}, r.devs[PortNIC].seqs())
	require.True(t, r.sw.Idle())
	out := r.sw.Out(PortNIC, PortHost)
	require.Equal(t, pcielink.Count{TLPs: 1, Data: 1, Payload: 64, Wire: 88}, out[tlp.Posted])
	require.Equal(t, pcielink.Count{TLPs: 1, Wire: 24}, out[tlp.NonPosted])
	require.Equal(t, pcielink.Count{TLPs: 1, Data: 1, Payload: 4, Wire: 24}, out[tlp.Completion])
	require.EqualValues(t, 1, r.sw.Dropped(PortArm).Made.TLPs, "the copy of the broadcast")
}

// Requests to addresses that no port claims: reads must be answered with UR, the others dropped and
// counted.
func TestUnclaimedTLPs(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(), link())
	const nowhere = uint64(9) << 56
	r.send(PortNIC, r.read(nicspec.RequesterNic, nowhere+2, 100), r.write(nowhere, 64), r.completion(0x900, 64),
		r.message(tlp.RouteByID, 0x900, tlp.CodeVendor1), r.message(tlp.RouteByID, 0x900, tlp.CodeVendor0),
		r.message(tlp.RouteLocal, 0, tlp.CodeVendor0), r.write(nicspec.BarBase, 4))
	r.run()
	got := r.devs[PortNIC].got
	require.Len(t, got, 1)
	h := got[0].Parsed()
	require.Equal(t, []any{tlp.Cpl, tlp.StatusUR, uint16(0x300), uint16(nicspec.RequesterNic), uint16(100), uint8(2)},
		[]any{h.Kind, h.Status, h.CompleterID, h.RequesterID, h.ByteCount, h.LowerAddr})
	d := r.sw.Dropped(PortNIC)
	require.Equal(t, []uint64{4, 1, 2, 1}, []uint64{d.Refused.TLPs, d.Unexpected.TLPs, d.Consumed.TLPs, d.Made.TLPs})
	require.EqualValues(t, 1, r.sw.Out("", PortNIC)[tlp.Completion].TLPs)
	require.Equal(t, -6, r.pool.Live(), "one was taken from the pool, seven given back")
}

// In an idle switch, a TLP must take the latency of the switch and of its two links, and no more.
func TestLatency(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(), link())
	r.send(PortNIC, r.write(hostAddr, 256))
	r.run()
	wire := simcore.Ps(280 * 8000 / 256)
	require.Equal(t, []simcore.Ps{nicLatency + 25_000 + wire + 100_000}, r.devs[PortHost].at)
	require.LessOrEqual(t, nicLatency+r.sw.Spec().Latency, 200*simcore.Nanosecond)
	require.GreaterOrEqual(t, nicLatency+r.sw.Spec().Latency, 150*simcore.Nanosecond)
}

// Order is kept per source and destination only: a completion entry to the Arm must be able to
// overtake a payload to the host that was sent before it.
func TestOrderIsPerPair(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(), link())
	const n = 20
	for range n {
		r.send(PortNIC, r.write(hostAddr, 512), r.write(hostAddr, 512), r.write(armAddr, 32))
	}
	r.run()
	arm, host := r.devs[PortArm], r.devs[PortHost]
	require.Len(t, arm.got, n)
	require.IsIncreasing(t, arm.seqs())
	require.IsIncreasing(t, host.seqs())
	overtaken := 0
	for i := range n { // completion entry i was sent after 2(i+1) payloads
		if arm.at[i] < host.at[2*i+1] {
			overtaken++
		}
	}
	require.Equal(t, n, overtaken, "every entry comes before its payload")
}

// A host that takes nothing must not block TLPs to the Arm, until the queue from the NIC to the
// host is full.
func TestNoHeadOfLineBlockingBetweenOutputs(t *testing.T) {
	spec, pcie := Default(), link()
	spec.Queue.Posted = 8
	pcie.Credits[1].PostedHeaders, pcie.Buffer.Posted = 4, 4
	const stalled = 4 + 4 + 8 // credits, transmit buffer of the link, queue from NIC to host
	r := newRig(t, simcore.NewEngine(), spec, pcie)
	r.devs[PortHost].hold = true
	for range stalled {
		r.send(PortNIC, r.write(hostAddr, 64), r.write(armAddr, 64))
	}
	r.run()
	require.Len(t, r.devs[PortArm].got, stalled)
	require.EqualValues(t, 8, r.sw.Held().TLPs)
	r.send(PortNIC, r.write(hostAddr, 64), r.write(armAddr, 64))
	r.run()
	require.Len(t, r.devs[PortArm].got, stalled, "now the head of the port waits for the queue, and all behind it")
	require.Equal(t, 2, r.sw.Port(PortNIC).Len())
	r.send(PortHost, r.write(armAddr, 64), r.write(nicspec.BarBase, 4)) // other inputs must not be blocked
	r.run()
	require.Len(t, r.devs[PortArm].got, stalled+1)
	require.Len(t, r.devs[PortNIC].got, 1)
	r.devs[PortHost].hold = false
	r.devs[PortHost].drain(r.e.CurrentTime())
	r.run()
	require.Len(t, r.devs[PortArm].got, stalled+2)
	require.Len(t, r.devs[PortHost].got, stalled+1)
}

// An input behind a PCIe link: TLPs of other classes must pass one whose queue is full, as far as
// the ordering rules allow, also in front of a shared NIC link.
func TestClassesPassAtAnInput(t *testing.T) {
	shared := Default()
	shared.NICLink, shared.NICRate, shared.NICBuffer = Shared, simcore.Gbps(16), 0 // slower than the link
	shared.Ports[2].NIC = true                                                     // shares the channel
	for name, spec := range map[string]Spec{"wide": Default(), "shared": shared} {
		t.Run(name, func(t *testing.T) {
			pcie := link()
			spec.Queue.NonPosted = 2
			pcie.Credits[1].NonPostedHeaders, pcie.Buffer.NonPosted = 1, 1
			r := newRig(t, simcore.NewEngine(), spec, pcie)
			r.devs[PortArm].hold = true
			for range 5 {
				r.send(PortHost, r.read(nicspec.RequesterHost, armAddr, 64))
			}
			r.send(PortHost, r.write(armAddr, 64), r.write(nicspec.BarBase, 4))
			r.run()
			require.Equal(t, []uint64{7}, r.devs[PortNIC].seqs())
			require.Equal(t, 2, r.devs[PortArm].port.Len(), "a read, and the write that passed the others")
			r.devs[PortArm].hold = false
			r.devs[PortArm].drain(r.e.CurrentTime())
			r.run()
			require.Equal(t, []uint64{1, 6, 2, 3, 4, 5}, r.devs[PortArm].seqs())
		})
	}
}

// Inputs that together exceed an output's rate must get equal shares of it.
func TestRoundRobin(t *testing.T) {
	spec := Default()
	for _, name := range []string{"GPU", "Disk"} {
		p := PortSpec{Name: name, Capacity: 64}
		spec.Ports = append(spec.Ports, p)
	}
	r := newRig(t, simcore.NewEngine(), spec, link())
	sources := []string{PortNIC, PortArm, "GPU", "Disk"}
	const n = 400
	of := map[uint64]string{}
	for _, from := range sources {
		for range n {
			p := r.write(hostAddr, 256)
			of[p.Seq] = from
			r.send(from, p)
		}
	}
	r.run()
	got := r.devs[PortHost].seqs()
	require.Len(t, got, len(sources)*n)
	share := map[string]int{}
	for _, seq := range got[200:1000] { // the part in which all inputs send
		share[of[seq]]++
	}
	for _, from := range sources {
		require.InDelta(t, 200, share[from], 2, "%s of %v", from, share)
	}
}

// twoNICs returns a rig of a card with a DMA engine beside the NIC, both on the NIC link.
func twoNICs(t *testing.T, preset string, rate simcore.Rate) *rig {
	spec, err := Preset(preset)
	require.NoError(t, err)
	spec.NICRate = rate
	spec.Ports = append(spec.Ports, PortSpec{Name: "DMA", NIC: true, Capacity: 64})
	return newRig(t, simcore.NewEngine(), spec, link())
}

// Ports on a shared NIC link must share its rate in turns; on a wide one, each must get the full
// rate.
func TestNICLink(t *testing.T) {
	const n = 200
	took := func(preset string, rate simcore.Rate) simcore.Ps {
		r := twoNICs(t, preset, rate)
		for range n {
			r.send(PortNIC, r.write(hostAddr, 256))
			r.send("DMA", r.write(armAddr, 256))
		}
		r.run()
		host, arm := r.devs[PortHost], r.devs[PortArm]
		require.Len(t, host.got, n)
		require.Len(t, arm.got, n)
		require.InDelta(t, float64(host.at[n-1]), float64(arm.at[n-1]), 80_000,
			"both have the same share, but for what the first one has put before the wire")
		return host.at[n-1] - host.at[0]
	}
	tlpTime := float64(280*8000) / 256
	require.InDelta(t, 2*n*tlpTime, float64(took("bf2", simcore.Gbps(256))), 10*tlpTime)
	require.InDelta(t, n*tlpTime, float64(took("bf3", simcore.Gbps(256))), 10*tlpTime)
	require.InDelta(t, n*tlpTime, float64(took("bf3", simcore.Rate{})), 10*tlpTime, "the PCIe links alone")
}

// The NIC link's rate must bound TLPs out of the switch, too, so that they queue up.
func TestNICLinkOutward(t *testing.T) {
	r := twoNICs(t, "bf2", simcore.Gbps(256))
	const n = 200
	for range n {
		r.send(PortHost, r.write(nicspec.BarBase, 256))
		r.send(PortArm, r.write(nicspec.BarBase, 256))
	}
	r.run()
	nic := r.devs[PortNIC]
	require.Len(t, nic.got, 2*n)
	require.InDelta(t, 2*n*280*8000/256, float64(nic.at[2*n-1]-nic.at[0]), 30_000)
}

func TestNotTLPs(t *testing.T) {
	r := newRig(t, simcore.NewEngine(), Default(), link())
	r.send(PortNIC, &msg.TLP{Packet: tlp.Packet{Hdr: [16]byte{0xff}}})
	require.ErrorContains(t, r.e.Run(), "Switch: port NIC received a TLP of a type that is not supported")
	r = newRig(t, simcore.NewEngine(), Default(), link())
	require.Nil(t, r.devs[PortNIC].port.Send(new(msg.Frame)))
	require.ErrorContains(t, r.e.Run(), "port NIC received a *msg.Frame: want a TLP")
}

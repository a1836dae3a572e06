package hostnet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// strike returns rules for a fault of the frames with the given ordinals, counted to the server, and likewise from it.
func strike(kind inject.WireKind, ordinals ...int) (rules []inject.WireRule) {
	for _, n := range ordinals {
		for _, direction := range []string{"to_device", "from_device"} {
			r := inject.WireRule{Do: kind, Class: inject.ClassOther, Direction: direction, Ordinal: n}
			if kind == inject.WireCorruption {
				bit := 8 * 62 // behind the headers of Ethernet, IP and UDP
				r.Bit = &bit
			}
			rules = append(rules, r)
		}
	}
	return rules
}

// TestFaults checks that broken packets are dropped and repaired, that duplicates are not handed over again, and that
// applications get everything once although packets change their order.
func TestFaults(t *testing.T) {
	d := newDuo(t)
	d.server.Reordered, d.client.Reordered = true, true
	d.rack.Network.Faults = &inject.WireSpec{Rules: append(append(strike(inject.WireCorruption, 50, 100, 101),
		strike(inject.WireDuplication, 150, 160)...), strike(inject.WireDisorder, 200, 250)...)}
	d.kv(0, apps.DefaultKV(), apps.Load{Requests: 600})
	s := d.chunks(1, chunkSpec(), false, true, apps.Load{Requests: 8})
	d.open()
	require.NoError(t, d.Settle())
	broken, twice := [2]uint64{}, uint64(0)
	for i := range d.Nodes[0].Flows() {
		for k, n := range d.Nodes {
			broken[k] += n.FlowStats(i).Broken
		}
		c := d.Nodes[1].FlowStats(i).Client
		require.Equal(t, c.Requests, c.Answers)
		twice += d.Nodes[0].FlowStats(i).Server.ReceiverStats.Again
	}
	require.Equal(t, [2]uint64{3, 3}, broken)
	require.GreaterOrEqual(t, twice, uint64(2))
	require.EqualValues(t, 8*100_000, s.Stats().Bytes)
	require.NoError(t, d.Close())
}

// TestOrder checks that a packet out of order is an error where the network keeps the order.
func TestOrder(t *testing.T) {
	d := newDuo(t)
	d.rack.Network.Faults = &inject.WireSpec{Rules: strike(inject.WireDisorder, 200)}
	d.kv(0, apps.DefaultKV(), apps.Load{Requests: 600})
	d.open()
	require.ErrorContains(t, d.Settle(), "which was sent once, arrived behind packet")
	require.NoError(t, d.Rack.Close())
}

// TestMarks checks that clients which together send more than the server's link carries learn of the switch's marks:
// servers count the packets that the switch marked, clients shrink their windows, and the switch drops nothing.
func TestMarks(t *testing.T) {
	rack, err := board.RackPreset("ce-fleet")
	require.NoError(t, err)
	d := newDuo(t)
	for i := range rack.Fleet.Machines {
		d.chunks(i, chunkSpec(), false, false, apps.Load{Requests: 30})
	}
	machines := []hostbed.Machine{d.server}
	for i, client := range d.client.Flows {
		port := client.Ends.PeerPort
		machines[0].Flows[i].Ends = hostbed.Ends(0, 1+i, port, port, false)
		client.Core, client.Ends = 0, hostbed.Ends(1+i, 0, port, port, false)
		machines = append(machines, hostbed.Machine{Spec: d.client.Spec, Flows: []hostnet.FlowConfig{client}})
	}
	d.Bed, err = hostbed.New(hostbed.Config{Rack: rack, Factory: model(), Machines: machines})
	require.NoError(t, err)
	d.Start()
	require.NoError(t, d.Settle())
	marked, windows, again := uint64(0), "", uint64(0)
	for i := range machines[0].Flows {
		marked += d.Nodes[0].FlowStats(i).Server.Marked
		windows += fmt.Sprintf(" %d", d.Nodes[1+i].Window(0))
		again += d.Nodes[1+i].FlowStats(0).Client.Again
	}
	t.Logf("%d packets marked, %d sent again, windows%s", marked, again, windows)
	require.NotZero(t, marked)
	require.Equal(t, d.Rack.Switch.Counters(0).Marked, marked)
	drops, err := d.ReadDrops()
	require.NoError(t, err)
	require.Equal(t, drops[0].Buffer+drops[0].Descriptor, again, "%+v", drops[0])
	require.NoError(t, d.Close())
}

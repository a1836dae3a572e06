package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
)

// TestPacketCost checks the calibration of the costs of software: a server's core with more requests than it can
// answer, whose buffers stay in the last-level cache, takes hostnet.PacketPs for each.
func TestPacketCost(t *testing.T) {
	d := newDuo(t)
	d.client.Bus = corebus.Spec{Poll: 1}
	for i := range 3 { // a core of the server, three of the client
		d.kv(0, apps.DefaultKV(), apps.Load{EndPs: apps.Ps(simcore.Second)})
		d.client.Flows[i].Core, d.server.Flows[i].Buffers.Log = i, 8
	}
	var err error
	d.Bed, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: model(), Unjudged: true,
		Machines: []hostbed.Machine{d.server, d.client}})
	require.NoError(t, err)
	d.Start()
	answers := func() (n uint64) {
		for i := range d.Nodes[1].Flows() {
			n += d.Nodes[1].FlowStats(i).Client.Answers
		}
		return n
	}
	require.NoError(t, d.RunFor(200*simcore.Microsecond))
	before := answers()
	const measured = 300 * simcore.Microsecond
	require.NoError(t, d.RunFor(measured))
	each := float64(measured) / float64(answers()-before)
	t.Logf("%.2f ns a packet, the anchor: %.2f ns", each/1e3, float64(hostnet.PacketPs)/1e3)
	require.InEpsilon(t, float64(hostnet.PacketPs), each, 0.03)
	require.NoError(t, d.Rack.Close())
}

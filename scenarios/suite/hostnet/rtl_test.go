package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/hostnet/apps"
)

// TestRTL plays the same flows on a server with the Go NIC and with the RTL, through the same driver, with a referee at
// each: applications and NICs must have counted the same.
func TestRTL(t *testing.T) {
	require.Equal(t, playKinds(t, board.DeviceModel), playKinds(t, board.DeviceRTL))
}

// outcome is what must not depend on the NIC.
type outcome struct {
	kv      apps.KVStats
	chunks  apps.ChunkStats
	answers []uint64
}

func playKinds(t *testing.T, kind board.DeviceKind) (o outcome) {
	h, err := hometest.Find()
	require.NoError(t, err)
	d := newDuo(t)
	d.factory = device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil)
	server := &d.rack.Servers[0].Cards[0]
	server.Device.Kind = kind
	server.Ports, d.rack.Fleet.Card.Ports = 2, 2 // the RTL of cards has two
	d.echo(0, 64, apps.Load{Requests: 200})
	d.echo(1, 9000, apps.Load{Requests: 60})
	_, kv := d.kv(2, apps.DefaultKV(), apps.Load{Requests: 200})
	s := d.chunks(3, chunkSpec(), false, true, apps.Load{Requests: 6})
	d.open()
	require.Zero(t, d.finish())
	o.kv, o.chunks = kv.Stats(), s.Stats()
	for i := range d.Nodes[1].Flows() {
		o.answers = append(o.answers, d.Nodes[1].FlowStats(i).Client.Answers)
	}
	require.Equal(t, []uint64{200, 60, 200, 6}, o.answers)
	return o
}

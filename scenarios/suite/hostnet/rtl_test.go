package hostnet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/hostnet/apps"
)

// TestRTL plays the same flows on Go NICs and on the RTL, in the server or at both ends, through the same driver and
// with a referee at each NIC: applications must have counted the same.
func TestRTL(t *testing.T) {
	want := playKinds(t, board.DeviceModel, board.DeviceModel)
	require.Equal(t, want, playKinds(t, board.DeviceRTL, board.DeviceModel))
	require.Equal(t, want, playKinds(t, board.DeviceRTL, board.DeviceRTL))
}

// outcome has the counters of applications, which must not depend on the NIC.
type outcome struct {
	kv      apps.KVStats
	chunks  apps.ChunkStats
	answers []uint64
}

func playKinds(t *testing.T, kinds ...board.DeviceKind) (o outcome) {
	h, err := hometest.Find()
	require.NoError(t, err)
	d := newDuo(t)
	d.factory = device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil)
	for i, c := range []*board.CardSpec{&d.rack.Servers[0].Cards[0], &d.rack.Fleet.Card} {
		c.Device.Kind, c.Ports = kinds[i], 2 // as the RTL is built for other cards
	}
	d.echo(0, 64, apps.Load{Requests: 200})
	d.echo(1, 9000, apps.Load{Requests: 60})
	_, kv := d.kv(2, apps.DefaultKV(), apps.Load{Requests: 200})
	d.engine() // copies the chunks
	s := d.chunks(3, chunkSpec(), true, true, apps.Load{Requests: 6})
	d.open()
	for i, v := range d.Rack.Servers {
		require.Equal(t, kinds[i] == board.DeviceRTL, fmt.Sprintf("%T", v.Cards[0].NIC) == "*device.rtl")
	}
	require.Zero(t, d.finish())
	o.kv, o.chunks = kv.Stats(), s.Stats()
	for i := range d.Nodes[1].Flows() {
		o.answers = append(o.answers, d.Nodes[1].FlowStats(i).Client.Answers)
	}
	require.Equal(t, []uint64{200, 60, 200, 6}, o.answers)
	return o
}

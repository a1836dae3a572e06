package hostnet

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/hostnet/apps"
)

// TestDrops checks that senders repair exactly the packets that the NIC drops when a core is too slow for its ring, and
// that nothing is handed over twice.
func TestDrops(t *testing.T) {
	d := newDuo(t)
	d.server.Spec.ReceiveCycles = 3000
	for i := range 3 {
		d.echo(i, 512, apps.Load{Requests: 1500})
		d.server.Flows[i].Buffers.Log = 3
	}
	d.kv(3, apps.DefaultKV(), apps.Load{Requests: 1500})
	d.server.Flows[3].Buffers.Log = 4
	d.open()
	require.Greater(t, d.finish(), uint64(100))
	again, timeouts := uint64(0), uint64(0)
	for i := range d.Nodes[1].Flows() {
		s := d.Nodes[1].FlowStats(i).Client
		again, timeouts = again+s.Again, timeouts+s.Timeouts
	}
	t.Logf("%d sent again, %d timeouts", again, timeouts)
}

// TestLoss checks that applications get every byte over cables that lose frames in both directions, also if an answer
// is lost, and that the packets which were sent and did not arrive are as many as the cable lost.
func TestLoss(t *testing.T) {
	d := newDuo(t)
	d.rack.Network.Loss = &inject.LossSpec{Share: 0.01, Seed: 3}
	d.echo(0, 700, apps.Load{Requests: 1500})
	d.kv(1, apps.KVSpec{Pairs: 50, Gets: 1, Puts: 1}, apps.Load{Requests: 1500})
	chunks := []*apps.ChunkServer{d.chunks(2, chunkSpec(), false, true, apps.Load{Requests: 40}),
		d.chunks(3, chunkSpec(), false, false, apps.Load{Requests: 40})}
	d.open()
	require.NoError(t, d.Settle())
	sent, arrived, again, asked, repeated := uint64(0), uint64(0), uint64(0), uint64(0), uint64(0)
	for i := range d.Nodes[0].Flows() {
		s, c := d.Nodes[0].FlowStats(i).Server, d.Nodes[1].FlowStats(i).Client
		require.Equal(t, c.Requests, c.Answers)
		sent, arrived = sent+c.Packets, arrived+s.Packets+s.ReceiverStats.Again
		again, asked, repeated = again+s.ReceiverStats.Again, asked+c.Asked, repeated+c.Repeated
	}
	drops, err := d.ReadDrops()
	require.NoError(t, err)
	drops[0].NoRule = 0 // the client's announcement
	require.Zero(t, drops[0])
	require.Len(t, d.Rack.Losses, 1)
	lost := d.Rack.Losses[0].Count(inject.ToDevice).Lost // the client is the cable's other end
	require.Equal(t, lost, sent-arrived)
	require.NotZero(t, lost)
	require.NotZero(t, asked, "answers were lost")
	for _, c := range chunks {
		require.EqualValues(t, 40*100_000, c.Stats().Bytes)
		t.Logf("%+v", c.Stats())
	}
	t.Logf("%d of %d packets lost, %d came twice; %d requests asked again, %d answers came twice", lost, sent, again,
		asked, repeated)
	require.NoError(t, d.Close())
}

// TestWrongBytes checks that applications find bytes that are not those of their client.
func TestWrongBytes(t *testing.T) {
	for says, add := range map[string]func(d *duo){
		"flow 0: echo request: byte 0 is": func(d *duo) {
			d.echo(0, 500, apps.Load{Requests: 9})
			d.server.Flows[0].Server = apps.NewEchoServer(77, 500)
		},
		"kv: 66 bytes, operation": func(d *duo) {
			d.kv(0, apps.DefaultKV(), apps.Load{Requests: 9})
			other, err := apps.NewKVServer(77, apps.DefaultKV())
			require.NoError(d, err)
			d.server.Flows[0].Server = other
		},
		"flow 0: chunk 0: chunk: byte 0 is": func(d *duo) {
			d.chunks(0, chunkSpec(), false, true, apps.Load{Requests: 9})
			client, err := apps.NewChunkClient(77, chunkSpec(), apps.Load{Requests: 9})
			require.NoError(d, err)
			d.client.Flows[0].Client = client
		},
		"chunks: a chunk of 100000 bytes: want 50000": func(d *duo) {
			short := chunkSpec()
			short.ChunkBytes /= 2
			d.chunks(0, chunkSpec(), false, true, apps.Load{Requests: 9})
			d.server.Flows = nil
			d.chunks(0, short, false, true, apps.Load{Requests: 9})
			d.client.Flows = d.client.Flows[:1]
		},
	} {
		d := newDuo(t)
		add(d)
		d.open()
		require.ErrorContains(t, d.Settle(), says)
		require.NoError(t, d.Rack.Close())
	}
}

// TestLimits checks that a wait ends with an error that says what was waited for, and that rings that are too small for
// chunks are refused.
func TestLimits(t *testing.T) {
	d := newDuo(t)
	d.echo(0, 500, apps.Load{Requests: 9})
	d.server.Flows[0].Ends = hostbed.Ends(0, 1, 9999, 9999, false) // nobody listens
	var err error
	d.Bed, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: model(), Quiet: 5 * simcore.Millisecond,
		Machines: []hostbed.Machine{d.server, d.client}})
	require.NoError(t, err)
	d.Start()
	require.ErrorContains(t, d.Settle(), "waited for all flows to end: nothing advanced for")
	require.ErrorContains(t, d.Settle(), "machine Client[0]: the retransmission timer of flow 0")
	require.NoError(t, d.Rack.Close())

	d = newDuo(t)
	d.chunks(0, chunkSpec(), false, true, apps.Load{Requests: 9})
	d.server.Flows[0].Buffers.Log = 9
	_, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: model(), Machines: []hostbed.Machine{d.server}})
	require.ErrorContains(t, err, "chunks: 288 packets of 4 chunks wait in receive buffers: want 256 at most")

	d = newDuo(t)
	d.echo(0, 500, apps.Load{Requests: 9})
	d.rack, err = board.RackPreset("bf3-pair")
	require.NoError(t, err)
	_, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: model(), Machines: []hostbed.Machine{d.server}})
	require.ErrorContains(t, err, "machine Server[0]: its board has no cores")
}

// TestNothingAllocates checks that a run in the steady state, with all of its models, allocates nothing for a packet.
func TestNothingAllocates(t *testing.T) {
	d := newDuo(t)
	const long = apps.Ps(simcore.Second)
	d.echo(0, 512, apps.Load{EndPs: long})
	d.kv(1, apps.DefaultKV(), apps.Load{EndPs: long})
	d.chunks(2, chunkSpec(), false, true, apps.Load{EndPs: long})
	var err error
	d.Bed, err = hostbed.New(hostbed.Config{Rack: d.rack, Factory: model(), Unjudged: true,
		Machines: []hostbed.Machine{d.server, d.client}})
	require.NoError(t, err)
	d.Start()
	require.NoError(t, d.RunFor(2*simcore.Millisecond))
	answers := func() (n uint64) {
		for i := range d.Nodes[1].Flows() {
			n += d.Nodes[1].FlowStats(i).Client.Answers
		}
		return n
	}
	before := answers()
	var failed error
	allocs := testing.AllocsPerRun(5, func() {
		failed = errors.Join(failed, d.Engine.RunUntil(d.Engine.Now()+100*simcore.Microsecond))
	})
	require.NoError(t, errors.Join(failed, d.Err()))
	packets := float64(answers()-before) / 6
	t.Logf("%.0f allocations for %.0f answers", allocs, packets)
	require.Greater(t, packets, 300.0)
	require.Less(t, allocs, packets/20, "models may reach a new maximum now and then")
	require.NoError(t, d.Rack.Close())
}

package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	nics "nictwin/scenarios/bed/device"
	"nictwin/stack/ceio/device"
	"nictwin/stack/ceio/manager"
)

// TestLentBuffers plays Fig. 7 on a NIC with post_recv: slow packets are copied into memory that the application lends,
// two adjacent packets by one copy.
func TestLentBuffers(t *testing.T) {
	w, err := newWorldWith(nics.Model, 1, func(s *manager.Spec) {
		s.Flows, s.Credits, s.Batch, s.Lend, s.Reallocate = 1, 4, 2, true, false
		s.Controller, s.FastSlots, s.SlowSlots = manager.ControlNIC, 64, 64
	})
	require.NoError(t, err)
	f := w.flows[0]
	require.NoError(t, f.Start(w.now()))
	require.NoError(t, w.run(1000))
	require.NoError(t, f.sender.Queue(0, 8*segment))
	w.send(f, 8)
	require.NoError(t, w.run(5000))
	for range 4 {
		require.NoError(t, w.poll(f))
	}
	lent, err := w.Driver.Alloc(nicspec.EndpointHost, 4096, 64)
	require.NoError(t, err)
	f.held, err = f.AsyncRecv(w.now(), 6, nil)
	require.NoError(t, err)
	require.Len(t, f.held, 4, "fast packets at once")
	require.NoError(t, f.PostRecv(w.now(), lent, 2))
	require.NoError(t, w.run(5000))
	require.NoError(t, w.poll(f))
	f.held, err = f.AsyncRecv(w.now(), 6, f.held)
	require.NoError(t, err)
	require.Len(t, f.held, 6, "two more, in the lent buffers")
	require.EqualValues(t, 1, w.d.Manager().Stats().Copies)
	require.Equal(t, []uint64{lent, lent + 256}, []uint64{f.held[4].Address, f.held[5].Address})
	for i := range f.held {
		require.NoError(t, w.examine(f, &f.held[i]))
		if f.held[i].Fast {
			w.fast--
		}
		f.Done(w.now(), &f.held[i], 1)
	}
	require.NoError(t, w.check())
	require.NoError(t, w.run(2000))
	w.finish(t)
}

// TestWrongConfigurations checks that flows that cannot work are refused by name.
func TestWrongConfigurations(t *testing.T) {
	_, err := device.New(device.Config{})
	require.EqualError(t, err, "ceio: want a driver, and After")
	w, err := newWorldWith(nics.Model, 1, func(s *manager.Spec) { s.Flows, s.Copies = 3, 4 })
	require.ErrorContains(t, err, "ceio: flow 2: 3 flows with 4 copies each, of 2 work entries, on transmit queue 1: "+
		"want a queue of more than its 16 places")
	for _, x := range []struct {
		err    string
		change func(c *device.FlowConfig)
	}{
		{"ceio: flow 9: want 0 to 3, each once", func(c *device.FlowConfig) { c.Flow = 9 }},
		{"ceio: flow 0: want 0 to 3, each once", func(c *device.FlowConfig) { c.Flow = 0 }},
		{"ceio: flow 2: buffers of 100 B: want a multiple of 64", func(c *device.FlowConfig) { c.Bytes = 100 }},
		{"ceio: flow 2: want a bus, a copier and a key for host memory", func(c *device.FlowConfig) { c.Copier = nil }},
		{"ceio: flow 2: 58 B split off into header buffers of 32 B: want at least as much room, or neither",
			func(c *device.FlowConfig) { c.Split, c.HdrBytes = 58, 32 }},
	} {
		c := device.FlowConfig{Flow: 2, Bus: w.Bus, Copier: w.k, Host: w.host, Bytes: 256}
		x.change(&c)
		_, err := w.d.Open(c)
		require.ErrorContains(t, err, x.err)
	}
	require.NoError(t, w.Close())
	_, err = newWorldWith(nics.Model, 1, func(s *manager.Spec) { s.FastSlots, s.SlowSlots = 48, 1 })
	require.ErrorContains(t, err, "fast_slots 48: want a power of two, 2^2 to 2^15")
	require.ErrorContains(t, err, "slow_slots 1: want a power of two, 2^2 to 2^15")
}

package classes

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// sink takes every message that arrives.
type sink struct{ *sim.ComponentBase }

func (s sink) Handle(sim.Event) error                       { return nil }
func (s sink) NotifyPortFree(sim.VTimeInSec, sim.Port)      {}
func (s sink) NotifyRecv(now sim.VTimeInSec, port sim.Port) { port.Retrieve(now) }
func newPort(name string) *simcore.Port {
	return simcore.NewPort(sink{sim.NewComponentBase(name)}, 8, name+".Port")
}

// TestLinksOfDevicesHaveACounterOfTheirOwn sends a write over the link of a device in each direction. Its total is what
// the link itself carried: a message that the classes leave out is an error.
func TestLinksOfDevicesHaveACounterOfTheirOwn(t *testing.T) {
	e := simcore.NewEngine()
	near, far := newPort("Card"), newPort("Device")
	link, err := simcore.Connect("Link", e, simcore.LinkSpec{Latency: 1}, near, far)
	require.NoError(t, err)
	list := newCard(&Memory{}).own("A", "device", link, far, false)
	require.Len(t, list, 2)
	for _, l := range list {
		l.Begin()
	}
	const payload, header = 64, 3 * tlp.DWBytes
	for _, p := range []*simcore.Port{near, far} {
		var m msg.TLP
		require.NoError(t, m.SetMemWrite(tlp.Origin{RequesterID: 1}, 0x1000, make([]byte, payload)))
		m.Src = p
		require.Nil(t, p.Send(&m))
	}
	for _, l := range list {
		require.NoError(t, l.Check())
		require.EqualValues(t, header+payload, l.Total(), l.What)
		require.EqualValues(t, header, l.Bytes(TLPHeaders), l.What)
	}
	left := &simcore.Msg{MsgMeta: sim.MsgMeta{Src: near, TrafficBytes: 1}}
	require.Nil(t, near.Send(left))
	require.ErrorContains(t, list[0].Check(), "A, PCIe card to device: the classes add up to 76 B: want 77")
	require.NoError(t, list[1].Check())
}

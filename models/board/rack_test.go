package board

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Two servers back to back: each port must be connected to the same port of the other card, by a cable whose latency is
// the sum of its own and both cards'.
func TestRacksBackToBack(t *testing.T) {
	for _, name := range []string{"bf3-pair", "connectx6-pair"} {
		s, err := RackPreset(name)
		require.NoError(t, err)
		e, pools, closed := simcore.NewEngine(), new(Pools), 0
		devices := []DeviceKind{}
		r, err := NewRack(e, pools, s, func(slot Slot) (NIC, error) {
			devices = append(devices, slot.Device.Kind)
			return factory(&closed)(slot)
		})
		require.NoError(t, err)
		kind := s.Servers[0].Cards[0].Device.Kind
		require.Equal(t, []DeviceKind{kind, kind}, devices, "the factory is given the device of each spec")
		for _, c := range r.Cards() {
			require.True(t, c.NIC.Eth(0).Plugged() && c.NIC.Eth(1).Plugged())
			require.NoError(t, c.Root.MMIO(nicspec.RequesterArm).Read(nicspec.RegId, 4, func(v uint64, err error) {
				require.NoError(t, err)
				require.EqualValues(t, nicspec.ResetId, v)
			}))
		}
		require.NoError(t, e.Run())
		for _, c := range r.Cards() {
			require.NoError(t, c.Err())
			require.True(t, c.Idle())
		}
		require.NoError(t, r.Close())
		require.Equal(t, 2, closed)
	}
	eth := ethPreset(100)
	eth.Latency = simcore.Microsecond
	c := joinShares(ethPreset(200), eth)
	require.Equal(t, simcore.Gbps(100), c.Rate)
	require.Equal(t, 1150*simcore.Nanosecond, c.Latency)
	require.Equal(t, ether.WireOverhead, c.OverheadBytes)
	require.Equal(t, simcore.Gbps(100), joinShares(eth, simcore.LinkSpec{}).Rate, "no rate is the faster one")
}

// A plain NIC in a PCIe slot of the host must reach host memory, through its cache, and no Arm
// memory.
func TestPlainNICs(t *testing.T) {
	s, err := CardPreset("connectx7")
	require.NoError(t, err)
	e, pools, closed := simcore.NewEngine(), new(Pools), 0
	s.Endpoint.Faults = true
	c, err := NewCard(e, pools, s, factory(&closed))
	require.NoError(t, err)
	require.Same(t, c.Root, c.Host)
	require.NotNil(t, c.HostLink)
	require.Nil(t, c.Memory.Cache(nicspec.EndpointArm))
	at := mem.Bus(nicspec.EndpointHost, 0x40)
	a := mem.Access{Op: mem.Write, By: mem.Core, Addr: at, Data: []byte("warm"),
		Done: func(a *mem.Access) { require.NoError(t, a.Err) }}
	c.Memory.Access(&a)
	var took simcore.Ps
	begin := e.Now()
	require.NoError(t, c.Root.MMIO(nicspec.RequesterHost).Read(nicspec.RegId, 4, func(_ uint64, err error) {
		require.NoError(t, err)
		took = e.Now() - begin
	}))
	require.NoError(t, e.Run())
	require.GreaterOrEqual(t, took, 2*s.Direct.PCIe.Latency)
	counters := c.HostLink.Counters(0)
	require.NotZero(t, counters)
	_, dirty := c.Memory.Cache(nicspec.EndpointHost).Resident()
	require.Equal(t, 1, dirty)
	require.ErrorIs(t, endpointMemory{c.Memory, nicspec.EndpointHost}.Check(mem.Read, 0, 4), mem.ErrNoMemory)

	s.Direct.PCIe.Ends[0].MPS = 128
	require.ErrorContains(t, s.Validate(), "direct.pcie.ends: MPS 128 is less than the 512 of the roots")
}

// Writes outside memory must be counted, whichever root they arrive at.
func TestStrayWritesBehindASwitch(t *testing.T) {
	e, pools, closed := simcore.NewEngine(), new(Pools), 0
	s, err := CardPreset("bf3")
	require.NoError(t, err)
	s.Endpoint.ArmBytes = 1 << 20
	c, err := NewCard(e, pools, s, factory(&closed))
	require.NoError(t, err)
	for _, at := range []uint64{1 << 20, mem.Bus(nicspec.EndpointArm, mem.MaxBytes-64)} {
		p := pools.TLPs.Get()
		require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterHost}, at, []byte("lost")))
		c.Host.Send(p)
	}
	require.NoError(t, e.Run())
	require.NoError(t, errors.Join(c.Err(), c.Overdue()))
	require.Equal(t, 2, c.Memory.Stray())
}

package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// TestRNICInASlot checks that an rnic behind the switch of a whole card answers register accesses.
func TestRNICInASlot(t *testing.T) {
	card, err := board.CardPreset("bf2")
	require.NoError(t, err)
	spec, err := rnic.Preset("bluefield2")
	require.NoError(t, err)
	e := simcore.NewEngine()
	card.EthBits = 0
	c, err := board.NewCard(e, new(board.Pools), card, RNIC(spec))
	require.NoError(t, err)
	got := map[uint16]uint64{}
	require.NoError(t, c.Root.MMIO(nicspec.RequesterArm).Read(rnicspec.RegID, 8, func(v uint64, err error) {
		require.NoError(t, err)
		got[nicspec.RequesterArm] = v
	}))
	require.NoError(t, c.Host.MMIO(nicspec.RequesterHost).Read(rnicspec.RegID, 4, func(v uint64, err error) {
		require.NoError(t, err)
		got[nicspec.RequesterHost] = v
	}))
	require.NoError(t, e.Run())
	require.Equal(t, map[uint16]uint64{nicspec.RequesterArm: rnicspec.Magic | rnicspec.Version<<32,
		nicspec.RequesterHost: rnicspec.Magic}, got)
	require.NoError(t, c.NIC.Check())

	card.Stall = 5
	_, err = board.NewCard(e, new(board.Pools), card, RNIC(spec))
	require.ErrorContains(t, err, "stall 5: the streams of an rnic have no beats: want 0")
	card.Stall, card.Burst = 0, 5
	_, err = board.NewCard(e, new(board.Pools), card, RNIC(spec))
	require.ErrorContains(t, err, "burst 5: the streams of an rnic have no beats: want 0")
	spec.Ports, card.Burst = 1, 0
	_, err = board.NewCard(e, new(board.Pools), card, RNIC(spec))
	require.ErrorContains(t, err, "ports 2: the rnic has 1")
	build := nicspec.DefaultBuild()
	card.Build = &build
	_, err = board.NewCard(e, new(board.Pools), card, RNIC(spec))
	require.ErrorContains(t, err, "build: an rnic has none")
}

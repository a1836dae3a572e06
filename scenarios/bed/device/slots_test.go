package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/shell/home/hometest"
)

// TestSlots checks that a board names the device of each slot: two servers back to back, one with the Go NIC, one with
// RTL.
func TestSlots(t *testing.T) {
	h, err := hometest.Find()
	require.NoError(t, err)
	s, err := board.RackPreset("bf3-pair")
	require.NoError(t, err)
	s.Servers[0].Cards[0].Device.Kind = board.DeviceModel
	s.Servers[1].Cards[0].Device = board.DeviceSpec{Kind: board.DeviceRTL, DUT: "nic"}
	e, over := simcore.NewEngine(), false
	r, err := board.NewRack(e, new(board.Pools), s,
		Slots(Spec{NIC: Model, Variant: "speed"},
			&Finder{DUT: func(dut string) (string, error) { return h.Path(dut), nil }}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	got := 0
	for _, c := range r.Cards() {
		require.NoError(t, c.NIC.Begin(func() bool { return over }))
		require.EqualValues(t, 909, c.NIC.Period())
		require.NoError(t, c.Root.MMIO(nicspec.RequesterArm).Read(nicspec.RegId, 4, func(v uint64, err error) {
			require.NoError(t, err)
			require.EqualValues(t, nicspec.ResetId, v)
			got++
			over = got == 2
		}))
	}
	require.NoError(t, e.Run())
	require.Equal(t, 2, got)
	require.Empty(t, r.Cards()[0].NIC.(Device).Build())
	require.NotEmpty(t, r.Cards()[1].NIC.(Device).Build())
}

func TestSlotsThatCannotBeFilled(t *testing.T) {
	for want, d := range map[string]board.DeviceSpec{
		"X.NIC: a device of kind fpga: want model, rtl, address or rnic": {Kind: "fpga"},
		`X.NIC: rnic: preset is "connectx9": want one of ["connectx4"`:   {Kind: board.DeviceRNIC, Model: "connectx9"},
		"X.NIC: dut: stat /nowhere": {Kind: board.DeviceRTL,
			DUT: "/nowhere"},
		"X.NIC: token of the device at unix:/nowhere: want 64 hexadecimal digits": {
			Kind: board.DeviceAddress, Address: "unix:/nowhere",
		},
	} {
		_, err := Slots(Spec{NIC: Model}, nil)(board.Slot{Name: "X.NIC", Device: d, Ports: 1})
		require.ErrorContains(t, err, want)
	}
}

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/waves"
)

func TestWindowIsAroundTheFirstDifferenceOfANIC(t *testing.T) {
	w := WaveFlag{WaveText: "fail"}
	require.NoError(t, w.parse(true, false))
	var o result.Object
	wave, at := w.wave(&o, "out", []result.Finding{{Text: "bytes"}})
	require.Nil(t, wave, "no finding has a cycle")
	require.Nil(t, at)
	require.Equal(t, []string{"--wave fail: no waveform, for no finding has a cycle to show: --wave always or " +
		"--wave A:B of this run alone writes one"}, o.Warnings)
	o.Warnings = nil

	found := []result.Finding{
		{Text: "bytes"},
		{NIC: "b", Field: "len", Cycle: new(int64(900)),
			Files: []string{"models/nic/core/copy.go", "verilator/rtl/nic_copy.sv"}},
		{NIC: "a", Field: "len", Cycle: new(int64(20))}, // cycles of two NICs say nothing of each other
		{NIC: "b", Field: "at", Cycle: new(int64(700)), Files: []string{"verilator/rtl/nic_rx.sv"}},
	}
	wave, at = w.wave(&o, "out", found)
	require.Empty(t, o.Warnings)
	require.Same(t, &found[3], at)
	require.Equal(t, device.Wave{
		Dir: "out", Slot: "b", Policy: w.policy, Failed: true, At: 700,
		Marks: []waves.Mark{{Name: "difference", Cycle: 700}}, Module: "nic_rx",
	}, *wave)
	require.True(t, sameFinding(at, found))
	require.False(t, sameFinding(at, found[:3]))
}

package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic"
	"nictwin/scenarios/board"
)

const manifest = "../../verilator/duts/nic/dut.yaml"

func TestModel(t *testing.T) {
	RunContract(t, "model", nic.DefaultSpec(), func(s board.Spec) (*board.Board, error) {
		s.NIC = board.Model
		return board.New(s)
	})
}

func TestRTL(t *testing.T) {
	dev, err := board.Build(manifest, "speed", 1, nil)
	require.NoError(t, err)
	RunContract(t, "rtl", nic.DefaultSpec(), func(s board.Spec) (*board.Board, error) {
		s.NIC, s.Built = board.RTL, dev
		return board.New(s)
	})
}

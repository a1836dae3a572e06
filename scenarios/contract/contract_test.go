package contract

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic"
	"nictwin/scenarios/board"
)

const manifest = "../../verilator/duts/nic/dut.yaml"

// eachBuild runs f for the NIC with one port and with two.
func eachBuild(t *testing.T, f func(t *testing.T, name string, sizes nic.Spec)) {
	for ports := 1; ports <= board.MaxPorts; ports++ {
		sizes := nic.DefaultSpec()
		sizes.Ports = ports
		f(t, fmt.Sprintf("ports %d", ports), sizes)
	}
}

func TestModel(t *testing.T) {
	eachBuild(t, func(t *testing.T, name string, sizes nic.Spec) {
		RunContract(t, name, sizes, func(s board.Spec) (*board.Board, error) {
			s.NIC = board.Model
			return board.New(s)
		})
	})
}

func TestRTL(t *testing.T) {
	eachBuild(t, func(t *testing.T, name string, sizes nic.Spec) {
		dev, err := board.Build(manifest, "speed", sizes.Ports, nil)
		require.NoError(t, err)
		RunContract(t, name, sizes, func(s board.Spec) (*board.Board, error) {
			s.NIC, s.Built = board.RTL, dev
			return board.New(s)
		})
	})
}

package emulation

import (
	"os"
	"path/filepath"
	"testing"

	"nictwin/rtlbridge/build"
)

// TestMain names the harness of this tree. Started as a board, the program relays.
func TestMain(m *testing.M) {
	if mode := os.Getenv(relayMode); mode != "" {
		os.Exit(relay(mode))
	}
	dir, err := filepath.Abs("../../verilator/harness")
	if err != nil {
		panic(err)
	}
	build.SetHarness(dir)
	os.Exit(m.Run())
}

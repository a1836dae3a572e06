package emulation

import (
	"os"
	"path/filepath"
	"testing"

	"nictwin/rtlbridge/build"
)

// TestMain names the harness of this tree.
func TestMain(m *testing.M) {
	dir, err := filepath.Abs("../../verilator/harness")
	if err != nil {
		panic(err)
	}
	build.SetHarness(dir)
	os.Exit(m.Run())
}

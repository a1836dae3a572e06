package build

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain sets the folder of the C++ harness for the package's tests: verilator/harness of this source tree.
func TestMain(m *testing.M) {
	dir, err := filepath.Abs("../../verilator/harness")
	if err != nil {
		panic(err)
	}
	SetHarness(dir)
	os.Exit(m.Run())
}

package build

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain names the harness of this tree.
func TestMain(m *testing.M) {
	dir, err := filepath.Abs("../../verilator/harness")
	if err != nil {
		panic(err)
	}
	SetHarness(dir)
	os.Exit(m.Run())
}

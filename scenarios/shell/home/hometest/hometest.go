// Package hometest finds nictwin's own files for tests.
//
// It is for tests that build devices of this tree; programs use package home.
//
// Invariants:
//   - Tests use the home that $NICTWIN_HOME names, else the tree from which they were compiled, wherever they run.
package hometest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/shell/home"
)

// Find returns the home that tests use.
func Find() (home.Home, error) {
	dir := os.Getenv(home.Env)
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		if !filepath.IsAbs(file) {
			return home.Home{}, fmt.Errorf("the source of %s is not known: it was compiled with -trimpath; set %s",
				file, home.Env)
		}
		dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
	}
	return home.Find(dir)
}

// Main is the TestMain of packages whose tests build devices: it makes builds use the harness of the home.
func Main(m *testing.M) {
	h, err := Find()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	build.SetHarness(h.Harness())
	os.Exit(m.Run())
}

package bench

import (
	"os"
	"testing"

	"nictwin/scenarios/pair"
	"nictwin/scenarios/shell/home/hometest"
)

// TestMain lets the test binary also be the second process of a pair of boards.
func TestMain(m *testing.M) {
	if pair.IsSide(os.Args) {
		os.Exit(pair.Main())
	}
	hometest.Main(m)
}

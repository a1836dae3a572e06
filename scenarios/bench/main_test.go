package bench

import (
	"os"
	"testing"

	"nictwin/scenarios/home/hometest"
	"nictwin/scenarios/split"
)

// TestMain is the second process of two boards, too.
func TestMain(m *testing.M) {
	if split.IsSide(os.Args) {
		os.Exit(split.Main())
	}
	hometest.Main(m)
}

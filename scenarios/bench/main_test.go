package bench

import (
	"os"
	"testing"

	"nictwin/scenarios/pair"
	"nictwin/scenarios/shell/home/hometest"
)

// TestMain is the second process of two boards, too.
func TestMain(m *testing.M) {
	if pair.IsSide(os.Args) {
		os.Exit(pair.Main())
	}
	hometest.Main(m)
}

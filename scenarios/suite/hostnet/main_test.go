package hostnet

import (
	"testing"

	"nictwin/scenarios/shell/home/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

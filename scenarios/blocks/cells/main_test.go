package cells

import (
	"testing"

	"nictwin/scenarios/home/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

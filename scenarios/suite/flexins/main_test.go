package flexins

import (
	"testing"

	"nictwin/scenarios/home/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

package phase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
)

func TestValidate(t *testing.T) {
	for _, s := range []Spec{{}, {From: 5}, {From: 5, Until: new(quantity.Time(6))}, {Until: new(Longest)}} {
		require.NoError(t, Validate(s))
	}
	for want, s := range map[string]Spec{
		"from -1ps: want 0ps to ": {From: -1},
		"from 2305843":            {From: Longest + 1},
		"until 5ps: want more than from, 5ps, or none for the end": {From: 5, Until: new(quantity.Time(5))},
		"until 0ps: want more than from, 0ps, or none":             {Until: new(quantity.Time(0))},
		"until -1ps":    {Until: new(quantity.Time(-1))},
		"until 2305843": {Until: new(Longest + 1)},
	} {
		require.ErrorContains(t, Validate(s), want)
	}
}

// TestTimes checks phases against traffic that begins before, in and behind them.
func TestTimes(t *testing.T) {
	nine := new(quantity.Time(9))
	for _, c := range []struct {
		spec                Spec
		from, to            simcore.Ps // for traffic from 100 on
		traffic, begin, end simcore.Ps
	}{
		{Spec{}, 100, 0, 50, 0, 50}, {Spec{From: 7}, 107, 0, 50, 7, 50},
		{Spec{From: 7, Until: nine}, 107, 109, 50, 7, 9}, {Spec{From: 7, Until: nine}, 107, 109, 8, 7, 8},
		{Spec{From: 7, Until: nine}, 107, 109, 3, 7, 7},
	} {
		from, to := c.spec.Times(100)
		begin, end := c.spec.Within(c.traffic)
		require.Equal(t, []simcore.Ps{c.from, c.to, c.begin, c.end}, []simcore.Ps{from, to, begin, end}, "%+v", c)
	}
}

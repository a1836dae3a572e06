package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/board/boardtest"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
)

// Slow boards cause no false mismatch. If a board is so slow that the NIC would time out its reads, the options are
// refused, and the error names the field of the slow part.
func TestSlowBoards(t *testing.T) {
	runs := 40 * longer()
	refused := 0
	for seed := range uint64(runs) {
		c, err := boardtest.Card(seed)
		require.NoError(t, err)
		o := options(device.Model, shipped(t))
		o.Card, o.Ports, o.EthBits, o.PeriodPs, o.Limit, o.Seed = &c, c.Ports, c.EthBits, c.Period, 60, seed
		r, err := New(context.Background(), o)
		var wrong *field.Error
		if errors.As(err, &wrong) {
			refused++
			require.ErrorContains(t, err, "CPL_TIMEOUT", "seed %d", seed)
			continue
		}
		require.NoError(t, err, "seed %d", seed)
		res, err := r.Play()
		require.NoError(t, err, "seed %d: %+v", seed, c)
		require.True(t, res.Pass, "seed %d: %+v", seed, res.Findings)
		require.NoError(t, r.Close())
	}
	require.Less(t, refused, runs/2)
}

// closing is an event handler that closes the gate in front of the NIC once frames have been delivered.
type closing struct{ r *Run }

func (c closing) Handle(sim.Event) error {
	if c.r.rx.got == 0 {
		c.arm()
		return nil
	}
	c.r.bed.Gate.Close()
	return nil
}

func (c closing) arm() {
	c.r.engine.Schedule(&simcore.Event{At: c.r.engine.Now() + simcore.Microsecond, H: c})
}

// A NIC that stops responding is found: on ordinary boards within 2 ms or when a register read is overdue, on slow
// boards after the longest time that their links and memories may take.
func TestRealHangsAreFound(t *testing.T) {
	slow := func(c *board.CardSpec) { c.Switch.NICRate = simcore.Rate{Bytes: 1, Ps: 100 * simcore.Nanosecond} }
	for _, x := range []struct {
		name string
		slow func(c *board.CardSpec)
		most simcore.Ps
	}{
		{"as it is", func(*board.CardSpec) {}, 4 * simcore.Millisecond},
		{"slow link", slow, simcore.Second},
	} {
		c, err := board.CardPreset("bf3")
		require.NoError(t, err)
		x.slow(&c)
		c.Endpoint.Gate = true
		o := options(device.Model, shipped(t)[:1])
		o.Card, o.Ports, o.EthBits, o.PeriodPs = &c, c.Ports, c.EthBits, c.Period
		r := start(t, o)
		closing{r}.arm()
		_, err = r.Play()
		var stuck *StuckError
		var breach *boundary.ContractError
		require.True(t, errors.As(err, &stuck) || errors.As(err, &breach), "%s: %v", x.name, err)
		require.Less(t, r.engine.Now(), x.most, x.name)
	}
}

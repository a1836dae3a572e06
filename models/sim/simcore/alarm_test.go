package simcore_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// sleeper records the times at which its alarm rings.
type sleeper struct {
	simcore.Portless
	t     *testing.T
	e     sim.Engine
	alarm simcore.Alarm
	woken []simcore.Ps
}

func (s *sleeper) Handle(e sim.Event) error {
	require.True(s.t, s.alarm.Rang(e))
	s.woken = append(s.woken, simcore.Now(s.e))
	return nil
}

// TestAlarm: the alarm rings at the earliest time that it is set to. Later times cost no event
// until the alarm is set again. Nothing is allocated.
func TestAlarm(t *testing.T) {
	for _, e := range []sim.Engine{simcore.NewEngine(), sim.NewSerialEngine()} {
		s := &sleeper{Portless: simcore.NewPortless("Sleeper"), t: t, e: e}
		s.alarm = simcore.NewAlarm(e, s, true)
		s.NotifyRecv(0, nil)
		s.NotifyPortFree(0, nil)
		run := func() { require.NoError(t, e.(interface{ Run() error }).Run()) }
		s.alarm.Set(20)
		s.alarm.Set(30)
		s.alarm.Set(20)
		s.alarm.Set(10)
		run()
		require.Equal(t, []simcore.Ps{10, 20}, s.woken)
		s.alarm.Set(20)
		run()
		require.Equal(t, []simcore.Ps{10, 20, 20}, s.woken)
		require.False(t, s.alarm.Rang(sim.NewEventBase(0, s)))
	}
	e := simcore.NewEngine()
	s := &sleeper{t: t, e: e, woken: make([]simcore.Ps, 0, 1<<12)}
	s.alarm = simcore.NewAlarm(e, s, false)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		s.alarm.Set(e.Now() + 1)
		s.alarm.Set(e.Now() + 2)
		if e.Run() != nil {
			panic("no error is possible")
		}
	}))
}

package memrig

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
)

// counting is a memory whose counts of bytes are correct, or have a chosen error.
type counting struct {
	mem.Target
	how  string
	flow Flow
}

func (c *counting) Access(a *mem.Access) {
	if err := c.Check(a.Op, a.Addr, a.Len()); err != nil {
		if c.how == "counts what it refuses" {
			c.flow.Accepted += uint64(len(a.Data))
		}
		a.Finish(err)
		return
	}
	n, done := uint64(len(a.Data)), a.Done
	c.flow.Accepted += n
	c.flow.Held += n
	a.Done = func(a *mem.Access) {
		c.flow.Finished += n
		if c.how != "forgets to let go" {
			c.flow.Held -= n
		}
		if c.how == "loses a long one" && n > 290 {
			return
		}
		if c.how == "counts short" && n > 290 {
			c.flow.Finished--
		}
		done(a)
	}
	c.Target.Access(a)
}

// failure records the failure of a nested test without failing this one.
type failure struct{ text string }

func (f *failure) Errorf(format string, a ...any) { f.text += fmt.Sprintf(format, a...) }

func (f *failure) FailNow() { runtime.Goexit() }

// Conserve must accept a memory that counts correctly, and find every way of counting wrongly.
func TestConserveFindsWrongBooks(t *testing.T) {
	for _, how := range []string{"", "counts what it refuses", "forgets to let go", "loses a long one",
		"counts short"} {
		f := new(failure)
		over := make(chan bool)
		go func() {
			defer close(over)
			e := simcore.NewEngine()
			slow, err := inject.NewDelay("Delay", e, inject.DelaySpec{Latency: 90 * simcore.Nanosecond},
				mem.NewSparse(1<<20))
			require.NoError(f, err)
			c := &counting{Target: slow, how: how}
			r := &Rig{Flow: func() Flow { return c.flow }, Idle: func() bool { return c.flow.Held == 0 }}
			r.Target, r.Size, r.Nowhere = c, 1<<20, []uint64{1 << 30}
			play(f, e, r, func(t simcore.Ps) error { return e.RunUntil(e.Now() + t) })
		}()
		<-over
		require.Equal(t, how == "", f.text == "", "%q: %s", how, f.text)
	}
}

package pipe_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

var (
	_ pipe.Memory = (*cpu.Core)(nil)
	_ pipe.Mover  = (*corebus.Bus)(nil)
)

// TestBetweenCores runs a pipe between two cores with common memory. A loop on the first core pushes, one on the second
// polls, and both take time on their cores. The consumer must sleep while the ring is empty.
func TestBetweenCores(t *testing.T) {
	e := simcore.NewEngine()
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	core := func(name string) *cpu.Core {
		s, err := cpu.Preset("bf3")
		require.NoError(t, err)
		c, err := cpu.Builder{Scheduler: e, Spec: s, Memory: space}.Build(name)
		require.NoError(t, err)
		return c
	}
	from, to := core("Producer"), core("Consumer")
	bus, err := corebus.New(from, new(nothing), corebus.DefaultSpec())
	require.NoError(t, err)
	spec, at := pipe.Spec{LogLines: 3, Batch: 1, Credit: 4}, pipe.Place{Ring: 0x1000, Counter: 0x800}
	p, err := pipe.NewProducer(spec, at, bus)
	require.NoError(t, err)
	c, err := pipe.NewConsumer(spec, at, to)
	require.NoError(t, err)
	const n = 300
	sent, seen, refused := 0, 0, 0
	element := func(i int) []byte {
		b := bytes.Repeat([]byte{byte(i + 1)}, pipe.LineBytes*(1+i%3))
		for k := pipe.LineBytes - 1; k < len(b); k += pipe.LineBytes {
			b[k] = 0
		}
		return b
	}
	_, err = from.Add(cpu.LoopSpec{Name: "push", Poll: 62}, func(*cpu.Core) bool {
		if sent == n {
			return false
		}
		switch err := p.Push(element(sent)); {
		case err == nil:
			sent++
		case errors.Is(err, verbs.ENOMEM):
			refused++
		default:
			require.NoError(t, err)
		}
		return true
	})
	require.NoError(t, err)
	poll, err := to.Add(cpu.LoopSpec{Name: "poll", Poll: 62}, func(c2 *cpu.Core) bool {
		b, err := c.Poll()
		require.NoError(t, err)
		if b == nil {
			return false
		}
		require.Equal(t, element(seen), b)
		seen++
		c2.Compute(500)
		return true
	})
	require.NoError(t, err)
	_, err = poll.WatchAnd(at.Ring, spec.Bytes(), func(uint64, int) {})
	require.NoError(t, err)
	require.NoError(t, e.Run())
	require.Equal(t, []int{n, n}, []int{sent, seen})
	require.Positive(t, refused)
	require.GreaterOrEqual(t, e.Now(), simcore.Ps(n)*200*simcore.Nanosecond, "500 cycles of 0.4 ns for each element")
}

// nothing implements cpu.Registers for cores that use none.
type nothing struct{}

func (*nothing) Write(uint32, []byte) error                        { return errors.New("no registers") }
func (*nothing) Read(uint32, int, func(v uint64, err error)) error { return errors.New("no registers") }

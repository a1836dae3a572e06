package offload_test

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/offload"
	"nictwin/stack/offload/handlers"
)

// world is an Env backed by byte slices. Each DMA and each response ends after a random number of turns of the engine's
// loop.
type world struct {
	t             *testing.T
	rnd           *rand.Rand
	arm           []byte
	host          []byte
	pendingEvents []event
	turn          int
	cycles        int64
	sent          [][]byte
	refuse        bool // every DMA fails
}

type event struct {
	at int
	f  func()
}

const (
	hostAt = 1 << 32
	armAt  = 0x1000
)

func newWorld(t *testing.T, seed int64) *world {
	return &world{t: t, rnd: rand.New(rand.NewSource(seed)), arm: make([]byte, 1<<20), host: make([]byte, 1<<20)}
}

func (w *world) at(addr uint64, n int) []byte {
	if addr >= hostAt {
		return w.host[addr-hostAt:][:n]
	}
	return w.arm[addr:][:n]
}

func (w *world) later(f func()) {
	w.pendingEvents = append(w.pendingEvents, event{w.turn + 1 + w.rnd.Intn(20), f})
}

func (w *world) Copy(to, from uint64, n int, done func(error)) {
	w.later(func() {
		if w.refuse {
			done(errors.New("a read was refused"))
			return
		}
		copy(w.at(to, n), w.at(from, n))
		done(nil)
	})
}
func (w *world) Load(addr uint64, b []byte) error  { copy(b, w.at(addr, len(b))); return nil }
func (w *world) Store(addr uint64, b []byte) error { copy(w.at(addr, len(b)), b); return nil }
func (w *world) Compute(cycles int64)              { w.cycles += cycles }
func (w *world) Wake()                             {}
func (w *world) Respond(_ uint32, addr uint64, n int, done func(error)) {
	w.later(func() {
		w.sent = append(w.sent, append([]byte(nil), w.at(addr, n)...))
		done(nil)
	})
}

// run steps the engine until nothing is in flight, and fails the test if that takes too long.
func (w *world) run(e *offload.Engine) {
	for idle := 0; idle < 100; w.turn++ {
		if idle++; e.Step() {
			idle = 0
		}
		for i := 0; i < len(w.pendingEvents); i++ {
			if x := w.pendingEvents[i]; x.at <= w.turn {
				w.pendingEvents = append(w.pendingEvents[:i], w.pendingEvents[i+1:]...)
				i = -1
				x.f()
				idle = 0
			}
		}
		require.Less(w.t, w.turn, 1_000_000, "it does not end")
	}
	require.True(w.t, e.Idle())
}

func newEngine(t *testing.T, w *world, change func(*offload.Spec)) *offload.Engine {
	s := offload.DefaultSpec()
	if change != nil {
		change(&s)
	}
	e, err := offload.New(s, w, armAt, 1<<19)
	require.NoError(t, err)
	require.NoError(t, e.RegisterRegion(7, hostAt, 1<<16))
	return e
}

// ask gives the engine a request, which lies in a slot of Arm memory; the result is set to true when the engine frees
// that memory.
func (w *world) ask(e *offload.Engine, slot int, b []byte) *bool {
	freed := new(bool)
	at := uint64(1<<19 + slot*8192)
	copy(w.arm[at:], b)
	require.True(w.t, e.Take(offload.Request{QP: 7, Addr: at, N: len(b), Done: func() { *freed = true }}))
	return freed
}

func request(code uint16, number uint32) []byte {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint16(b, code)
	binary.LittleEndian.PutUint32(b[4:], number)
	return b
}

func (w *world) last() handlers.Response {
	require.NotEmpty(w.t, w.sent)
	r, err := handlers.Decode(w.sent[len(w.sent)-1])
	require.NoError(w.t, err)
	return r
}

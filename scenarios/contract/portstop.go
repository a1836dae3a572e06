package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

// portStopChecks are for NICs with more than one Ethernet port that can be paused.
var portStopChecks = []check{
	{"ports/one held, the other goes on", "T13 F4 T9 T10", stalled, onePortStopped},
	{"ports/one held, classes and queues that change ports", "T13 F4 T1 T10", calm, stoppedAndMixed},
}

// stop stops port 0 with a pause of so many cycles and gives the cycle in which the stop ends.
func (r *rig) stop(cycles int64) (end int64) {
	r.t.Helper()
	quanta := cycles / r.quantum()
	r.portCfg(nicspec.PortEntryFields{RxPause: 1})
	w := r.pauses()
	r.play(pauseFrame(nicspec.PauseOpcode, uint16(quanta)))
	r.until("the pause is there", func() bool { return len(w.ins) == 1 })
	r.frames = nil
	r.run(2 * nicspec.VisibleCycles)
	return w.ins[0] + quanta*r.quantum()
}

// toPort makes n entries that send frames of a port, with some among them that send nothing.
func (r *rig) toPort(port uint8, w []*window, n int, rng *rand.Rand) (all []nicspec.WqeFields) {
	r.t.Helper()
	for i := range n {
		e := r.cut(w, pattern(60+rng.IntN(1400), rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
		e.Port, e.FComplete = port, rng.IntN(2) > 0 || i == n-1
		switch rng.IntN(12) {
		case 0:
			e = nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
		case 1:
			e.Port = uint8(2 + i) // beyond the build
		}
		all = append(all, e)
	}
	return all
}

// stillStopped demands that the stop of port 0 has not ended, and that no frame left on that port in it.
func (r *rig) stillStopped(end int64) {
	r.t.Helper()
	require.Less(r.t, r.b.NIC.Cycles(), end, "the other port's frames have left before the stop ends")
	for _, s := range r.out {
		require.NotZero(r.t, s.port, "port of a frame of queue %d that left in the stop", s.queue)
	}
}

// onePortStopped stops port 0 while more entries wait for it than any buffer holds, in many queues; queues of port 1 go on, those
// that have been going and those that begin, and afterwards everything ends as posted.
func onePortStopped(r *rig) {
	const queues = 12
	going, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(24, 9))
	var stopped [queues]*txRing
	for i := range stopped {
		stopped[i] = r.openTx(4+i, 6)
	}
	y := r.openTx(2, 3)
	first := going.PI
	before := r.enqueue(going, r.toPort(1, w, 40, rng)...)
	r.tell(&going.ring)
	end := r.stop(60_000)
	var posts [queues][]posted
	for i, x := range stopped {
		posts[i] = r.enqueue(x, r.toPort(0, w, x.Size(), rng)...)
		r.tell(&x.ring)
	}
	r.ended(going, first, before)
	r.run(4000) // all places that there are for frames of port 0 are taken
	for range 3 {
		r.transmit(going, r.toPort(1, w, going.Size(), rng)...)
		r.transmit(y, r.toPort(1, w, 3*y.Size(), rng)...)
	}
	r.stillStopped(end)
	for i, x := range stopped {
		r.ended(x, 0, posts[i])
	}
	r.quiet()
	r.noFrames()
}

// stoppedAndMixed stops port 0 while queues have entries for both ports: what stands behind an entry for port 0 waits for it,
// and nothing else does.
func stoppedAndMixed(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(25, 9))
	end := r.stop(30_000)
	var mixed [4]*txRing
	var posts [4][]posted
	for i := range mixed {
		mixed[i] = r.openTx(3+i, 6)
		var all []nicspec.WqeFields
		for k := range 50 {
			all = append(all, r.toPort(uint8((k/(1+i)+i+1)%2), w, 1, rng)...)
		}
		posts[i] = r.enqueue(mixed[i], all...)
		r.tell(&mixed[i].ring)
	}
	for range 3 {
		r.transmit(x, r.toPort(1, w, x.Size(), rng)...)
	}
	r.stillStopped(end)
	for i, m := range mixed {
		r.ended(m, 0, posts[i])
	}
	r.quiet()
	r.noFrames()
}

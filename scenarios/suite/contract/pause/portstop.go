package pause

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// PortStopChecks are for NICs with more than one Ethernet port and flow control.
var PortStopChecks = []kit.Check{
	{Name: "ports/one held, the other goes on", Rules: "T13 F4 T9 T10", Stalls: kit.Stalled, Run: onePortStopped},
	{Name: "ports/one held, classes and queues that change ports", Rules: "T13 F4 T1 T10", Stalls: kit.Calm,
		Run: stoppedAndMixed},
	{Name: "ports/one held, entries that send nothing", Rules: "T13 F4 T3 T10", Stalls: kit.Calm, Run: nothingInAStop},
}

// stop stops port 0 by a pause frame for a number of cycles, and returns the cycle in which the stop ends.
func stop(r *kit.Rig, cycles int64) (end int64) {
	r.T.Helper()
	return stopOn(r, 0, cycles)
}

// stopOn stops a port by a pause frame, and returns the cycle in which the stop ends.
func stopOn(r *kit.Rig, port int, cycles int64) (end int64) {
	r.T.Helper()
	quanta := cycles / Quantum(r)
	PortCfgOf(r, port, nicspec.PortEntryFields{RxPause: 1})
	var came int64
	r.Frames = func(c boundary.Crossing) {
		if c.Kind == boundary.FrameIn && r.PortOf(c.Port) == port {
			came = c.Last
		}
	}
	r.PlayOn(port, pauseFrame(nicspec.PauseOpcode, uint16(quanta)))
	r.Until("the pause has come in", func() bool { return came > 0 })
	r.Frames = nil
	r.Run(2 * nicspec.VisibleCycles)
	return came + quanta*Quantum(r)
}

// toPort returns n entries for a port. Some of them fail and send nothing.
func toPort(r *kit.Rig, port uint8, w []*kit.Window, n int, rng *rand.Rand) (all []nicspec.WqeFields) {
	r.T.Helper()
	for i := range n {
		e := r.Cut(w, kit.Pattern(60+rng.IntN(1400), rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
		e.Port, e.FComplete = port, rng.IntN(2) > 0 || i == n-1
		switch rng.IntN(12) {
		case 0:
			e = nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: true}
		case 1:
			e.Port = uint8(2 + i) // a port that the build does not have
		}
		all = append(all, e)
	}
	return all
}

// stillStopped checks that the stop of port 0 has not ended, and that no frame has left on that
// port since it began.
func stillStopped(r *kit.Rig, end int64) {
	r.T.Helper()
	require.Less(r.T, r.Bed.NIC.Cycles(), end, "the other port's frames have left before the stop ends")
	for _, s := range r.Out {
		require.NotZero(r.T, s.Port, "port of a frame of queue %d that left in the stop", s.Queue)
	}
}

// onePortStopped stops port 0 while more entries wait for it than the device can buffer, in many queues. Queues of port
// 1 must not be delayed, whether they were busy before the stop or start in it. After the stop all entries must end.
func onePortStopped(r *kit.Rig) {
	const queues = 12
	going, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(24, 9))
	var stopped [queues]*kit.TxRing
	for i := range stopped {
		stopped[i] = r.OpenTx(4+i, 6)
	}
	y := r.OpenTx(2, 3)
	first := going.PI
	before := r.Enqueue(going, toPort(r, 1, w, 40, rng)...)
	r.RingDoorbell(&going.Ring)
	end := stop(r, 60_000)
	var posts [queues][]kit.Posted
	for i, x := range stopped {
		posts[i] = r.Enqueue(x, toPort(r, 0, w, x.Size(), rng)...)
		r.RingDoorbell(&x.Ring)
	}
	r.Ended(going, first, before)
	r.Run(4000) // until every buffer for frames of port 0 is full
	for range 3 {
		r.Transmit(going, toPort(r, 1, w, going.Size(), rng)...)
		r.Transmit(y, toPort(r, 1, w, 3*y.Size(), rng)...)
	}
	stillStopped(r, end)
	for i, x := range stopped {
		r.Ended(x, 0, posts[i])
	}
	r.Quiet()
	r.NoFrames()
}

// stoppedAndMixed stops port 0 while queues have entries for both ports. Entries behind one for port 0 must wait for
// it, and no others.
func stoppedAndMixed(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(25, 9))
	end := stop(r, 30_000)
	var mixed [4]*kit.TxRing
	var posts [4][]kit.Posted
	for i := range mixed {
		mixed[i] = r.OpenTx(3+i, 6)
		var all []nicspec.WqeFields
		for k := range 50 {
			all = append(all, toPort(r, uint8((k/(1+i)+i+1)%2), w, 1, rng)...)
		}
		posts[i] = r.Enqueue(mixed[i], all...)
		r.RingDoorbell(&mixed[i].Ring)
	}
	for range 3 {
		r.Transmit(x, toPort(r, 1, w, x.Size(), rng)...)
	}
	stillStopped(r, end)
	for i, m := range mixed {
		r.Ended(m, 0, posts[i])
	}
	r.Quiet()
	r.NoFrames()
}

// nothingInAStop stops each port in turn while more frames wait for it than the device can buffer. Entries that send
// nothing must end meanwhile: in a queue that has never sent, in one whose latest frame left on the stopped port, and
// in one that sends on the other port.
func nothingInAStop(r *kit.Rig) {
	const queues, each = 8, 40
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(26, 9))
	for port := range 2 {
		other := uint8(1 - port)
		first := 4 + 20*port // first of the queues that this iteration uses
		silent, sent, sends := r.OpenTx(first, 4), r.OpenTx(first+1, 4), r.OpenTx(first+2, 4)
		r.Transmit(sent, r.Sound(w[0], 1), r.Sound(w[1], 2))
		entry := r.Sound(w[0], 3)
		entry.Port = uint8(port)
		r.Transmit(sent, entry)
		end := stopOn(r, port, 50_000)
		var stopped [queues]*kit.TxRing
		var posts [queues][]kit.Posted
		for i := range stopped {
			stopped[i] = r.OpenTx(first+3+i, 6)
			posts[i] = r.Enqueue(stopped[i], toPort(r, uint8(port), w, stopped[i].Size(), rng)...)
			r.RingDoorbell(&stopped[i].Ring)
		}
		r.Run(4000) // until every buffer for frames of the port is full
		r.Transmit(silent, silentEntries(r, other, w, each, rng)...)
		r.Transmit(sent, silentEntries(r, other, w, each, rng)...)
		r.Transmit(sends, append(toPort(r, other, w, each, rng), silentEntries(r, other, w, each, rng)...)...)
		r.Transmit(x, toPort(r, other, w, each, rng)...)
		require.Less(r.T, r.Bed.NIC.Cycles(), end, "entries that do not name port %d have ended before its stop ends",
			port)
		for i, s := range stopped {
			r.Ended(s, 0, posts[i])
		}
		r.Quiet()
		r.NoFrames()
	}
}

// silentEntries returns n entries that send nothing: Nops, entries with an opcode or a port that does not
// exist, and frames for the given port that are too short.
func silentEntries(r *kit.Rig, port uint8, w []*kit.Window, n int, rng *rand.Rand) (all []nicspec.WqeFields) {
	r.T.Helper()
	for i := range n {
		e := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: rng.IntN(3) > 0 || i == n-1}
		switch rng.IntN(4) {
		case 0:
			e.Opcode = nicspec.Opcode(5 + rng.IntN(251))
		case 1:
			e = r.Sound(w[0], uint64(i))
			e.Port = uint8(2 + rng.IntN(254))
		case 2:
			e = r.Cut(w, kit.Pattern(nicspec.FrameMin-1, rng.Uint64()), 0, 1, rng)
			e.Port = port
		}
		all = append(all, e)
	}
	return all
}

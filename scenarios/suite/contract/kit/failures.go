package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
)

// Failure is a fault of a read, and the status that it causes; status Ok if the fault does no harm.
type Failure struct {
	Kind   inject.FaultKind
	Want   nicspec.Status
	Strays int // unexpected completions that it causes; 0: none, or depends on how the device splits reads
}

var Failures = []Failure{
	{inject.FaultUR, nicspec.StatusCplUnsupported, 0}, {inject.FaultCA, nicspec.StatusCplAbort, 0},
	{inject.FaultCRS, nicspec.StatusCplAbort, 0}, {inject.FaultReserved, nicspec.StatusCplAbort, 0},
	{inject.FaultWrongData, nicspec.StatusCplUnsupported, 0}, {inject.FaultPoison, nicspec.StatusCplPoison, 0},
	{inject.FaultByteCount, nicspec.StatusCplMalformed, 0}, {inject.FaultLowerAddr, nicspec.StatusCplMalformed, 0},
	{inject.FaultLong, nicspec.StatusCplMalformed, 0}, {inject.FaultNoData, nicspec.StatusCplMalformed, 0},
	{inject.FaultShort, nicspec.StatusCplTimeout, 0}, {inject.FaultSilent, nicspec.StatusCplTimeout, 0},
	{inject.FaultTwice, nicspec.StatusOk, 1}, {inject.FaultTag, nicspec.StatusCplTimeout, 1},
	{inject.FaultRequester, nicspec.StatusCplTimeout, 1},
	{inject.FaultPoisonedUR, nicspec.StatusCplUnsupported, 0}, {inject.FaultPoisonedCount, nicspec.StatusCplPoison, 0},
}

// Timeout is the CPL_TIMEOUT that checks set, the shortest possible.
const Timeout = 1024

// FailOnce makes one read in a range of n bytes fail, at its last completion, so that the number of completions does
// not matter.
func (r *Rig) FailOnce(kind inject.FaultKind, bus uint64, n int) {
	r.T.Helper()
	r.Bed.Faults.Clear()
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: kind, From: bus, To: bus + uint64(n), Count: 1, Nth: 99}))
}

// AwaitFault waits until an injected fault has hit a read.
func (r *Rig) AwaitFault() {
	r.T.Helper()
	r.Until("an injected fault hits", func() bool { return r.Bed.Faults.Hits() > 0 })
}

// Event waits for the next completion entry of a queue, and checks that it is an Event with this status and index.
func (r *Rig) Event(g *Ring, status nicspec.Status, first uint16) {
	r.T.Helper()
	phase := g.Phase(g.CQI)
	e := r.cqe(g, "an Event")
	want := nicspec.TxCqeFields{Type: nicspec.CqeTypeEvent, Status: status, Queue: uint16(g.Number), Index: first,
		Phase: phase}
	if field, exp, got, same := nicspec.DiffTxCqe(Encode(&want, nicspec.CqeBytes), e); !same {
		require.FailNow(r.T, "Event", "%s is %s, want %s", field, got, exp)
	}
}

// Counts returns the counter steps of a failing read.
func (f *Failure) Counts() Steps {
	s := Steps{}
	switch f.Want {
	case nicspec.StatusOk:
	case nicspec.StatusCplTimeout:
		s.With(DevCounter(nicspec.CntCplTimeouts), 1)
	default:
		s.With(DevCounter(nicspec.CntCplErr), 1)
	}
	return s.With(DevCounter(nicspec.CntCplUnexpected), f.Strays)
}

// FaultDelay returns a fault that delays the answers to reads in a range of n bytes.
func FaultDelay(r *Rig, bus uint64, n, cycles int) inject.Fault {
	return inject.Fault{From: bus, To: bus + uint64(n), Delay: r.Bed.Cycles(cycles)}
}

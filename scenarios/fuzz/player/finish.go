package player

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"nictwin/golden"
	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/program"
)

// reportCycles exceeds the delay, in cycles, that a device's quantum adds to its reports.
const reportCycles = 1024

// quiet waits until the device has handled everything that was sent to it and nothing happens any more.
func (x *player) quiet() error {
	if err := x.until("the frames are played", x.played); err != nil {
		return err
	}
	if x.arriving() {
		if err := x.until("the frames have come in", func() bool { return x.arrivedFrames == x.sent() }); err != nil {
			return err
		}
		// A bridged device reports frames up to two quanta late: continue at a cycle that does not depend on the
		// quantum.
		if err := x.run(int(max(0, x.lastIn+reportCycles-x.cycle()))); err != nil {
			return err
		}
	}
	if err := x.run(2 * nicspec.VisibleCycles); err != nil {
		return err
	}
	if err := x.idle(); err != nil {
		return err
	}
	if err := x.until("the endpoint is idle", x.b.Idle); err != nil {
		return err
	}
	if err := x.run(2 * nicspec.VisibleCycles); err != nil {
		return err
	}
	if err := x.idle(); err != nil {
		return err
	}
	return x.run(nicspec.VisibleCycles) // until the counters include the last event
}

// arriving reports whether played frames may still be on their way to the NIC, or into it, when the method quiet reads
// STATUS for the last time.
func (x *player) arriving() bool {
	taken := x.b.Engine.Now()
	for _, p := range x.b.Players {
		taken = max(taken, p.Taken())
	}
	return taken+board.FrameTime(x.b.Cable()) >= x.b.Engine.Now()+x.b.Cycles(4*nicspec.VisibleCycles)
}

// sent returns the number of frames sent to the NIC.
func (x *player) sent() (n int) {
	for _, p := range x.b.Players {
		n += p.Sent()
	}
	return n
}

func (x *player) played() bool {
	for _, p := range x.b.Players {
		if p.Sent() != p.Total() {
			return false
		}
	}
	return true
}

// idle waits until STATUS reports the device idle.
func (x *player) idle() error {
	return x.poll(nicspec.RegStatus, "STATUS says that nothing is under way", func(v uint32) bool { return v == 0 })
}

// drain lets all pending work end: it removes faults, enables receiving and sending, and rings the doorbells of all
// posted entries.
func (x *player) drain() error {
	x.b.Faults.Clear()
	if err := x.b.Arm.Write32(nicspec.RegCtrl, 3); err != nil {
		return err
	}
	if err := x.disableModerated(); err != nil {
		return err
	}
	for _, q := range sorted(x.rx) {
		if err := x.rx[q].ringPending(); err != nil {
			return err
		}
	}
	for _, q := range sorted(x.tx) {
		if err := x.tx[q].ringPending(); err != nil {
			return err
		}
	}
	if err := x.quiet(); err != nil {
		return err
	}
	if err := x.run(longestMod(x.prog)); err != nil { // STATUS does not show messages that fall due later [M5]
		return err
	}
	return x.busyFalls() // STATUS does not show pause frames that wait for the cable
}

// busyFalls waits until the busy pin is 0 [B8].
func (x *player) busyFalls() error {
	from := x.b.NIC.Cycles()
	return x.poll(nicspec.RegStatus, "the pin busy is 0 [B8]", func(uint32) bool { return x.idleAt > from })
}

// longMod is a moderation time in units of 64 cycles: the player does not wait for messages that may take longer.
const longMod = 100

// disableModerated disables the queues whose messages may take too long, which makes them due at once [M4].
func (x *player) disableModerated() error {
	late := func(m *program.Msix) bool { return m != nil && m.Cycles > longMod }
	for _, q := range sorted(x.rx) {
		if late(x.rx[q].cfg.Msix) {
			if err := x.disable(program.Queue{Queue: q}); err != nil {
				return err
			}
		}
	}
	for _, q := range sorted(x.tx) {
		if late(x.tx[q].cfg.Msix) {
			if err := x.disable(program.Queue{Tx: true, Queue: q}); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestMod returns the longest time for which a queue of the program may delay its messages, in cycles.
func longestMod(p *program.Program) (cycles int) {
	const late = 2048 // cycles that a message takes to leave the NIC once it is due, with stalls
	for i := range p.Ops {
		m := (*program.Msix)(nil)
		if q := p.Ops[i].RxQueue; q != nil {
			m = q.Msix
		} else if q := p.Ops[i].TxQueue; q != nil {
			m = q.Msix
		}
		if m != nil && m.Cycles > 0 && m.Cycles <= longMod {
			cycles = max(cycles, int(m.Cycles)*core.ModUnit+late)
		}
	}
	return cycles
}

// ringPending rings the doorbell for entries that were posted without one.
func (r *ring) ringPending() error {
	if r.rung == r.PI || r.event {
		return nil
	}
	return r.ringBell()
}

func sorted[V any](m map[int]V) []int {
	var all []int
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// readBack reads the contexts of the enabled queues, every counter and every rule's hits, for the referee to check.
func (x *player) readBack() error {
	for _, q := range sorted(x.rx) {
		if _, err := x.command(nicspec.TableOpRead, nicspec.TableRxq, q, nil); err != nil {
			return err
		}
	}
	for _, q := range sorted(x.tx) {
		if _, err := x.command(nicspec.TableOpRead, nicspec.TableTxq, q, nil); err != nil {
			return err
		}
	}
	for i := range x.sizes.NumRules {
		if err := x.readLater(nicspec.RegRuleHits(i), 8, func(uint64) {}); err != nil {
			return err
		}
	}
	for index := range nicspec.CountersOf(x.sizes.Ports) {
		c, p := nicspec.CounterAt(index)
		if err := x.readLater(nicspec.RegCounter(index), 8, func(v uint64) { x.watcher.counter(c, p, v) }); err != nil {
			return err
		}
	}
	return x.until("the counters are read", x.b.Idle)
}

// Verdict is the outcome of a program.
type Verdict struct {
	Report *golden.Report
	Err    error // why the run did not finish, or a fault seen by the driver or on the streams
	Cycles int64
	Sim    simcore.Ps // simulated time
	Build  string

	Patience int64 // limit of a wait on this board, in cycles
	Waited   int64 // longest wait that ended, in cycles
	stuck    bool  // the device missed a time limit before any other finding: later findings are consequences
}

// Pass reports whether the device kept the contract.
func (v *Verdict) Pass() bool { return v.Err == nil && v.Report != nil && v.Report.Passed() }

// Mismatch reports whether the failure is the device's fault. A panic is not, whatever was found before it.
func (v *Verdict) Mismatch() bool {
	var crash *CrashError
	return !v.Pass() && !errors.As(v.Err, &crash) && (v.Err == nil || isBreach(v.Err) || v.Found())
}

func (v *Verdict) Found() bool { return v.Report != nil && v.Report.Mismatches > 0 }

// streamError is a protocol violation that the harness saw on the pins.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }

// Unwrap returns the violation.
func (e *streamError) Unwrap() error { return e.err }

func isBreach(err error) bool {
	var breach *boundary.ContractError
	var stuck *StuckError
	var stream *streamError
	var stop *StoppedError
	return errors.As(err, &breach) || errors.As(err, &stuck) || errors.As(err, &stream) || errors.As(err, &stop)
}

// Key summarizes the failure: programs that fail in the same way have equal keys.
func (v *Verdict) Key() string {
	var stuck *StuckError
	switch {
	case v.Pass():
		return "pass"
	case v.stuck && errors.As(v.Err, &stuck):
		return stuck.Key()
	case v.Found():
		m := v.Report.List[0]
		return "[" + m.Rule + "] " + m.Field
	case v.Err != nil:
		if stop, ok := errors.AsType[*StoppedError](v.Err); ok {
			return stop.What // the time of the assertion does not matter
		}
		return v.Err.Error()
	}
	return v.Report.Reason
}

// Stuck reports whether the first failure is that the device missed a time limit.
func (v *Verdict) Stuck() bool { return v.stuck }

// Run plays a program on a NIC and counts in cov what the NIC was seen to do; cov may be nil.
func Run(p *program.Program, ctx context.Context, build Build, cov *coverage.Coverage) *Verdict {
	return RunWithin(p, ctx, build, cov, 0)
}

// RunWithin is Run with a shorter limit for every wait, in cycles; 0: the board's limit.
func RunWithin(p *program.Program, ctx context.Context, build Build, cov *coverage.Coverage, patience int64) *Verdict {
	v := new(Verdict)
	var x *player
	v.Err = guarded(func() (err error) {
		if x, err = newPlayer(p, build, cov); err != nil {
			return err
		}
		v.Patience = x.waits.patience
		x.waits.lower(patience)
		err = stoppedError(x.all(ctx))
		v.Waited = x.waits.longest
		x.done = true
		v.Build, v.Cycles = x.b.NIC.Build(), x.b.NIC.Cycles()
		v.Sim = x.b.Cycles(int(v.Cycles))
		if e := x.b.NIC.Check(); e != nil {
			err = errors.Join(err, &streamError{e})
		}
		v.stuck = errors.As(err, new(*StuckError)) && x.judge.Referee.Mismatches() == 0
		var stop *StoppedError
		switch {
		case err == nil:
			v.Report = x.judge.Finish(judge.Whole)
		case isBreach(err) && !errors.As(err, &stop): // a failed assertion explains anything that is missing
			v.Report = x.judge.Finish(judge.Stopped)
		default:
			v.Report = x.judge.Finish(judge.Broken)
		}
		return err
	})
	if x != nil {
		v.Err = cmp.Or(v.Err, x.b.Close())
	}
	return v
}

func (x *player) all(ctx context.Context) error {
	for i := range x.prog.Ops {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.play(&x.prog.Ops[i]); err != nil {
			return err
		}
		if x.judge.Referee.Mismatches() > 0 {
			return nil // later findings would only be consequences
		}
	}
	if err := x.drain(); err != nil {
		return err
	}
	if err := x.readBack(); err != nil {
		return err
	}
	return x.busyFalls()
}

var _ Build = testbed.New

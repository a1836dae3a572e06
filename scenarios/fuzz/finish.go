package fuzz

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"nictwin/golden"
	"nictwin/models/host"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
)

// quiet waits until everything that was sent to the device is done with, and nothing happens any more.
func (x *player) quiet() error {
	if err := x.until("the frames are played", x.played); err != nil {
		return err
	}
	if err := x.run(2 * nicspec.VisibleCycles); err != nil {
		return err
	}
	if err := x.idle(); err != nil {
		return err
	}
	if err := x.until("the endpoint is idle", x.root.Idle); err != nil {
		return err
	}
	if err := x.run(2 * nicspec.VisibleCycles); err != nil {
		return err
	}
	if err := x.idle(); err != nil {
		return err
	}
	return x.run(nicspec.VisibleCycles) // counters have been stepped
}

func (x *player) played() bool {
	for _, p := range x.b.Players {
		if p.Sent() != p.Total() {
			return false
		}
	}
	return true
}

// idle waits until STATUS says that the device is.
func (x *player) idle() error {
	for n := 0; n < patience; n += 2 * linkCycles {
		if v, err := x.read(nicspec.RegStatus); err != nil || v == 0 {
			return err
		}
	}
	return &StuckError{"STATUS says that nothing is under way"}
}

// drain lets everything come to its end: faults are over, and both directions are enabled.
func (x *player) drain() error {
	x.root.Faults.Clear()
	if err := x.root.WriteReg32(nicspec.RegCtrl, 3); err != nil {
		return err
	}
	for _, q := range sorted(x.rx) {
		if err := x.rx[q].last(); err != nil {
			return err
		}
	}
	for _, q := range sorted(x.tx) {
		if err := x.tx[q].last(); err != nil {
			return err
		}
	}
	if err := x.quiet(); err != nil {
		return err
	}
	return x.run(x.prog.longestMod()) // STATUS does not show messages that will be due [M5]
}

// longestMod is how long a message of a program may wait for its time, in cycles.
func (p *Program) longestMod() (cycles int) {
	const late = 2048 // and its way out, with stalls
	for i := range p.Ops {
		m := (*Msix)(nil)
		if q := p.Ops[i].RxQueue; q != nil {
			m = q.Msix
		} else if q := p.Ops[i].TxQueue; q != nil {
			m = q.Msix
		}
		if m != nil && m.Cycles > 0 {
			cycles = max(cycles, int(m.Cycles)*nic.ModUnit+late)
		}
	}
	return cycles
}

// last tells the device of what it was not told of yet.
func (r *ring) last() error {
	if r.rung == r.pi || r.event {
		return nil
	}
	return r.tell()
}

func sorted[V any](m map[int]V) []int {
	var all []int
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// readBack reads the entries of the queues that are enabled, every counter and every rule's hits, which the referee sees.
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
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		for p := range x.sizes.Ports {
			if !c.PerPort && p > 0 {
				break
			}
			index := c.Index + p*nicspec.CounterPortStride
			if err := x.readLater(nicspec.RegCounter(index), 8, func(v uint64) { x.see.counter(c, p, v) }); err != nil {
				return err
			}
		}
	}
	return x.until("the counters are read", x.root.Idle)
}

// Verdict is how a program came out.
type Verdict struct {
	Report *golden.Report
	Err    error // why it did not come to its end, or what the driver or the streams saw
	Cycles int64
	Build  string
}

// Pass tells whether the device did what the contract says.
func (v *Verdict) Pass() bool { return v.Err == nil && v.Report != nil && v.Report.Passed() }

// Mismatch tells whether what went wrong is the device's doing.
func (v *Verdict) Mismatch() bool { return !v.Pass() && (v.Err == nil || isBreach(v.Err) || v.found()) }

func (v *Verdict) found() bool { return v.Report != nil && v.Report.Mismatches > 0 }

// streamError is what the harness saw on the pins.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }

func isBreach(err error) bool {
	var breach *host.ContractError
	var stuck *StuckError
	var stream *streamError
	var crash *CrashError
	return errors.As(err, &crash) || errors.As(err, &breach) || errors.As(err, &stuck) || errors.As(err, &stream)
}

// Key says what went wrong in few words: programs that fail in the same way have the same.
func (v *Verdict) Key() string {
	switch {
	case v.Pass():
		return "pass"
	case v.found():
		m := v.Report.List[0]
		return "[" + m.Rule + "] " + m.Field
	case v.Err != nil:
		return v.Err.Error()
	}
	return v.Report.Reason
}

// Run plays a program on a NIC and counts in cov what it was seen to do; cov may be nil.
func (p *Program) Run(ctx context.Context, sizes nic.Spec, build Build, cov *Coverage) *Verdict {
	x, err := newPlayer(p, sizes, build, cov)
	if err != nil {
		return &Verdict{Err: err}
	}
	err = x.guarded(ctx)
	x.done = true
	v := &Verdict{Build: x.b.NIC.Build(), Cycles: x.b.NIC.Cycles()}
	if e := x.b.NIC.Check(); e != nil {
		err = errors.Join(err, &streamError{e})
	}
	var crash *CrashError
	switch {
	case errors.As(err, &crash): // the referee may be what is broken
	case err == nil || isBreach(err):
		v.Report = x.ref.Finish()
	default:
		v.Report = x.ref.BreakOff()
	}
	v.Err = cmp.Or(err, x.b.Close())
	return v
}

// CrashError is a panic of the Go NIC or of the referee, which a program must not lead to.
type CrashError struct {
	Value any
	Stack []byte
}

func (e *CrashError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// guarded plays all, and makes a panic an error, so that the program that leads to it is known.
func (x *player) guarded(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &CrashError{v, debug.Stack()}
		}
	}()
	return x.all(ctx)
}

func (x *player) all(ctx context.Context) error {
	for i := range x.prog.Ops {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.play(&x.prog.Ops[i]); err != nil {
			return err
		}
		if x.ref.Mismatches() > 0 {
			return nil // what follows would only tell of the consequences
		}
	}
	if err := x.drain(); err != nil {
		return err
	}
	return x.readBack()
}

var _ Build = board.New

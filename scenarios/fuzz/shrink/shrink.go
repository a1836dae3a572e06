package shrink

import (
	"context"
	"encoding/json"
	"slices"

	"nictwin/scenarios/delta"
	"nictwin/scenarios/fuzz/program"
)

// MaxTrials bounds the programs played to shrink one.
const MaxTrials = 600

// shrinker is a search in progress.
type shrinker struct {
	*delta.Search
	fails func(*program.Program) bool
	best  *program.Program
}

// Shrink returns a part of the program that still fails, and the number of programs played to find it. It leaves out
// operations, then parts of operations, then features of the board. Function `fails` plays a program and reports
// whether it fails as the original did.
func Shrink(ctx context.Context, p *program.Program, fails func(*program.Program) bool) (*program.Program, int) {
	s := &shrinker{Search: delta.New(ctx, MaxTrials), fails: fails, best: p}
	for s.More() {
		before := s.Trials()
		got := s.operations()
		got = s.lists() || got
		got = s.board() || got
		got = s.contents() || got
		if !got || s.Trials() == before {
			break
		}
	}
	return s.best, s.Trials()
}

// try plays a program and adopts it as the best if it fails, too.
func (s *shrinker) try(p *program.Program) bool {
	if !s.Try(func() bool { return s.fails(p) }) {
		return false
	}
	s.best = p
	return true
}

// operations leaves out operations.
func (s *shrinker) operations() bool {
	return delta.Cut(func() int { return len(s.best.Ops) }, func(from, to int) bool {
		p := *s.best
		p.Ops = slices.Concat(p.Ops[:from], p.Ops[to:])
		return s.try(&p)
	})
}

// lists leaves out frames and entries of an operation: first long runs of them, finally single ones.
func (s *shrinker) lists() bool {
	got := false
	for i := 0; i < len(s.best.Ops); i++ {
		got = delta.Cut(func() int { return items(&s.best.Ops[i]) }, func(from, to int) bool {
			o := clone(&s.best.Ops[i])
			return cut(o, from, to) && s.try(With(s.best, i, o))
		}) || got
	}
	return got
}

// items returns the number of frames or entries of an operation.
func items(o *program.Op) int {
	switch {
	case o.Play != nil:
		return len(o.Play.Frames)
	case o.Send != nil:
		return len(o.Send.Entries)
	}
	return 0
}

// cut removes the frames or entries of an operation from index `from` on, up to and without index `to`. If there are
// none, or if none would be left, it changes nothing and returns false.
func cut(o *program.Op, from, to int) bool {
	n := items(o)
	if to = min(to, n); from >= to || to-from == n {
		return false
	}
	if o.Play != nil {
		o.Play.Frames = slices.Delete(o.Play.Frames, from, to)
	} else {
		o.Send.Entries = slices.Delete(o.Send.Entries, from, to)
	}
	return true
}

// With returns the program with one operation replaced.
func With(p *program.Program, i int, o *program.Op) *program.Program {
	c := *p
	c.Ops = slices.Clone(p.Ops)
	c.Ops[i] = *o
	return &c
}

// board simplifies the board.
func (s *shrinker) board() bool {
	got := false
	for _, plain := range []func(*program.Board){
		func(b *program.Board) { b.Stall = 0 }, func(b *program.Board) { b.Jitter = 0 },
		func(b *program.Board) { b.Random = false },
		func(b *program.Board) { b.MPS = 4096 }, func(b *program.Board) { b.RCB = 64 },
		func(b *program.Board) { b.Delay = 0 }, func(b *program.Board) { b.Seed = 0 },
		func(b *program.Board) { b.HostAt, b.ArmAt = 0, 0 }, func(b *program.Board) { b.Credits = 0 },
	} {
		p := *s.best
		if plain(&p.Board); p.Board != s.best.Board {
			got = s.try(&p) || got
		}
	}
	return got
}

// contents replaces operations by smaller ones.
func (s *shrinker) contents() bool {
	got := false
	for i := 0; i < len(s.best.Ops); i++ {
		for k := 0; ; k++ {
			o, left := Less(&s.best.Ops[i], k)
			if !left {
				break
			}
			for o != nil && s.try(With(s.best, i, o)) { // repeat the same reduction as long as it helps
				got = true
				o, _ = Less(o, k)
			}
		}
	}
	return got
}

// Less returns an operation made smaller by its k-th reduction, nil if that changes nothing. left is false beyond the
// last reduction.
func Less(o *program.Op, k int) (*program.Op, bool) {
	all := Reductions(o)
	if k >= len(all) {
		return nil, false
	}
	c := clone(o)
	all[k](c)
	if same(o, c) {
		return nil, true
	}
	return c, true
}

func clone(o *program.Op) *program.Op {
	c := new(program.Op)
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return o // not reached: every operation can be converted to JSON and back
	}
	return c
}

func same(a, b *program.Op) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Reductions returns the ways to make an operation smaller.
func Reductions(o *program.Op) []func(*program.Op) {
	all := []func(*program.Op){func(o *program.Op) { o.Wait /= 2 }}
	switch {
	case o.Play != nil:
		for i := range o.Play.Frames {
			for _, f := range frameReductions {
				all = append(all, func(o *program.Op) { at(o.Play.Frames, i, f) })
			}
		}
	case o.Feed != nil:
		all = append(all, func(o *program.Op) { o.Feed.Times = max(1, o.Feed.Times/2) })
	case o.Gate != nil:
		all = append(all, func(o *program.Op) { o.Gate.Cycles = max(1, o.Gate.Cycles/2) })
	case o.Await != nil:
		all = append(all, func(o *program.Op) { o.Await.Queues = o.Await.Queues[:len(o.Await.Queues)/2] })
	case o.Send != nil:
		all = append(all, func(o *program.Op) { o.Send.Times /= 2 })
		for i := range o.Send.Entries {
			for _, f := range entryReductions {
				all = append(all, func(o *program.Op) { at(o.Send.Entries, i, f) })
			}
		}
	case o.Post != nil:
		all = append(all, func(o *program.Op) { o.Post.Count /= 2 },
			func(o *program.Op) { o.Post.Hdr, o.Post.Pay = program.Place{}, program.Place{} })
	case o.RxQueue != nil:
		all = append(all, func(o *program.Op) { o.RxQueue.Ring, o.RxQueue.Done = program.Place{}, program.Place{} },
			func(o *program.Op) { o.RxQueue.Split = 0 },
			func(o *program.Op) { o.RxQueue.Msix = nil }, func(o *program.Op) { o.RxQueue.Crc, o.RxQueue.Ecn = 0, 0 })
	case o.TxQueue != nil:
		all = append(all, func(o *program.Op) { o.TxQueue.Ring, o.TxQueue.Done = program.Place{}, program.Place{} },
			func(o *program.Op) { o.TxQueue.Msix = nil },
			func(o *program.Op) { o.TxQueue.Ecn, o.TxQueue.Class = 0, 0 })
	case o.Fault != nil:
		all = append(all, func(o *program.Op) { o.Fault.Skip /= 2 }, func(o *program.Op) { o.Fault.Nth /= 2 },
			func(o *program.Op) { o.Fault.Delay /= 2 }, func(o *program.Op) { o.Fault.Gap /= 2 })
	case o.Rule != nil:
		all = append(all, func(o *program.Op) { o.Rule.Match = nil }, func(o *program.Op) { o.Rule.Account = nil })
	case o.Key != nil:
		all = append(all, func(o *program.Op) { o.Key.Room /= 2 },
			func(o *program.Op) { o.Key.Place = program.Place{Host: o.Key.Place.Host, High: o.Key.Place.High} })
	case o.TLP != nil:
		all = append(all, func(o *program.Op) { o.TLP.Count /= 2 })
	}
	return all
}

func at[T any](list []T, i int, f func(*T)) {
	if i < len(list) {
		f(&list[i])
	}
}

var frameReductions = []func(*program.Frame){
	func(f *program.Frame) { f.Payload /= 2 },
	func(f *program.Frame) { f.Trailer, f.Flip = 0, nil },
	func(f *program.Frame) { f.Put = f.Put[:len(f.Put)/2] },
	func(f *program.Frame) { f.Raw = f.Raw[:len(f.Raw)/2] },
	func(f *program.Frame) { f.Tags, f.Options = nil, 0 },
	func(f *program.Frame) { f.IPBad, f.ICRCBad, f.UDPSum = false, false, 0 },
	func(f *program.Frame) { f.IPLen, f.UDPLen, f.IHL, f.Version, f.Frag = 0, 0, 0, 0, 0 },
	func(f *program.Frame) { f.Tos, f.Flags, f.PKey, f.QP, f.PSN, f.AckReq = 0, 0, 0, 0, 0, false },
	func(f *program.Frame) { f.Roce, f.Op, f.DataOff = false, 0, 0 },
	func(f *program.Frame) { f.Len = min(f.Len, max(60, f.Len/2)) },
}

var entryReductions = []func(*program.Entry){
	func(e *program.Entry) { // merges the last two pieces
		if n := len(e.Pieces); n > 1 && e.Opcode == 1 {
			e.Pieces[n-2].Len += e.Pieces[n-1].Len
			e.Pieces = e.Pieces[:n-1]
		}
	},
	func(e *program.Entry) {
		for i := range e.Pieces {
			e.Pieces[i].Len = max(min(e.Pieces[i].Len, 60), e.Pieces[i].Len/2)
		}
	},
	func(e *program.Entry) {
		for i := range e.Pieces {
			e.Pieces[i].Skew, e.Pieces[i].Page, e.Pieces[i].Old = 0, 0, false
		}
	},
	func(e *program.Entry) { e.Patch = nil },
	func(e *program.Entry) { e.Noise = program.NoiseNone },
	func(e *program.Entry) { e.IPCsum, e.UDPCsum, e.UDPZero = false, false, false },
	func(e *program.Entry) { e.ICRC = false },
	func(e *program.Entry) { e.CRC32C, e.CrcOff, e.CrcStart = false, 0, 0 },
	func(e *program.Entry) { e.Push, e.Pad = false, false },
}

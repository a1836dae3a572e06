package fuzz

import (
	"context"
	"encoding/json"
	"slices"
)

// maxTrials is how many programs are played at most to shrink one.
const maxTrials = 600

// shrinker makes a program smaller as long as it fails in the same way.
type shrinker struct {
	ctx    context.Context
	fails  func(*Program) bool
	best   *Program
	trials int
}

// Shrink returns a part of the program that still fails, and how many programs were played to find it: operations are
// left out, then what is in them, then what the board does. fails plays a program and tells whether it fails as the first
// one did.
func Shrink(ctx context.Context, p *Program, fails func(*Program) bool) (*Program, int) {
	s := &shrinker{ctx: ctx, fails: fails, best: p}
	for s.more() {
		before := s.trials
		got := s.operations()
		got = s.lists() || got
		got = s.board() || got
		got = s.contents() || got
		if !got || s.trials == before {
			break
		}
	}
	return s.best, s.trials
}

func (s *shrinker) more() bool { return s.trials < maxTrials && s.ctx.Err() == nil }

// try takes a program over if it fails, too.
func (s *shrinker) try(p *Program) bool {
	if !s.more() {
		return false
	}
	s.trials++
	if !s.fails(p) {
		return false
	}
	s.best = p
	return true
}

// operations leaves operations out: long runs of them first, single ones in the end.
func (s *shrinker) operations() bool {
	got := false
	for n := max(1, len(s.best.Ops)/2); n > 0; n /= 2 {
		for at := len(s.best.Ops) - n; at > -n; at -= n {
			p := *s.best
			from, to := max(at, 0), min(at+n, len(p.Ops))
			if from >= to {
				continue
			}
			p.Ops = slices.Concat(p.Ops[:from], p.Ops[to:])
			got = s.try(&p) || got
		}
	}
	return got
}

// lists leaves frames and entries out, in the same way.
func (s *shrinker) lists() bool {
	got := false
	for i := 0; i < len(s.best.Ops); i++ {
		for n := max(1, s.best.Ops[i].items()/2); n > 0; n /= 2 {
			for at := s.best.Ops[i].items() - n; at > -n; at -= n {
				o := clone(&s.best.Ops[i])
				if !o.cut(max(at, 0), at+n) {
					continue
				}
				got = s.try(s.best.with(i, o)) || got
			}
		}
	}
	return got
}

// items is how many frames or entries an operation has.
func (o *Op) items() int {
	switch {
	case o.Play != nil:
		return len(o.Play.Frames)
	case o.Send != nil:
		return len(o.Send.Entries)
	}
	return 0
}

// cut takes some of them out, and tells whether any are left, and any were there.
func (o *Op) cut(from, to int) bool {
	n := o.items()
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

// with is the program with another operation in one place.
func (p *Program) with(i int, o *Op) *Program {
	c := *p
	c.Ops = slices.Clone(p.Ops)
	c.Ops[i] = *o
	return &c
}

// board makes the surroundings plain.
func (s *shrinker) board() bool {
	got := false
	for _, plain := range []func(*Board){
		func(b *Board) { b.Stall = 0 }, func(b *Board) { b.Jitter = 0 }, func(b *Board) { b.Random = false },
		func(b *Board) { b.MPS = 4096 }, func(b *Board) { b.RCB = 64 }, func(b *Board) { b.Delay = 0 }, func(b *Board) { b.Seed = 0 },
		func(b *Board) { b.HostAt, b.ArmAt = 0, 0 },
	} {
		p := *s.best
		if plain(&p.Board); p.Board != s.best.Board {
			got = s.try(&p) || got
		}
	}
	return got
}

// contents makes what is in the operations less.
func (s *shrinker) contents() bool {
	got := false
	for i := 0; i < len(s.best.Ops); i++ {
		for k := 0; ; k++ {
			o, left := less(&s.best.Ops[i], k)
			if !left {
				break
			}
			for o != nil && s.try(s.best.with(i, o)) { // the same again, as long as it helps
				got = true
				o, _ = less(o, k)
			}
		}
	}
	return got
}

// less is an operation made smaller by its k-th reduction: nil when that changes nothing. left is false beyond the last.
func less(o *Op, k int) (*Op, bool) {
	all := reductions(o)
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

func clone(o *Op) *Op {
	c := new(Op)
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return o // every operation was read from, or can be written to, a file
	}
	return c
}

func same(a, b *Op) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// reductions are the ways in which an operation can be made smaller.
func reductions(o *Op) []func(*Op) {
	all := []func(*Op){func(o *Op) { o.Wait /= 2 }}
	switch {
	case o.Play != nil:
		for i := range o.Play.Frames {
			for _, f := range frameReductions {
				all = append(all, func(o *Op) { at(o.Play.Frames, i, f) })
			}
		}
	case o.Send != nil:
		for i := range o.Send.Entries {
			for _, f := range entryReductions {
				all = append(all, func(o *Op) { at(o.Send.Entries, i, f) })
			}
		}
	case o.Post != nil:
		all = append(all, func(o *Op) { o.Post.Count /= 2 }, func(o *Op) { o.Post.Hdr, o.Post.Pay = Place{}, Place{} })
	case o.RxQueue != nil:
		all = append(all, func(o *Op) { o.RxQueue.Ring, o.RxQueue.Done = Place{}, Place{} }, func(o *Op) { o.RxQueue.Split = 0 },
			func(o *Op) { o.RxQueue.Msix = nil }, func(o *Op) { o.RxQueue.Crc, o.RxQueue.Ecn = 0, 0 })
	case o.TxQueue != nil:
		all = append(all, func(o *Op) { o.TxQueue.Ring, o.TxQueue.Done = Place{}, Place{} }, func(o *Op) { o.TxQueue.Msix = nil },
			func(o *Op) { o.TxQueue.Ecn, o.TxQueue.Class = 0, 0 })
	case o.Fault != nil:
		all = append(all, func(o *Op) { o.Fault.Skip /= 2 }, func(o *Op) { o.Fault.Nth /= 2 },
			func(o *Op) { o.Fault.Delay /= 2 }, func(o *Op) { o.Fault.Gap /= 2 })
	case o.Rule != nil:
		all = append(all, func(o *Op) { o.Rule.Match = nil }, func(o *Op) { o.Rule.Account = nil })
	case o.Key != nil:
		all = append(all, func(o *Op) { o.Key.Room /= 2 }, func(o *Op) { o.Key.Place = Place{Host: o.Key.Place.Host, High: o.Key.Place.High} })
	case o.TLP != nil:
		all = append(all, func(o *Op) { o.TLP.Count /= 2 })
	}
	return all
}

func at[T any](list []T, i int, f func(*T)) {
	if i < len(list) {
		f(&list[i])
	}
}

var frameReductions = []func(*Frame){
	func(f *Frame) { f.Payload /= 2 },
	func(f *Frame) { f.Trailer, f.Flip = 0, nil },
	func(f *Frame) { f.Put = f.Put[:len(f.Put)/2] },
	func(f *Frame) { f.Raw = f.Raw[:len(f.Raw)/2] },
	func(f *Frame) { f.Tags, f.Options = nil, 0 },
	func(f *Frame) { f.IPBad, f.ICRCBad, f.UDPSum = false, false, 0 },
	func(f *Frame) { f.IPLen, f.UDPLen, f.IHL, f.Version, f.Frag = 0, 0, 0, 0, 0 },
	func(f *Frame) { f.Tos, f.Flags, f.PKey, f.QP, f.PSN, f.AckReq = 0, 0, 0, 0, 0, false },
	func(f *Frame) { f.Roce, f.Op, f.DataOff = false, 0, 0 },
	func(f *Frame) { f.Len = min(f.Len, max(60, f.Len/2)) },
}

var entryReductions = []func(*Entry){
	func(e *Entry) { // the last two pieces become one
		if n := len(e.Pieces); n > 1 && e.Opcode == 1 {
			e.Pieces[n-2].Len += e.Pieces[n-1].Len
			e.Pieces = e.Pieces[:n-1]
		}
	},
	func(e *Entry) {
		for i := range e.Pieces {
			e.Pieces[i].Len = max(min(e.Pieces[i].Len, 60), e.Pieces[i].Len/2)
		}
	},
	func(e *Entry) {
		for i := range e.Pieces {
			e.Pieces[i].Skew, e.Pieces[i].Page, e.Pieces[i].Old = 0, 0, false
		}
	},
	func(e *Entry) { e.Patch = nil },
	func(e *Entry) { e.Noise = NoiseNone },
	func(e *Entry) { e.IPCsum, e.UDPCsum, e.UDPZero = false, false, false },
	func(e *Entry) { e.ICRC = false },
	func(e *Entry) { e.CRC32C, e.CrcOff, e.CrcStart = false, 0, 0 },
	func(e *Entry) { e.Push, e.Pad = false, false },
}

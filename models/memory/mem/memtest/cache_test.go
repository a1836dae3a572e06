package memtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/memory/mem"
	_ "nictwin/models/sim/fixedseed"
)

// writeBack is an unbounded cache in front of a memory. It can break one rule of the protocol.
type writeBack struct {
	*mem.Sparse
	how   string
	dirty map[uint64]byte
}

func (w *writeBack) Check(op mem.Op, addr uint64, n int) error {
	if w.how == "check passes all" {
		return nil
	}
	return w.Sparse.Check(op, addr, n)
}

func (w *writeBack) Access(a *mem.Access) {
	if err := w.Sparse.Check(a.Op, a.Addr, a.Len()); err != nil {
		a.Finish(err)
		return
	}
	switch a.Op {
	case mem.Write:
		for i, v := range a.Data {
			w.dirty[a.Addr+uint64(i)] = v
		}
	case mem.Read:
		w.peek(a.Addr, a.Data)
	default:
		w.lines(a)
	}
	a.Finish(nil)
}

func (w *writeBack) peek(addr uint64, b []byte) {
	w.Read(addr, b)
	for i := range b {
		if v, ok := w.dirty[addr+uint64(i)]; ok {
			b[i] = v
		}
	}
}

// lines cleans or invalidates the lines of an access.
func (w *writeBack) lines(a *mem.Access) {
	if a.Span == 0 || w.how == "clean does nothing" && a.Op == mem.Clean {
		return
	}
	from, to := a.Addr&^(mem.LineBytes-1), (a.Addr+uint64(a.Span)-1)|(mem.LineBytes-1)
	switch {
	case w.how == "clean of the first line" && a.Op == mem.Clean:
		to = from | (mem.LineBytes - 1)
	case w.how == "invalidate of the next line" && a.Op == mem.Invalidate:
		to += mem.LineBytes
	}
	for addr, v := range w.dirty {
		if addr < from || addr > to {
			continue
		}
		if a.Op == mem.Clean || w.how == "invalidate with write-back" {
			w.Write(addr, []byte{v})
		}
		delete(w.dirty, addr)
	}
}

// The contract test must accept everything that Clean and Invalidate may do, and find what they
// must not do.
func TestContractFindsBrokenCaches(t *testing.T) {
	wantErrs := map[string]string{
		"": "", "invalidate with write-back": "", "clean does nothing": "was not in that time",
		"clean of the first line":     "was not in that time",
		"invalidate of the next line": "not seen there", "check passes all": "want a *mem.RangeError",
	}
	for how, wantErr := range wantErrs {
		var wrong error
		for seed := 0; seed < 400 && wrong == nil; seed++ {
			w := &writeBack{Sparse: mem.NewSparse(1 << 12), how: how, dirty: map[uint64]byte{}}
			bench := &Bench{Target: w, Size: w.Size(), Ends: true, Nowhere: []uint64{1 << 40}, Window: 320,
				Peek: func(addr uint64, data []byte) error { w.peek(addr, data); return nil }}
			ops := rapid.Custom(func(t *rapid.T) []op { return drawOps(t, bench) }).Example(seed)
			wrong = newPlay(bench).run(ops)
		}
		if wantErr == "" {
			require.NoError(t, wrong, how)
			continue
		}
		require.ErrorContains(t, wrong, wantErr, how)
	}
}

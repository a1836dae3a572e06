package memtest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/memory/mem"
	_ "nictwin/models/sim/fixedseed"
)

// broken is a memory that breaks one rule of the protocol.
type broken struct {
	*mem.Sparse
	how   string
	n     int
	later []func()
}

func (b *broken) step() (bool, error) {
	if len(b.later) > 0 {
		b.later[0]()
		b.later = b.later[1:]
	}
	return len(b.later) > 0, nil
}

func (b *broken) Access(a *mem.Access) {
	b.n++
	switch {
	case b.how == "done twice" && b.n%5 == 0:
		done := a.Done
		a.Done = func(a *mem.Access) { done(a); done(a) }
	case b.how == "never done" && a.Op == mem.Read && b.n%3 == 0:
		return
	case b.how == "another access":
		other, done := *a, a.Done
		other.Done = func(*mem.Access) { done(&other) }
		b.Sparse.Access(&other)
		return
	case b.how == "late write" && a.Op == mem.Write:
		b.later = append(b.later, func() { b.Sparse.Access(a) }) // reads overtake this write
		return
	case b.how == "early done" && a.Op == mem.Write && b.Has(a.Addr, len(a.Data)):
		data := append([]byte(nil), a.Data...)
		b.later = append(b.later, func() { b.Write(a.Addr, data) })
		a.Finish(nil)
		return
	case b.how == "writes swapped" && a.Op == mem.Write:
		b.later = append([]func(){func() { b.Sparse.Access(a) }}, b.later...)
		return
	case b.how == "any error" && !b.Has(a.Addr, len(a.Data)):
		a.Finish(errors.New("no"))
		return
	case b.how == "no error" && !b.Has(a.Addr, len(a.Data)):
		a.Finish(nil)
		return
	case b.how == "false address" && !b.Has(a.Addr, len(a.Data)):
		a.Finish(&mem.RangeError{Op: a.Op, Addr: a.Addr + 1, Len: len(a.Data)})
		return
	case b.how == "afraid of the end" && b.Size() == a.Addr+uint64(len(a.Data)):
		a.Finish(&mem.RangeError{Op: a.Op, Addr: a.Addr, Len: len(a.Data)})
		return
	case b.how == "flipped bit" && a.Op == mem.Read && b.n%7 == 0 && len(a.Data) > 0:
		done := a.Done
		a.Done = func(a *mem.Access) { a.Data[len(a.Data)-1] ^= 0x80; done(a) }
	}
	b.Sparse.Access(a)
}

// The contract test must find each of the rules that a memory breaks.
func TestContractFindsBrokenMemories(t *testing.T) {
	wantErrs := map[string]string{
		"": "", "done twice": "done 2 times", "never done": "not done", "another access": "with another access",
		"late write": "was not in that time", "early done": "not seen there", "writes swapped": "not seen there",
		"any error": "want a *mem.RangeError", "no error": "want a *mem.RangeError",
		"false address":     "speaks of another access",
		"afraid of the end": "lies inside memory", "flipped bit": "was not in that time",
	}
	for how, wantErr := range wantErrs {
		var wrong error
		for seed := 0; seed < 40 && wrong == nil; seed++ {
			b := &broken{Sparse: mem.NewSparse(1 << 12), how: how}
			bench := &Bench{Target: b, Step: b.step, Size: b.Size(), Ends: true, Nowhere: []uint64{1 << 40},
				Peek: func(addr uint64, data []byte) error { b.Read(addr, data); return nil }}
			ops := rapid.Custom(func(t *rapid.T) []op { return drawOps(t, bench) }).Example(seed)
			wrong = newPlay(bench).run(ops)
		}
		if how == "" {
			require.NoError(t, wrong)
			continue
		}
		require.ErrorContains(t, wrong, wantErr, how)
	}
}

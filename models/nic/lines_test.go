package nic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// lineWatch counts, for each of the 64 B lines from base on, the requests of a kind that cover any
// of its bytes.
type lineWatch struct {
	kind  tlp.Kind
	base  uint64
	lines []int
}

func (w *lineWatch) see(x boundary.Crossing) {
	if x.Kind != boundary.TLPOut {
		return
	}
	h := x.TLP.Parsed()
	if h.Kind != w.kind || h.Address < w.base || h.Address >= w.base+uint64(len(w.lines))*nicspec.LineBytes {
		return
	}
	first := h.Address - w.base
	last := first + uint64(h.Length)*tlp.DWBytes - 1
	for l := first / nicspec.LineBytes; l <= last/nicspec.LineBytes; l++ {
		w.lines[l]++
	}
}

// TestCopiesKeepLinesWhole: if source and destination are equal modulo 64, every line that lies
// wholly in a copy is read by one request and written by one [D2].
func TestCopiesKeepLinesWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	const span = 1 << 15
	src := nictest.Pattern(span, 9)
	for i := range 60 {
		o := defaultRig()
		o.quiet = true
		r := openedCopy(t, o)
		h := r.host
		h.Write(srcBus, src)
		var devctl nicspec.DevctlReg
		devctl.SetMps(uint32(i % 3))
		devctl.SetMrrs(uint32(rng.IntN(6)))
		h.Write32(nicspec.RegDevctl, uint32(devctl))
		h.OpenTx(1, 4)
		n := 1 + rng.IntN(9000)
		from, to := rng.IntN(span-n-64), rng.IntN(span-n-64)
		to = to&^63 | from&63
		reads, writes := lineWatch{tlp.MRd, srcBus, make([]int, span/64)},
			lineWatch{tlp.MWr, dstBus, make([]int, span/64)}
		r.trace = func(x boundary.Crossing) { reads.see(x); writes.see(x) }
		h.PostWqe(1, copyWqe(nicspec.OpcodeCopy, 1, nictest.Piece{Key: copySrc, Addr: uint64(from), N: n},
			nictest.Piece{Key: copyDst, Addr: uint64(to), N: n}))
		h.RingTx(1)
		r.idle()
		require.Equal(t, src[from:from+n], h.Bytes(dstBus+uint64(to), n))
		for _, c := range []struct {
			at int
			w  *lineWatch
		}{{from, &reads}, {to, &writes}} {
			for l := (c.at + 63) / 64; (l+1)*64 <= c.at+n; l++ {
				require.Equal(t, 1, c.w.lines[l], "%v of line %d of a copy of %d B from %#x to %#x, %v", c.w.kind, l, n,
					from, to, devctl)
			}
		}
	}
}

// TestFence: no write of a fenced copy leaves before all writes and messages of earlier entries
// [D10].
func TestFence(t *testing.T) {
	r := openedCopy(t, defaultRig())
	h := r.host
	h.OpenTx(1, 4)
	var order []string
	r.trace = func(x boundary.Crossing) {
		if x.Kind != boundary.TLPOut {
			return
		}
		switch h := x.TLP.Parsed(); {
		case h.Kind == tlp.MsgD:
			order = append(order, "message")
		case h.Kind == tlp.MWr && h.Address >= dstBus && h.Address < dstBus+1<<26:
			if s := fmt.Sprint((h.Address - dstBus) >> 20); len(order) == 0 || order[len(order)-1] != s {
				order = append(order, s)
			}
		}
	}
	fence := func(raw []byte) []byte {
		nicspec.Wqe(raw).SetFFence(true)
		return raw
	}
	to := func(i uint64, n int) []nictest.Piece {
		return []nictest.Piece{{Key: copySrc, Addr: 0, N: n}, {Key: copyDst, Addr: i << 20, N: n}}
	}
	h.PostWqe(1, copyWqe(nicspec.OpcodeCopy, 1, to(0, 50000)...))
	h.PostWqe(1, fence(copyWqe(nicspec.OpcodeCopy, 2, to(1, 8)...)))
	h.PostWqe(1, copyWqe(nicspec.OpcodeCopyInvalidate, 3, to(2, 20032)...))
	h.PostWqe(1, fence(copyWqe(nicspec.OpcodeCopyInvalidate, 4, to(3, 64)...)))
	h.RingTx(1)
	r.idle()
	h.endsWith(1, 0, 0, 0, 0)
	require.Equal(t, []string{"0", "1", "2", "message", "3", "message"}, order)

	o := defaultRig()
	o.spec.Parts &^= nicspec.PartFence
	r = openedCopy(t, o)
	r.host.OpenTx(1, 4)
	r.host.PostWqe(1, fence(copyWqe(nicspec.OpcodeCopy, 2, to(1, 8)...)))
	r.host.RingTx(1)
	r.idle()
	r.host.endsWith(1, nicspec.StatusBadFormat)
}

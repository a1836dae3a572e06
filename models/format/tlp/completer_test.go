package tlp

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pattern is a memory in which each byte is a function of its address.
func pattern(addr uint64, dst []byte) error {
	for i := range dst {
		dst[i] = patternAt(addr + uint64(i))
	}
	return nil
}

func patternAt(addr uint64) byte { return byte(addr*0x9e3779b1>>7) | 1 } // never 0, which is the padding

func newTestCompleter(t require.TestingT, l Limits, p CplPolicy, seed uint64) *Completer {
	c, err := NewCompleter(0x0100, l, p, seed)
	require.NoError(t, err)
	return c
}

// TestReadSplitCompletedReassembled: reads that are split, completed at random and interleaved over
// several tags return the memory's bytes, and the monitor reports nothing.
func TestReadSplitCompletedReassembled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, addr := drawLimits(t), drawAddr(t)
		n := rapid.IntRange(0, 9000).Draw(t, "n")
		policy := CplPolicy(rapid.IntRange(0, int(numPolicies)-1).Draw(t, "policy"))
		c := newTestCompleter(t, l, policy, rapid.Uint64().Draw(t, "seed"))
		m := newTestMonitor(t, func(cfg *MonitorConfig) {
			cfg.Limits, cfg.DeviceID, cfg.CheckDeviceID = l, nicOrigin.RequesterID, true
		})
		align := rapid.SampledFrom([]Align{Unaligned, Aligned}).Draw(t, "align")
		pending, replies := sendReads(t, m, c, SplitRead(addr, n, l.MRRS, align))
		got := make([]byte, n)
		var p Packet
		for live := len(replies); live > 0; {
			i := rapid.IntRange(0, len(replies)-1).Draw(t, "tag")
			if !replies[i].More() {
				continue
			}
			require.NoError(t, replies[i].Fill(&p, pattern))
			require.Empty(t, m.Check(ToDevice, 2, &p))
			h, err := p.Header()
			require.NoError(t, err)
			at, b, err := pending[i].Take(&h, p.Data)
			require.NoError(t, err)
			require.Equal(t, len(p.Data)-len(b), bytes.Count(p.Data, []byte{0}), "padding, and only padding, is zero")
			if len(b) > 0 {
				copy(got[at-addr:], b)
			}
			require.Equal(t, replies[i].More(), !pending[i].Done())
			if !replies[i].More() {
				live--
			}
		}
		for i, b := range got {
			require.Equal(t, patternAt(addr+uint64(i)), b, "byte %d", i)
		}
		require.Empty(t, m.End())
	})
}

func sendReads(t *rapid.T, m *Monitor, c *Completer, s Split) (pending []Pending, replies []Reply) {
	var p Packet
	for piece, ok := s.Next(); ok; piece, ok = s.Next() {
		require.NoError(t, p.SetMemRead(nicOrigin, uint8(len(pending)), piece.Addr, piece.Len))
		require.Empty(t, m.Check(FromDevice, 1, &p))
		h, err := p.Header()
		require.NoError(t, err)
		r, err := c.Begin(&h)
		require.NoError(t, err)
		pending, replies = append(pending, NewPending(&h)), append(replies, r)
	}
	return pending, replies
}

// answer calls emit with each completion of a read.
func answer(c *Completer, req *Header, read ReadFunc, emit func(*Packet)) error {
	r, err := c.Begin(req)
	if err != nil {
		return err
	}
	for r.More() {
		p := new(Packet)
		if err := r.Fill(p, read); err != nil {
			return err
		}
		emit(p)
	}
	return nil
}

func TestCompleterPolicies(t *testing.T) {
	l := Limits{MPS: 256, MRRS: 512, RCB: 64}
	req, err := NewMemRead(Origin{RequesterID: 0x0200, TC: 2, Attr: NoSnoop}, 9, 0x1021, 400)
	require.NoError(t, err)
	h, _ := req.Header()
	sizes := func(c *Completer) (ns []int) {
		left := 400
		require.NoError(t, answer(c, &h, pattern, func(p *Packet) {
			ch, err := p.Header()
			require.NoError(t, err)
			require.Equal(t, left, int(ch.ByteCount))
			require.Equal(t, Header{Kind: CplD, TC: 2, Attr: NoSnoop, Length: ch.Length, RequesterID: 0x0200, Tag: 9,
				CompleterID: 0x0100, ByteCount: ch.ByteCount, LowerAddr: ch.LowerAddr}, ch)
			n := min(len(p.Data)-int(ch.LowerAddr&3), left)
			left -= n
			ns = append(ns, n)
		}))
		require.Zero(t, left)
		return ns
	}
	require.Equal(t, []int{223, 177}, sizes(newTestCompleter(t, l, CplLongest, 0)))
	require.Equal(t, []int{31, 64, 64, 64, 64, 64, 49}, sizes(newTestCompleter(t, l, CplEachRCB, 0)))
	l.RCB = 128
	require.Equal(t, []int{95, 128, 128, 49}, sizes(newTestCompleter(t, l, CplEachRCB, 0)))
	a, b := newTestCompleter(t, l, CplRandom, 5), newTestCompleter(t, l, CplRandom, 5)
	seen := map[string]bool{}
	for range 20 {
		s := sizes(a)
		require.Equal(t, s, sizes(b), "same seed, same splits")
		seen[fmt.Sprint(s)] = true
	}
	require.Greater(t, len(seen), 1, "a seed draws more than one way to split")
}

// failSecond returns a memory that fails with the given error in the second completion of the reads
// tested below.
func failSecond(why error) ReadFunc {
	return func(addr uint64, dst []byte) error {
		if addr == 0x10c0 {
			return fmt.Errorf("at %#x: %w", addr, why)
		}
		return pattern(addr, dst)
	}
}

func TestCompleterStatuses(t *testing.T) {
	c := newTestCompleter(t, Limits{MPS: 128, MRRS: 512, RCB: 64}, CplLongest, 0)
	req, _ := NewMemRead(nicOrigin, 9, 0x1040, 200)
	h, _ := req.Header()
	for _, v := range []struct {
		why    error
		status Status
	}{{ErrUnsupported, StatusUR}, {ErrAborted, StatusCA}} {
		m := newTestMonitor(t, nil)
		require.Empty(t, m.Check(FromDevice, 0, req))
		pend := NewPending(&h)
		var got []Header
		var last error
		require.NoError(t, answer(c, &h, failSecond(v.why), func(p *Packet) {
			require.Empty(t, m.Check(ToDevice, 1, p))
			ch, _ := p.Header()
			got = append(got, ch)
			_, _, last = pend.Take(&ch, p.Data)
		}))
		require.Len(t, got, 2)
		require.Equal(t, Header{Kind: Cpl, Status: v.status, RequesterID: 0x0200, Tag: 9, CompleterID: 0x0100,
			ByteCount: 72, LowerAddr: 0x40}, got[1])
		var ce *CompletionError
		require.ErrorAs(t, last, &ce)
		require.Equal(t, v.status, ce.Status)
		require.True(t, pend.Done())
		require.Empty(t, m.End())
	}
}

func TestCompleterPoisonAndRefusal(t *testing.T) {
	c := newTestCompleter(t, Limits{MPS: 128, MRRS: 512, RCB: 64}, CplLongest, 0)
	req, _ := NewMemRead(nicOrigin, 9, 0x1040, 200)
	h, _ := req.Header()
	var p Packet
	r, err := c.Begin(&h)
	require.NoError(t, err)
	require.NoError(t, r.Fill(&p, failSecond(ErrPoisoned)))
	require.NoError(t, r.Fill(&p, failSecond(ErrPoisoned)))
	ch, _ := p.Header()
	require.True(t, ch.EP)
	require.False(t, r.More())
	require.Panics(t, func() { _ = r.Fill(&p, pattern) })
	require.Panics(t, func() { _ = r.Refuse(&p, StatusUR) })

	other := errors.New("the memory model is broken")
	require.ErrorIs(t, answer(c, &h, failSecond(other), func(*Packet) {}), other)
	r, _ = c.Begin(&h)
	require.ErrorContains(t, r.Refuse(&p, StatusSC), "want UR or CA")
	require.NoError(t, r.Refuse(&p, StatusUR))
	ch, _ = p.Header()
	require.Equal(t, "Cpl UR bc=200 la=0x40 req=02:00.0 tag=0x09 cpl=01:00.0", ch.String())

	w, _ := NewMemWrite(nicOrigin, 0, []byte{1})
	h, _ = w.Header()
	_, err = c.Begin(&h)
	require.ErrorContains(t, err, "MWr")
	require.Error(t, answer(c, &h, pattern, nil))
	_, err = NewCompleter(0, DefaultLimits(), numPolicies, 0)
	require.ErrorContains(t, err, "policy")
	_, err = NewCompleter(0, Limits{}, CplLongest, 0)
	require.ErrorContains(t, err, "mps 0: want")
}

func TestZeroLengthReadIsAnsweredWithOneDW(t *testing.T) {
	c := newTestCompleter(t, DefaultLimits(), CplEachRCB, 0)
	req, _ := NewMemRead(nicOrigin, 1, 0x1044, 0)
	h, _ := req.Header()
	m := newTestMonitor(t, nil)
	require.Empty(t, m.Check(FromDevice, 0, req))
	pend := NewPending(&h)
	n := 0
	require.NoError(t, answer(c, &h, func(uint64, []byte) error { return ErrAborted }, func(p *Packet) {
		n++
		require.Empty(t, m.Check(ToDevice, 0, p))
		ch, _ := p.Header()
		require.Equal(t, "CplD SC len=1DW bc=1 la=0x44 req=02:00.0 tag=0x01 cpl=01:00.0", ch.String())
		_, b, err := pend.Take(&ch, p.Data)
		require.NoError(t, err)
		require.Empty(t, b)
	}))
	require.Equal(t, 1, n)
	require.True(t, pend.Done())
	require.Empty(t, m.End())
}

func TestPendingRefusesWhatDoesNotFit(t *testing.T) {
	req, _ := NewMemRead(nicOrigin, 9, 0x1042, 100)
	h, _ := req.Header()
	good := Header{Kind: CplD, RequesterID: 0x0200, Tag: 9, Length: 26, ByteCount: 100, LowerAddr: 0x42}
	for name, spoil := range map[string]func(*Header, *[]byte){
		"tag":          func(c *Header, _ *[]byte) { c.Tag++ },
		"requester":    func(c *Header, _ *[]byte) { c.RequesterID++ },
		"kind":         func(c *Header, _ *[]byte) { c.Kind = MWr },
		"no data":      func(c *Header, d *[]byte) { c.Kind, *d = Cpl, nil },
		"short data":   func(_ *Header, d *[]byte) { *d = (*d)[4:] },
		"byte count":   func(c *Header, _ *[]byte) { c.ByteCount-- },
		"lower addr":   func(c *Header, _ *[]byte) { c.LowerAddr++ },
		"too much":     func(c *Header, d *[]byte) { c.Length++; *d = append(*d, 0, 0, 0, 0) },
		"far too much": func(c *Header, d *[]byte) { c.Length += 50; *d = append(*d, make([]byte, 200)...) },
	} {
		pend, c, data := NewPending(&h), good, make([]byte, 104)
		spoil(&c, &data)
		_, _, err := pend.Take(&c, data)
		require.ErrorIs(t, err, ErrMismatch, name)
		require.Equal(t, 100, pend.Left(), name)
		_, b, err := pend.Take(&good, make([]byte, 104))
		require.NoError(t, err)
		require.Len(t, b, 100)
		_, _, err = pend.Take(&good, make([]byte, 104))
		require.ErrorIs(t, err, ErrMismatch, "a read that is done takes no more")
	}
	pend, poisoned := NewPending(&h), good
	poisoned.EP = true
	_, b, err := pend.Take(&poisoned, make([]byte, 104))
	require.ErrorIs(t, err, ErrPoisoned)
	require.Len(t, b, 100)
	require.Equal(t, h, *pend.Request())
	odd := Header{Kind: Cpl, RequesterID: 0x0200, Tag: 9, Status: 5, ByteCount: 4}
	pend = NewPending(&h)
	_, _, err = pend.Take(&odd, nil)
	require.ErrorContains(t, err, "Status(5)")
	require.Panics(t, func() { NewPending(&odd) })
}

func TestCompletionPathAllocatesNothing(t *testing.T) {
	c := newTestCompleter(t, DefaultLimits(), CplRandom, 1)
	req, _ := NewMemRead(nicOrigin, 9, 0x1042, 500)
	h, _ := req.Header()
	var p Packet
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r, _ := c.Begin(&h)
		pend := NewPending(&h)
		for r.More() {
			if err := r.Fill(&p, pattern); err != nil {
				t.Error(err)
			}
			ch, _ := p.Header()
			if _, _, err := pend.Take(&ch, p.Data); err != nil {
				t.Error(err)
			}
		}
	}))
}

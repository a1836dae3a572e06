package core

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
)

// Two nodes over a channel that loses, duplicates and reorders: every request must take effect once
// and in order, and memory must match a plain reference.
func TestLossyChannel(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			x := newLossy(t, rng)
			x.play()
			x.check()
		})
	}
}

// lossy is a pair with its requests and their expected results. Each side's memory has 256 KB to be
// written to, 256 KB that READs read and that is never written, and 64 KB for atomics; then buffers
// for messages, then for the data of READs.
type lossy struct {
	*pair
	t    *testing.T
	rng  *rand.Rand
	loss int // loss of frames, in percent

	refs  [2][]byte   // expected contents of the area that is written to
	sums  [2]uint64   // expected value of the peer's word for FetchAdd
	sends [2][][]byte // messages sent, in order
	reads [2][]readRef
	air   [2][][]byte // frames in flight from each side
	ids   [2]uint64
	posts [2]int
	came  [2]int // number of messages that each side has received
}

type readRef struct {
	from, to uint64
	n        int
}

const (
	areaRead   = 0x40000
	areaWord   = 0x80000
	areaSource = 0x90000
	areaRecv   = 0xa0000
	areaInto   = 0xd0000
	recvBytes  = 4096
	perSide    = 60
)

func newLossy(t *testing.T, rng *rand.Rand) *lossy {
	x := &lossy{pair: newPair(t, rnicspec.RC, 256<<rng.IntN(3)), t: t, rng: rng, loss: rng.IntN(25)}
	for i, n := range x.n {
		x.q[i].Retries, x.q[i].req.retries = 1000, 1000 // random losses must not exhaust the retries
		pattern(n.mem[areaRead:areaWord], byte(i+5))
		pattern(n.mem[areaSource:areaRecv], byte(i+50))
		x.refs[i] = make([]byte, areaRead)
	}
	return x
}

func (x *lossy) post(i int) {
	x.posts[i]++
	peer := 1 - i
	n := x.rng.IntN(recvBytes)
	src := x.rng.IntN(areaRecv - areaSource - recvBytes)
	w := rnicspec.WQE{Flags: sig, Length: uint32(n), LocalVA: uint64(areaSource + src)}
	data := x.n[i].mem[areaSource+src:][:n]
	switch x.rng.IntN(6) {
	case 0, 1:
		w.Opcode, w.RemoteVA = rnicspec.Write, uint64(x.rng.IntN(areaRead-recvBytes))
		copy(x.refs[peer][w.RemoteVA:], data)
	case 2:
		w.Opcode = rnicspec.Send
		x.sends[i] = append(x.sends[i], data)
	case 3:
		w.Opcode, w.SwapAdd, w.Length = rnicspec.FetchAdd, x.rng.Uint64(), 8
		w.RemoteVA, w.LocalVA = areaWord, areaWord+64
		x.sums[i] += w.SwapAdd
	default:
		r := readRef{uint64(areaRead + x.rng.IntN(areaWord-areaRead-recvBytes)),
			uint64(areaInto + len(x.reads[i])*recvBytes), n}
		if r.to+recvBytes > memBytes {
			return
		}
		w.Opcode, w.RemoteVA, w.LocalVA = rnicspec.Read, r.from, r.to
		x.reads[i] = append(x.reads[i], r)
	}
	x.ids[i]++
	w.ID = x.ids[i]
	x.pair.post(i, w)
}

func (x *lossy) play() {
	recvs := [2]int{}
	for step := 0; ; step++ {
		if step == 200_000 {
			x.t.Fatal("it does not end")
		}
		i := x.rng.IntN(2)
		switch x.rng.IntN(40) {
		case 0:
			if x.posts[i] < perSide {
				x.post(i)
			}
		case 1:
			if recvs[i] < x.came[i]+8 {
				x.recv(i, uint64(areaRecv+recvs[i]*recvBytes%(areaInto-areaRecv)), recvBytes, uint64(recvs[i]))
				recvs[i]++
			}
		case 2:
			x.q[i].Resume()
			if len(x.air[0])+len(x.air[1]) == 0 && !x.q[i].CanSend() {
				x.n[i].e.Reset()
				x.q[i].Timeout(&x.n[i].e)
				x.n[i].finish(x.q[i])
			}
		default:
			if x.rng.IntN(3) == 0 {
				x.send(i)
			}
			x.carry(i)
		}
		if x.posts[0] == perSide && x.posts[1] == perSide && x.q[0].Idle() && x.q[1].Idle() {
			return
		}
		x.match(1 - i)
		x.match(i)
	}
}

// match compares received messages with those sent, before their buffers are reused.
func (x *lossy) match(i int) {
	for _, c := range x.n[i].done {
		require.Equal(x.t, rnicspec.OK, c.Status)
		if !c.Recv {
			continue
		}
		require.NotEmpty(x.t, x.sends[1-i])
		want := x.sends[1-i][0]
		x.sends[1-i] = x.sends[1-i][1:]
		x.came[i]++
		at := areaRecv + int(c.ID)*recvBytes%(areaInto-areaRecv)
		require.Equal(x.t, string(want), string(x.n[i].mem[at:][:c.Bytes]))
	}
	kept := x.n[i].done[:0]
	for _, c := range x.n[i].done {
		if !c.Recv {
			kept = append(kept, c)
		}
	}
	x.n[i].done = kept
}

// carry delivers a frame to the other side, or loses, duplicates or delays it.
func (x *lossy) carry(from int) {
	x.air[from] = append(x.air[from], x.n[from].out...)
	x.n[from].out = nil
	q := x.air[from]
	if len(q) == 0 {
		return
	}
	k := 0
	if x.rng.IntN(100) < x.loss/2 {
		k = x.rng.IntN(min(len(q), 4))
	}
	f := q[k]
	if x.rng.IntN(100) >= x.loss/3 { // else the packet will be delivered a second time
		x.air[from] = append(append(q[:0:0], q[:k]...), q[k+1:]...)
	}
	switch x.rng.IntN(100) {
	case 1:
		if x.loss > 0 {
			f = append([]byte(nil), f...)
			f[20+x.rng.IntN(len(f)-20)] ^= 1 << x.rng.IntN(8)
		}
	default:
		if x.rng.IntN(100) < x.loss {
			return
		}
	}
	x.n[1-from].take(f)
}

func (x *lossy) check() {
	for i, n := range x.n {
		x.match(i)
		require.Empty(x.t, x.sends[1-i])
		require.Equal(x.t, x.refs[i], n.mem[:areaRead])
		require.Equal(x.t, x.sums[1-i], binary.LittleEndian.Uint64(n.mem[areaWord:]), "each is added once")
		for _, r := range x.reads[i] {
			require.Equal(x.t, x.n[1-i].mem[r.from:][:r.n], n.mem[r.to:][:r.n])
		}
		for k, c := range n.done {
			require.EqualValues(x.t, k+1, c.ID, "in order")
		}
	}
}

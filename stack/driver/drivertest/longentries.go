package drivertest

import (
	"bytes"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/stack/driver"
)

// longEntries sends frames with many inline bytes and pieces, in entries of one to four blocks, posted and pushed, for
// many laps of a small ring.
func longEntries(b *bench) {
	k := b.key(1, nicspec.EndpointHost, 4096)
	pay := nictest.Pattern(4096, 2)
	b.write(k.Bus, pay)
	q, ids := b.transmitter(6, 3, nil)
	b.d.Enable(false, true)
	b.settle()
	var want []Frame
	blocks := map[int]int{}
	for i := range 60 {
		inline := nictest.Pattern(i*7%(nicspec.InlineMaxLong+1), uint64(i))
		s := driver.Send{Order: driver.Order{ID: uint32(i), Complete: true}, Inline: inline, Pad: true}
		data := bytes.Clone(inline)
		room := 15 - driver.InlineSlots(len(inline))
		for j := range 1 + i%min(nicspec.SegMax, room) {
			at, n := uint64(31*i+j), 1+(i*j)%97
			s.Pieces = append(s.Pieces, driver.Span{Key: k, Off: at, Len: uint32(n)})
			data = append(data, pay[at:at+uint64(n)]...)
		}
		want = append(want, Frame{Queue: 6, Data: append(data, make([]byte, max(60-len(data), 0))...)})
		blocks[s.Blocks()]++
		if i%3 == 0 {
			b.must(q.Push(&s))
		} else {
			b.must(q.Post(&s))
			b.must(q.Ring())
		}
		if q.Room() < nicspec.WqeBlocksMax {
			b.settle()
		}
	}
	b.settle()
	require.Len(b, blocks, nicspec.WqeBlocksMax)
	require.Equal(b, want, b.Sent)
	require.Len(b, *ids, 60)
	require.Equal(b, q.Size(), q.Room())
	require.Zero(b, b.counter(nicspec.CntDbBad))
}

// appended checks the padding and ICRC that the NIC appends to the payload, for each pad count.
func appended(b *bench) {
	k := b.key(1, nicspec.EndpointHost, 4096)
	q, _ := b.transmitter(0, 3, nil)
	b.d.Enable(false, true)
	for pad := range 4 {
		f := frame(300, 4791)
		f[14+20+8+1] = f[14+20+8+1]&^0x30 | uint8(pad)<<4
		body := f[:len(f)-4-pad]
		clear(f[len(body):])
		b.write(k.Bus, body)
		b.must(q.Post(&driver.Send{Order: driver.Order{Complete: true}, Inline: body[:54],
			Pieces: []driver.Span{{Key: k, Off: 54, Len: uint32(len(body) - 54)}},
			Offloads: driver.Offloads{IPv4Checksum: true, UDPChecksum: true, ICRC: true, Append: true, L3: 14,
				L4: 34}}))
		b.must(q.Ring())
		b.settle()
		require.NoError(b, wire.SealFrame(f, true))
		require.Len(b, b.Sent, pad+1)
		require.Equal(b, f, b.Sent[pad].Data)
	}
}

// trim checks that a queue with Trim stores the payload only, without padding and ICRC.
func trim(b *bench) {
	var got []driver.RxFrame
	q, err := b.d.OpenRx(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 3},
		Split: nicspec.SplitModeHeaders, HdrBytes: 64, PayBytes: 300,
		Trim: true, OnFrame: func(_ *driver.RxQueue, f *driver.RxFrame) {
			x := *f
			x.Cqe = slices.Clone(f.Cqe)
			got = append(got, x)
		}})
	b.must(err)
	b.must(b.d.SetDefault(driver.ToQueue(1)))
	b.d.Enable(true, false)
	const guard = 0xa5
	mem := b.alloc(nicspec.EndpointHost, 4096)
	b.write(mem, bytes.Repeat([]byte{guard}, 4096))
	for i := range uint64(4) {
		b.must(q.Post(driver.Buffer{Hdr: mem + 1024*i, Pay: mem + 1024*i + 512}))
	}
	b.must(q.Ring())
	b.settle()
	plain := frame(200, 4000) // to another UDP port, hence not RoCE
	padded := frame(200, 4791)
	padded[14+20+8+1] |= 3 << 4
	for _, f := range [][]byte{frame(200, 4791), padded, append(frame(100, 4791), 1, 2, 3), plain} {
		b.Receive(0, f)
		b.settle()
	}
	require.Len(b, got, 4)
	for i, want := range [][2]int{{54, 200 - 54 - 4}, {54, 200 - 54 - 4 - 3}, {54, 100 - 54 - 4}, {42, 200 - 42}} {
		f := got[i]
		require.Equal(b, want, [2]int{f.HdrLen, f.PayLen}, "frame %d", i)
		require.EqualValues(b, f.PayLen, f.Cqe.PayLen())
		rest := b.read(f.Pay+uint64(f.PayLen), 64)
		require.Equal(b, bytes.Repeat([]byte{guard}, 64), rest, "frame %d: behind the payload", i)
	}
	require.Equal(b, plain[42:], b.read(got[3].Pay, 200-42))
}

// fence checks that a fenced copy of a flag is written after the data of an earlier copy.
func fence(b *bench) {
	from, to := b.key(1, nicspec.EndpointArm, 1<<16), b.key(2, nicspec.EndpointHost, 1<<16)
	data := nictest.Pattern(1<<15, 3)
	b.write(from.Bus, data)
	q, ids := b.transmitter(3, 3, nil)
	b.d.Enable(false, true)
	n := uint32(len(data))
	b.must(q.Post(&driver.Copy{Dst: driver.Span{Key: to, Len: n}, Src: driver.Span{Key: from, Len: n}}))
	b.must(q.Post(&driver.Copy{Order: driver.Order{ID: 2, Complete: true},
		Dst: driver.Span{Key: to, Off: uint64(n), Len: 8}, Src: driver.Span{Key: from, Len: 8}, Fence: true}))
	b.must(q.Ring())
	b.settle()
	require.Equal(b, []uint32{2}, *ids)
	require.Equal(b, data, b.read(to.Bus, len(data)))
	require.Equal(b, data[:8], b.read(to.Bus+uint64(n), 8))
}

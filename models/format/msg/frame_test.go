package msg

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

func TestPoolReusesFramesAndBuffers(t *testing.T) {
	var p Frames
	f := p.Copy([]byte{1, 2, 3})
	assert.Equal(t, []byte{1, 2, 3}, f.Data)
	assert.Equal(t, 3, f.Bytes())
	assert.Equal(t, -1, f.Queue)
	f.Seq, f.Port, f.Depart = 7, 1, 99
	p.Put(f)

	g := p.Get(frameStep)
	assert.True(t, f == g, "a buffer of that size")
	assert.Equal(t, []any{uint64(0), 0, -1, simcore.Ps(0)}, []any{g.Seq, g.Port, g.Queue, g.Depart})
	assert.Len(t, g.Data, frameStep)
	assert.False(t, g == p.Get(1))

	p.Put(g)
	big := p.Get(ether.MaxLen + 1) // longer than devices accept: tests offer such frames
	assert.Len(t, big.Data, ether.MaxLen+1)
}

// TestBuffersFitTheirFrames: a frame uses little more memory than it has bytes, and a frame whose
// data was lengthened or cut returns to the list of its buffer.
func TestBuffersFitTheirFrames(t *testing.T) {
	var p Frames
	for n := 1; n <= ether.MaxLen+2*frameStep; n += 37 {
		f := p.Get(n)
		assert.Less(t, cap(f.Data), n+frameStep)
		f.Data = f.Data[:1]
		p.Put(f)
		g := p.Get(n)
		assert.True(t, f == g)
		p.Put(g)
	}
	long := p.Get(64)
	long.Data = make([]byte, ether.MaxLen)
	p.Put(long)
	assert.True(t, long == p.Get(ether.MaxLen))
}

func TestPutTwicePanics(t *testing.T) {
	var p Frames
	f := p.Get(60)
	f.Seq, f.Port = 5, 1
	p.Put(f)
	assert.PanicsWithValue(t, "msg: frame 5 of port 1 is put back twice", func() { p.Put(f) })
}

func TestPoolAllocatesNothing(t *testing.T) {
	var p Frames
	data := make([]byte, 1500)
	p.Put(p.Get(60))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Put(p.Copy(data)) }))
}

func TestFrameCrossesALink(t *testing.T) {
	for _, c := range []struct{ trim, wire int }{{0, 84}, {56, 28}} {
		e := simcore.NewEngine()
		a, b := simcore.NewPort(nil, 1, "A"), simcore.NewPort(nil, 1, "B")
		spec := simcore.LinkSpec{Latency: 1000, Rate: simcore.Gbps(100), OverheadBytes: ether.WireOverhead}
		_, err := simcore.Connect("Link", e, spec, a, b)
		assert.NoError(t, err)
		var p Frames
		f := p.Get(60)
		f.Trim = c.trim
		assert.Nil(t, a.SendAt(f, 0))
		assert.NoError(t, e.Run())
		assert.Equal(t, simcore.Ps(c.wire*80+1000), b.Retrieve(0).(*Frame).Arrive)
	}
}

package inject_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

const ns = simcore.Nanosecond

// feed is a feed of numbered frames of one length, due at equal distances.
type feed struct {
	next, frames int
	bytes        int
	every        simcore.Ps
	err          error // after the last one
}

// added is the number of the first frame of a feed.
const added = 1 << 20

func (f *feed) Next() ([]byte, simcore.Ps, error) {
	if f.next == f.frames {
		return nil, 0, f.err
	}
	b := make([]byte, f.bytes)
	n := added + f.next
	b[0], b[1], b[2], b[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	due := simcore.Ps(f.next) * f.every
	f.next++
	return b, due, nil
}

// joined is a cable of 100 Gbps with an Insert in the middle.
type joined struct {
	e        *simcore.Engine
	x        *inject.Insert
	from, to *end
	at       []simcore.Ps // arrivals at the end `to`
	sent     uint32       // number of live frames
}

func newJoined(t *testing.T) *joined {
	pool := new(msg.Frames)
	j := &joined{e: simcore.NewEngine(), from: newEnd("A", pool), to: newEnd("B", pool)}
	var err error
	rate := simcore.Gbps(100)
	j.x, err = inject.NewInsert("Insert", j.e, inject.InsertSpec{To: inject.FromDevice, Rate: rate, Overhead: 24}, pool)
	require.NoError(t, err)
	near := simcore.LinkSpec{Latency: 50 * ns, Rate: rate, OverheadBytes: 24, Credits: 16}
	_, err = simcore.Connect("Near", j.e, near, j.from.port, j.x.Device())
	require.NoError(t, err)
	_, err = simcore.Connect("Far", j.e, simcore.LinkSpec{Latency: 10 * ns, Credits: 16}, j.x.Peer(), j.to.port)
	require.NoError(t, err)
	return j
}

// run sends live frames of n bytes as fast as the cable takes them, until a time, and notes the arrivals.
func (j *joined) run(t *testing.T, n int, until simcore.Ps) {
	for j.e.Now() < until {
		for n > 0 && j.from.send(j.e, j.sent, n) {
			j.sent++
		}
		require.NoError(t, j.e.RunUntil(j.e.Now()+ns))
		for len(j.at) < len(j.to.got) {
			j.at = append(j.at, j.e.Now())
		}
	}
}

// split returns the numbers that live frames and added frames carry, in the order of their arrival.
func (j *joined) split() (live, more []uint32) {
	for _, n := range j.to.got {
		if n >= added {
			more = append(more, n-added)
		} else {
			live = append(live, n)
		}
	}
	return live, more
}

// Frames are added when they are due, on an idle cable; the other direction goes on. Each added frame is shown, and
// counted when it has left.
func TestInsertOnAnIdleCable(t *testing.T) {
	j := newJoined(t)
	shown := 0
	j.x.Seen = func(f *msg.Frame) { shown += len(f.Data) }
	j.x.Start(&feed{frames: 5, bytes: 226, every: 100 * ns, err: io.EOF})
	require.True(t, j.to.send(j.e, 7, 64))
	j.run(t, 0, 1000*ns)
	for i, at := range j.at {
		end := simcore.Ps(100*i+20+10) * ns // 250 B take 20 ns, the way 10 ns
		require.InDelta(t, float64(end), float64(at), float64(ns))
	}
	require.Len(t, j.at, 5)
	require.Equal(t, []uint32{7}, j.from.got)
	require.Equal(t, inject.InsertCount{Frames: 5, Bytes: 5 * 226}, j.x.Count())
	require.Equal(t, 5*226, shown)
	require.True(t, j.x.Idle())
	require.NoError(t, j.x.Err())
}

// As long as an Insert adds no frame, frames from the cable's ends arrive as without it.
func TestInsertWithoutFrames(t *testing.T) {
	a, b := newJoined(t), newJoined(t)
	b.x.Start(&feed{frames: 1, bytes: 64, every: 0, err: io.EOF})
	require.NoError(t, b.e.Run()) // the only added frame arrives before the cable's ends send
	a.run(t, 1000, 5000*ns)
	b.run(t, 1000, 5000*ns)
	require.Equal(t, a.to.got, b.to.got[1:])
	require.Equal(t, a.at[5]-a.at[4], b.at[6]-b.at[5])
	require.InDelta(t, 1024*8/100, float64(a.at[9]-a.at[4])/5/float64(ns), 1)
}

// A cable that cannot carry all carries live and added frames in turn, each kind in its order, and no more than its
// rate. Nothing is lost, also while the far end takes nothing; live frames then wait where they come from.
func TestInsertSharesTheCable(t *testing.T) {
	j := newJoined(t)
	j.x.Start(&feed{frames: 1 << 19, bytes: 1000, err: io.EOF})
	j.run(t, 1000, 20_000*ns)
	live, more := j.split()
	require.InDelta(t, len(live), len(more), 34)
	require.IsIncreasing(t, live)
	require.IsIncreasing(t, more)
	require.InDelta(t, 20_000/(1024*8/100.0), len(j.to.got), 3)

	j.to.shut = true
	j.run(t, 1000, 40_000*ns)
	require.Less(t, j.sent, uint32(300), "back-pressure reaches the sender")
	j.to.shut = false
	j.to.drain(j.e.CurrentTime())
	j.x.Stop()
	require.NoError(t, j.e.Run())
	require.True(t, j.x.Idle())
	live, more = j.split()
	for i, n := range live {
		require.EqualValues(t, i, n)
	}
	for i, n := range more {
		require.EqualValues(t, i, n)
	}
	require.EqualValues(t, len(more), j.x.Count().Frames)
}

// An error of the feed, and a message that is no frame, are reported; the cable goes on.
func TestInsertFails(t *testing.T) {
	j := newJoined(t)
	broken := errors.New("broken")
	j.x.Start(&feed{frames: 1, bytes: 64, err: broken})
	require.True(t, j.from.send(j.e, 3, 64))
	require.NoError(t, j.e.Run())
	require.ErrorIs(t, j.x.Err(), broken)
	require.ElementsMatch(t, []uint32{3, added}, j.to.got)
	_, err := inject.NewInsert("Insert", nil, inject.InsertSpec{}, nil)
	require.ErrorContains(t, err, "want a scheduler and a pool of frames")
}

package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/stack/driver"
)

// play plays frames in, back to back after those before.
func (r *rig) play(frames ...[]byte) {
	r.playOn(0, frames...)
}

// played waits until every frame has been given to the device.
func (r *rig) played() {
	r.t.Helper()
	r.until("the frames are played", r.allPlayed)
	r.run(2 * r.way)
}

// receiveAll enables reception and sends what no rule matches to a queue.
func (r *rig) receiveAll(q int) {
	r.t.Helper()
	r.toQueue(q)
	r.write(nicspec.RegCtrl, 3)
	r.synced()
}

func (r *rig) toQueue(q int) {
	r.t.Helper()
	r.toTarget(driver.ToQueue(q))
}

// toTarget sends what no rule matches to a target, of which there need be none.
func (r *rig) toTarget(t driver.Target) {
	r.t.Helper()
	r.write(nicspec.RegRxDefault, uint32(t.Default()))
}

// placed is how many bytes of a frame a queue writes [R14].
func (x *rxRing) placed(f *nicspec.RxCqeFields, b []byte) int {
	if x.Trim != 1 || !f.Roce || f.Frag || f.L4LenBad {
		return len(b)
	}
	const lengthField, icrc = 4, 4 // of UDP, after its begin; bytes of the ICRC
	l4 := int(f.L4Off)
	u := int(be.Uint16(b[l4+lengthField:]))
	t := l4 + u - icrc - int(f.BthFlags>>4&3)
	if u < 24 || t < int(f.PayloadOff) {
		return len(b)
	}
	return t
}

// split is how many of m bytes go to the header buffer [R8].
func (x *rxRing) split(f *nicspec.RxCqeFields, m int) int {
	switch x.SplitMode {
	case nicspec.SplitModeFixed:
		return min(int(x.SplitLen), m, int(x.HdrBufSize))
	case nicspec.SplitModeHeaders:
		return min(int(f.PayloadOff), m, int(x.HdrBufSize))
	}
	return 0
}

// delivered waits for the next completion entry of a queue and demands that it is for a frame, whole and in its place,
// taken by a rule (RuleNone for none). mods say what is special about its completion entry.
func (r *rig) delivered(x *rxRing, ordinal int, rule uint16, mods ...func(*nicspec.RxCqeFields)) nicspec.RxCqe {
	r.t.Helper()
	return r.deliveredOf(0, x, ordinal, rule, mods...)
}

// deliveredOf does so for a frame that came in on a port.
func (r *rig) deliveredOf(port int, x *rxRing, ordinal int, rule uint16, mods ...func(*nicspec.RxCqeFields)) nicspec.RxCqe {
	r.t.Helper()
	index := x.CQI
	got := r.rxCqe(x)
	frame := r.player(port).At(ordinal)
	want := parsed(frame, r.roce)
	want.Type, want.Queue, want.Index, want.Rule, want.PortSeq = nicspec.CqeTypeRx, uint16(x.Number), index, rule, uint32(ordinal)
	want.Port = uint8(r.portOf(port))
	m := x.placed(&want, frame)
	want.HdrLen = uint16(x.split(&want, m))
	if r.sizes.Has(nicspec.PartTrim) {
		want.PayLen = uint16(m) - want.HdrLen
	}
	want.Phase = int(index)>>x.Log&1 == 0
	if r.sizes.Has(nicspec.PartRss) {
		want.RssHash = rssHash(r.rssKey, frame, &want)
	}
	digest(frame, &want, x.CrcMode)
	for _, mod := range mods {
		mod(&want)
	}
	if field, e, g, same := nicspec.DiffRxCqe(encode(&want, nicspec.RxCqeSize), got); !same {
		require.FailNow(r.t, "completion entry", "frame %d of %d B: %s is %s, want %s\n%x", ordinal, len(frame), field, g, e, frame[:min(len(frame), 140)])
	}
	if x.EcnMode == 1 {
		frame = marked(frame, &want)
	}
	bufs, h := x.posted[index], int(want.HdrLen)
	require.Equal(r.t, frame[:h], r.load(bufs[0], h), "header part of frame %d, %d of %d B", ordinal, h, len(frame))
	require.Equal(r.t, frame[h:m], r.load(bufs[1], m-h), "payload part of frame %d, %d of %d B", ordinal, m-h, len(frame))
	return got
}

// nothing demands that a ring has no completion entry that was not taken.
func (r *rig) nothing(g *ring) {
	r.t.Helper()
	require.Nil(r.t, r.next(g), "completion entry of queue %d", g.Number)
}

// ordinal is that of the next frame to be played.
func (r *rig) ordinal() int { return r.player(0).Total() }

package kit

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Play plays frames on port 0, back to back, behind the frames already being played.
func (r *Rig) Play(frames ...[]byte) {
	r.PlayOn(0, frames...)
}

// Played waits until the device has received every frame played.
func (r *Rig) Played() {
	r.T.Helper()
	r.Until("all frames are played", r.allPlayed)
	r.Run(2 * r.OneWay)
}

// ReceiveAll enables reception and sends frames that no rule matches to a queue.
func (r *Rig) ReceiveAll(q int) {
	r.T.Helper()
	r.ToQueue(q)
	r.Write(nicspec.RegCtrl, 3)
	r.Synced()
}

func (r *Rig) ToQueue(q int) {
	r.T.Helper()
	r.ToTarget(driver.ToQueue(q))
}

// ToTarget makes a target, which need not exist, receive the frames that no rule matches.
func (r *Rig) ToTarget(t driver.Target) {
	r.T.Helper()
	r.Write(nicspec.RegRxDefault, uint32(t.Default()))
}

// placed returns how many bytes of a frame a queue writes [R14].
func (x *RxRing) placed(f *nicspec.RxCqeFields, b []byte) int {
	if x.Trim != 1 || !f.Roce || f.Frag || f.L4LenBad {
		return len(b)
	}
	const lengthField, icrc = 4, 4 // offset in the UDP header; bytes of the ICRC
	l4 := int(f.L4Off)
	u := int(BigEndian.Uint16(b[l4+lengthField:]))
	t := l4 + u - icrc - int(f.BthFlags>>4&3)
	if u < 24 || t < int(f.PayloadOff) {
		return len(b)
	}
	return t
}

// Split returns how many of m bytes go to the header buffer [R8].
func (x *RxRing) Split(f *nicspec.RxCqeFields, m int) int {
	switch x.SplitMode {
	case nicspec.SplitModeFixed:
		return min(int(x.SplitLen), m, int(x.HdrBufSize))
	case nicspec.SplitModeHeaders:
		return min(int(f.PayloadOff), m, int(x.HdrBufSize))
	}
	return 0
}

// Delivered waits for the next completion entry of a queue, and checks that it reports the frame with this ordinal,
// that the whole frame is in the buffers, and which rule matched (RuleNone for none). mods change the expected
// completion entry.
func (r *Rig) Delivered(x *RxRing, ordinal int, rule uint16, mods ...func(*nicspec.RxCqeFields)) nicspec.RxCqe {
	r.T.Helper()
	return r.DeliveredOf(0, x, ordinal, rule, mods...)
}

// DeliveredOf checks like Delivered, for a frame played on the given port.
func (r *Rig) DeliveredOf(port int, x *RxRing, ordinal int, rule uint16,
	mods ...func(*nicspec.RxCqeFields)) nicspec.RxCqe {
	r.T.Helper()
	index := x.CQI
	got := r.RxCqe(x)
	frame := r.Player(port).At(ordinal)
	want := Parsed(frame, r.Roce)
	want.Type, want.Queue, want.Index, want.Rule, want.PortSeq = nicspec.CqeTypeRx, uint16(x.Number), index, rule,
		uint32(ordinal)
	want.Port = uint8(r.PortOf(port))
	m := x.placed(&want, frame)
	want.HdrLen = uint16(x.Split(&want, m))
	if r.Sizes.Has(nicspec.PartTrim) {
		want.PayLen = uint16(m) - want.HdrLen
	}
	want.Phase = int(index)>>x.Log&1 == 0
	if r.Sizes.Has(nicspec.PartRss) {
		want.RssHash = RSSHash(r.RssKey, frame, &want)
	}
	digest(frame, &want, x.CrcMode)
	for _, mod := range mods {
		mod(&want)
	}
	if field, e, g, same := nicspec.DiffRxCqe(Encode(&want, nicspec.RxCqeSize), got); !same {
		require.FailNow(r.T, "completion entry", "frame %d of %d B: %s is %s, want %s\n%x", ordinal, len(frame), field,
			g, e, frame[:min(len(frame), 140)])
	}
	if x.EcnMode == 1 {
		frame = marked(frame, &want)
	}
	bufs, h := x.Posted[index], int(want.HdrLen)
	require.Equal(r.T, frame[:h], r.Load(bufs[0], h), "header part of frame %d, %d of %d B", ordinal, h, len(frame))
	require.Equal(r.T, frame[h:m], r.Load(bufs[1], m-h), "payload part of frame %d, %d of %d B", ordinal, m-h,
		len(frame))
	return got
}

// Nothing checks that no further completion entry has been written to a ring.
func (r *Rig) Nothing(g *Ring) {
	r.T.Helper()
	require.Nil(r.T, r.Next(g), "completion entry of queue %d", g.Number)
}

// Ordinal returns the ordinal of the next frame to be played.
func (r *Rig) Ordinal() int { return r.Player(0).Total() }

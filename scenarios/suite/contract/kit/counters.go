package kit

import (
	"nictwin/models/nic/nicspec"
)

// Arrived returns the counter steps of frames that arrive, whether they are delivered or dropped.
func Arrived(frames ...[]byte) Steps {
	s := Steps{PortCounter(nicspec.CntRxFrames): uint64(len(frames))}
	for _, f := range frames {
		s[PortCounter(nicspec.CntRxBytes)] += uint64(len(f))
	}
	return s
}

// With adds n to the step that is expected of a counter.
func (s Steps) With(index int, n int) Steps {
	if n > 0 {
		s[index] += uint64(n)
	}
	return s
}

// Taken adds the counter steps of n delivered frames.
func (s Steps) Taken(n int) Steps {
	return s.With(PortCounter(nicspec.CntRxDelivered), n).With(DevCounter(nicspec.CntRxCqe), n)
}

// Dropped plays frames and checks that all of them are dropped for one cause.
func (r *Rig) Dropped(what string, cause nicspec.PortCounter, frames ...[]byte) {
	r.T.Helper()
	r.Counted(what, Arrived(frames...).With(PortCounter(cause), len(frames)), func() { r.Play(frames...) })
}

// Spoiled returns a RoCE packet with a wrong IPv4 header checksum, UDP checksum or ICRC.
func Spoiled(ip, l4, icrc bool) []byte {
	p := RocePacket(100)
	p.IPBad, p.IcrcBad, p.UDPCsum = ip, icrc, CsumRight
	if l4 {
		p.UDPCsum = CsumWrong
	}
	return p.Build()
}

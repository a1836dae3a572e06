package ring

// Merger decides which ring has the next packet of a flow, by the number that the NIC gives to each frame of an account
// (account_seq of docs/nic.md, [A3] and [A4]).
//
// In the paper all fast packets of a phase come before its slow ones, so that the rings take turns. That fails after a
// resume: frames that arrive between the look at an empty slow ring and the effect of the resume are slow, and fast
// frames behind them may be seen first. Numbers tell how many slow frames are missing; Late counts them.
type Merger struct {
	next    uint32
	resumed bool // no fast packet has come since the latest resume
	late    uint64
}

// Resumed records that the NIC is directed to use the fast ring again.
func (m *Merger) Resumed() { m.resumed = true }

// Paused records that packets behind the latest resume are slow again, without a fast one between: they are not late.
func (m *Merger) Paused() { m.resumed = false }

// Take reports whether the packet with this number is the next one, and counts it if it is. If it is not, the packets
// before it are in the other ring.
func (m *Merger) Take(fast bool, seq uint32) bool {
	if seq != m.next {
		return false
	}
	m.next++
	switch {
	case fast:
		m.resumed = false
	case m.resumed:
		m.late++
	}
	return true
}

// Next returns the number of the next packet.
func (m *Merger) Next() uint32 { return m.next }

// Late returns the number of packets that the NIC still put into the slow ring after a resume.
func (m *Merger) Late() uint64 { return m.late }

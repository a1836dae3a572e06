package replay

import (
	"errors"
	"io"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic"
)

// Offered counts the frames that a run has offered to the NIC, in all passes.
type Offered struct {
	Sent   []int // frames sent into each port
	Posted int   // frames posted as work entries
}

// soFar returns what the run has offered.
func (r *Run) soFar() Offered {
	o := Offered{Sent: make([]int, len(r.ports))}
	if r.rx != nil {
		for p := range r.ports {
			o.Sent[p] = r.ports[p].Sent()
		}
	}
	if r.tx != nil {
		o.Posted = r.tx.next
	}
	return o
}

// UpTo returns how much the run had offered right after the frame; ok is false without a frame.
func (r *Run) UpTo(f *result.Frame) (o Offered, ok bool) {
	if f == nil || f.Port >= len(r.ports) {
		return o, false
	}
	o.Sent = make([]int, len(r.ports))
	if f.Dir == "tx" {
		o.Posted = f.Number + 1
	} else {
		o.Sent[f.Port] = f.Number + 1
	}
	return o, true
}

// A tail has at most so many packets and bytes.
const (
	TailPackets = 1 << 16
	tailBytes   = 64 << 20
)

// Tail reads the captures again, pass after pass, and returns the packets that were offered when the counts of `end`
// were reached. If these are more than TailPackets, or have more than tailBytes, it returns the last of them, but at
// least one. Ports take turns as in the transmit direction.
func (r *Run) Tail(end Offered) ([]traffic.PortFrame, error) {
	lists := r.supply.Playlists()
	end = skipPasses(end, lists, r.supply.Frames)
	next, sent, bytes := traffic.NewTurns(lists).Next, make([]int, len(lists)), 0
	var tail []traffic.PortFrame
	for n := 0; n == 0 || n < end.Posted || short(sent, end.Sent); n++ {
		f, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		sent[f.Port]++
		tail, bytes = append(tail, f), bytes+len(f.Data)+traffic.FrameCost
		for len(tail) > TailPackets || bytes > tailBytes {
			bytes -= len(tail[0].Data) + traffic.FrameCost
			tail = tail[1:]
		}
	}
	return tail, nil
}

// skipPasses reduces end by the whole passes that are too long ago to be in a tail.
func skipPasses(end Offered, lists []*traffic.Playlist, pass int) Offered {
	last := max(end.Posted-1, 0) / pass
	for p, l := range lists {
		if n := l.Pass(); n > 0 {
			last = max(last, max(end.Sent[p]-1, 0)/n)
		}
	}
	skip := max(0, last-1-TailPackets/pass)
	less := Offered{Posted: max(0, end.Posted-skip*pass)}
	for p, l := range lists {
		less.Sent = append(less.Sent, max(0, end.Sent[p]-skip*l.Pass()))
	}
	return less
}

// short reports whether a port has sent less than wanted.
func short(sent, want []int) bool {
	for p := range sent {
		if sent[p] < want[p] {
			return true
		}
	}
	return false
}

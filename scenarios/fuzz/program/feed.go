package program

// maxTimes bounds the repetitions of a list: enough to take the indices of a ring past 65,536 several times.
const maxTimes = 1 << 20

// Feed plays frames for a receive queue and posts a descriptor for each, in batches that fit into the ring.
type Feed struct {
	Queue  int     `json:"queue"`
	Port   int     `json:"port,omitempty"`
	Frames []Frame `json:"frames"`
	Times  int     `json:"times"` // repetitions of the frames
	Hdr    Place   `json:"hdr,omitzero"`
	Pay    Place   `json:"pay,omitzero"`
}

func (f *Feed) check(v *validator) {
	v.queue(f.Queue)
	v.in("times", f.Times, 1, maxTimes)
	(&Play{Port: f.Port, Frames: f.Frames}).check(v)
	v.place("hdr", &f.Hdr)
	v.place("pay", &f.Pay)
}

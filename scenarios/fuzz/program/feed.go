package program

// maxTimes bounds repetitions of a list: enough for the indices of a ring to pass 65,536 several times.
const maxTimes = 1 << 20

// Feed has frames come in and posts a descriptor for each, a part of the ring at a time.
type Feed struct {
	Queue  int     `json:"queue"`
	Port   int     `json:"port,omitempty"`
	Frames []Frame `json:"frames"`
	Times  int     `json:"times"` // the frames come in so often
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

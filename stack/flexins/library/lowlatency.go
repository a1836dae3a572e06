package library

import (
	"nictwin/stack/verbs"
)

// checkLowLatency rejects a low-latency queue pair that the card does not support.
func checkLowLatency(verb string, a *verbs.QPInitAttr, attr *verbs.DeviceAttr) error {
	switch n := a.LowLatency; {
	case n == 0:
		return nil
	case attr.MaxLowLatency == 0:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pairs: this card was configured without any")
	case n < 0 || n > attr.MaxLowLatency:
		return verbs.Errorf(verb, verbs.EINVAL, "low-latency queue pair of messages of %d B: want 1 to %d", n,
			attr.MaxLowLatency)
	case a.Type != verbs.QPTRC:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair of type %v: want RC", a.Type)
	case a.SRQ != nil:
		return verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pair with a shared receive queue: want one of "+
			"its own")
	}
	return nil
}

// mayReceive returns an error if the NIC must not write to the memory of a receive request; the card's software does
// not check it later.
func (q *QP) mayReceive(w *verbs.RecvWR) error {
	s := &w.SGEs[0]
	if q.c.cardSpan(q.pd, s).Addr == unmapped || q.c.regions[s.LKey].Access&verbs.AccessLocalWrite == 0 {
		return &verbs.RequestError{Errno: verbs.EINVAL, Why: verbs.FaultRecvMemory, Has: uint64(s.LKey)}
	}
	return nil
}

// gather copies a message from the application's memory into a buffer. ok is false if a piece of memory must not be
// named; the card reports that when the request's turn comes.
func (q *QP) gather(w *verbs.SendWR) (bytes []byte, ok bool, err error) {
	c := q.c
	for i := range w.SGEs {
		if s := &w.SGEs[i]; s.Length > 0 && c.cardSpan(q.pd, s).Addr == unmapped {
			return nil, false, nil
		}
	}
	bytes = c.message[:0]
	for i := range w.SGEs {
		s := &w.SGEs[i]
		bytes = bytes[:len(bytes)+int(s.Length)]
		if err := c.core.Load(s.Addr, bytes[len(bytes)-int(s.Length):]); err != nil {
			return nil, false, verbs.Errorf("post_send", verbs.EIO, "%v", err)
		}
	}
	return bytes, true, nil
}

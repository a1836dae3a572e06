// Package pace computes how long bytes take at a rate, to the picosecond and
// without losing fractions. It knows no engine: the caller passes the time.
package pace

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Pacer is a resource that carries bytes one after the other, such as a lane of a link or a
// pipeline. The zero value is infinitely fast.
type Pacer struct {
	Rate simcore.Rate
	Free simcore.Ps // when the next transfer can begin, rounded down

	part int64 // fraction of a picosecond after Free, in units of 1/Rate.Bytes
}

// Take occupies the resource for n bytes, from now or from when it is free, and returns the time
// when the last byte has passed.
func (p *Pacer) Take(now simcore.Ps, n int) simcore.Ps {
	if now > p.Free {
		p.Free, p.part = now, 0
	}
	if p.Rate.Bytes != 0 {
		t := int64(n)*int64(p.Rate.Ps) + p.part
		p.Free += simcore.Ps(t / p.Rate.Bytes)
		p.part = t % p.Rate.Bytes
	}
	return p.Free
}

// Check returns an error if the rate, of the field at path, is not possible.
func Check(path field.Path, r simcore.Rate) error {
	if r != (simcore.Rate{}) && (r.Bytes <= 0 || r.Ps <= 0 || r.Bytes > 1<<30 || r.Ps > simcore.Second) {
		return field.Errorf(path, "%s: want 1 to 2^30 bytes in 1 ps to 1 s, or both 0 for no bound",
			fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps))
	}
	return nil
}

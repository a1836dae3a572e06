package windows

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Devctl is the settings of DEVCTL that requests may still follow [P10]. Call Reset before use.
type Devctl struct {
	list [keptSettings]setting // oldest first; the last one is in force
	n    int
	size int    // the latest setting that allows the size of the request at hand
	lost uint64 // settings taken together with the next
}

// setting is what DEVCTL said for a while, and what the device did by it after
// that.
type setting struct {
	limits tlp.Limits
	attrs  uint8 // set of attributes: bit a for attributes a
	until  int64 // last cycle in which the next setting may not have taken effect
	late   int   // requests since then that followed this setting, or one before it
}

const keptSettings = 8

// LateRequests is how many requests may follow former settings [P10].
const LateRequests = 256

func settingOf(regs *core.Regs) setting {
	return setting{limits: regs.Limits(), attrs: 1 << regs.DataAttr()}
}

// Reset forgets former settings.
func (d *Devctl) Reset(regs *core.Regs) { d.list[0], d.n = settingOf(regs), 1 }

// Lost is how many settings were taken together with the next, as there were too many.
func (d *Devctl) Lost() uint64 { return d.lost }

// Written notes a write of DEVCTL. When there are too many, the oldest two count
// as one that allows what either does.
func (d *Devctl) Written(regs *core.Regs, cycle int64) {
	last, next := &d.list[d.n-1], settingOf(regs)
	last.until = cycle + nicspec.VisibleCycles
	if d.n == keptSettings {
		d.lost++
		a, b := &d.list[0], &d.list[1]
		b.limits.MPS, b.limits.MRRS = max(a.limits.MPS, b.limits.MPS), max(a.limits.MRRS, b.limits.MRRS)
		b.attrs |= a.attrs
		copy(d.list[:], d.list[1:])
		d.n--
	}
	d.list[d.n] = next
	d.n++
}

// Settling is the last cycle in which a former setting may be in force; false: there are no former ones.
func (d *Devctl) Settling() (until int64, ok bool) {
	if d.n == 1 {
		return 0, false
	}
	return d.list[d.n-2].until, true
}

// Sized looks for the latest setting that allows a request of n bytes [P3], which Follows is asked about next. ok is
// false if none does; most is what the one in force allows.
func (d *Devctl) Sized(read bool, n int) (most int, ok bool) {
	for d.size = d.n - 1; d.size >= 0; d.size-- {
		if l := &d.list[d.size].limits; read && n <= l.MRRS || !read && n <= l.MPS {
			return 0, true
		}
	}
	d.size = d.n - 1
	limits := &d.list[d.size].limits
	if read {
		return limits.MRRS, false
	}
	return limits.MPS, false
}

// Following is what the attributes of a request come to.
type Following struct {
	Wrong bool  // no setting that may be in force has them:
	Want  uint8 // the set of those that the one in force allows
	Late  bool  // one request too many follows a former setting,
	Since int64 // though another is in force since this cycle
}

// Follows looks for the setting that a request follows, in its size and its attributes [P10, P11]; data says that it
// carries bytes of frames or copies.
func (d *Devctl) Follows(attr tlp.Attr, data bool, cycle int64) (f Following) {
	f.Want = 1
	if data {
		f.Want = d.list[d.n-1].attrs
	}
	at := d.n - 1
	if f.Want>>attr&1 == 0 {
		for at--; at >= 0 && (!data || d.list[at].attrs>>attr&1 == 0); {
			at--
		}
	}
	if f.Wrong = at < 0; f.Wrong {
		return f
	}
	for at = min(at, d.size); at < d.n-1; at++ {
		s := &d.list[at]
		if cycle <= s.until {
			continue
		}
		if s.late++; s.late == LateRequests+1 {
			f.Late, f.Since = true, s.until
		}
	}
	return f
}

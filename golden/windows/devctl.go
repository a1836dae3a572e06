package windows

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Devctl holds the settings of DEVCTL that requests may still follow [P10]. Call Reset before use.
type Devctl struct {
	list [keptSettings]setting // oldest first; the last one is in force
	n    int
	size int    // index of the latest setting that allows the size of the current request
	lost uint64 // number of settings that were merged with the next one
}

// setting is the current or a previous value of DEVCTL. It counts the requests that obeyed it after it was replaced.
type setting struct {
	limits tlp.Limits
	attrs  uint8 // set of allowed attributes: bit a for attributes a
	until  int64 // after this cycle, the device must know the next setting
	late   int   // number of requests after cycle `until` that obeyed this setting or an earlier one
}

const keptSettings = 8

// LateRequests is the largest number of requests that may still follow a previous setting [P10].
const LateRequests = 256

func settingOf(regs *core.Regs) setting {
	return setting{limits: regs.Limits(), attrs: 1 << regs.DataAttr()}
}

// Reset makes the current value of DEVCTL the only setting.
func (d *Devctl) Reset(regs *core.Regs) { d.list[0], d.n = settingOf(regs), 1 }

// Lost returns how many settings were merged with the next one because there were too many.
func (d *Devctl) Lost() uint64 { return d.lost }

// Written records a write of DEVCTL. If there are too many settings, it merges the two oldest into one that allows
// whatever either allowed.
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

// Settling returns the last cycle in which a previous setting may be in force; ok is false if there is no previous
// setting.
func (d *Devctl) Settling() (until int64, ok bool) {
	if d.n == 1 {
		return 0, false
	}
	return d.list[d.n-2].until, true
}

// Sized finds the latest setting that allows a request of n bytes [P3], for the next call of Follows. If there is
// none, ok is false, and most is the size that the current setting allows.
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

// Following is the result of checking a request against the settings.
type Following struct {
	Wrong bool  // no setting that may be in force allows the request's attributes
	Want  uint8 // set of attributes allowed by the setting in force
	Late  bool  // more than LateRequests requests follow a previous setting; this is one too many
	Since int64 // with Late: cycle since which the next setting is in force
}

// Follows finds the latest setting that a request can follow, by its size and attributes [P10, P11]; data says that
// it carries bytes of frames or copies.
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

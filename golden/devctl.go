package golden

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// setting is what DEVCTL said for a while, and what the device did by it after
// that [P10].
type setting struct {
	limits tlp.Limits
	attrs  uint8 // set of attributes: bit a for attributes a
	until  int64 // last cycle in which the next setting may not have taken effect
	late   int   // requests since then that followed this setting, or one before it
}

const (
	keptSettings = 8
	lateRequests = 256 // that may follow former settings [P10]
)

// devctls is the settings of DEVCTL that requests may still follow.
type devctls struct {
	list [keptSettings]setting // oldest first; the last one is in force
	n    int
	size int    // the latest setting that allows the size of the request at hand
	lost uint64 // settings taken together with the next
}

// dataKind says what a request carries, as far as attributes go [P11].
type dataKind uint8

const (
	carriesData  dataKind = iota // of frames or copies
	carriesOther                 // ring entries, completion entries, messages
)

func settingOf(regs *core.Regs) setting {
	return setting{limits: regs.Limits(), attrs: 1 << regs.DataAttr()}
}

// reset forgets former settings.
func (d *devctls) reset(regs *core.Regs) { d.list[0], d.n = settingOf(regs), 1 }

// write notes a write of DEVCTL. When there are too many, the oldest two count
// as one that allows what either does.
func (d *devctls) write(regs *core.Regs, now int64) {
	last, next := &d.list[d.n-1], settingOf(regs)
	last.until = now + nicspec.VisibleCycles
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

// settleDevctl forgets the former settings once nothing is under way that can
// have begun under them [G8]. It is called before something begins; a frame
// that is coming in has begun, but is not known yet.
func (r *Referee) settleDevctl() {
	d, longest := &r.devctl, int64(nicspec.FrameMax*8/r.cfg.Build.EthBits)
	if d.n == 1 || r.now <= d.list[d.n-2].until+longest || r.rd.open > 0 || r.tx.at > 0 || r.pendingFrames() > 0 {
		return
	}
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open && (q.ctx.CI != q.ctx.PI && q.slot(q.ctx.PI-1).state == slotIdle || q.draining) {
			return
		}
	}
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.open && (q.oldest != q.ctx.PI || q.draining) {
			return
		}
	}
	d.reset(r.regs)
}

// sized finds the latest setting that allows the size of the request at hand
// [P3].
func (r *Referee) sized(h *tlp.Header) {
	d := &r.devctl
	n := int(h.Length) * tlp.DWBytes
	for d.size = d.n - 1; d.size >= 0; d.size-- {
		if l := &d.list[d.size].limits; h.Kind == tlp.MRd && n <= l.MRRS || h.Kind != tlp.MRd && n <= l.MPS {
			return
		}
	}
	d.size = d.n - 1
	limits := d.list[d.size].limits
	field, most := verdict.FieldPayload, limits.MPS
	if h.Kind == tlp.MRd {
		field, most = "request bytes", limits.MRRS
	}
	r.log.Saw(verdict.Device, &r.x)
	r.log.Fail(verdict.Device, "P3", field, fmt.Sprintf("at most %d", most), fmt.Sprint(n), h.String())
}

// follows checks the attributes of the request at hand [P11], and that not too
// many requests follow former settings [P10], in their size or attributes.
func (r *Referee) follows(h *tlp.Header, kind dataKind) {
	d := &r.devctl
	want := uint8(1)
	if kind == carriesData {
		want = d.list[d.n-1].attrs
	}
	at := d.n - 1
	if want>>h.Attr&1 == 0 {
		for at--; at >= 0 && (kind != carriesData || d.list[at].attrs>>h.Attr&1 == 0); {
			at--
		}
	}
	if at < 0 {
		r.log.Saw(verdict.Device, &r.x)
		r.log.Fail(verdict.Device, "P11", "Attr", attrText(want), fmt.Sprintf("%#x", uint8(h.Attr)), h.String())
		return
	}
	for at = min(at, d.size); at < d.n-1; at++ {
		s := &d.list[at]
		if r.now <= s.until {
			continue
		}
		if s.late++; s.late == lateRequests+1 {
			r.log.Saw(verdict.Device, &r.x)
			r.log.Fail(verdict.Device, "P10", "DEVCTL", fmt.Sprintf("in force since cycle %d, but for %d requests", s.until, lateRequests),
				"one more by a former setting", h.String())
		}
	}
}

// attrText names the only attributes of a set.
func attrText(set uint8) string {
	for a := range 8 {
		if set == 1<<a {
			return fmt.Sprintf("%#x", a)
		}
	}
	return fmt.Sprintf("one of the set %#x", set)
}

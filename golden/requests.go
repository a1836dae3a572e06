package golden

import (
	"fmt"

	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// dataKind classifies the data of a request by the attributes that it must have [P11].
type dataKind uint8

const (
	carriesData  dataKind = iota // frames or copies
	carriesOther                 // ring entries, completion entries, messages
)

// settleDevctl forgets the previous settings of DEVCTL once no work is under way that can have begun under them
// [G8]. It must be called before new work is recorded. A frame that is being received has begun but is not recorded
// yet, so the settings are kept for at least the time that the longest frame takes.
func (r *Referee) settleDevctl() {
	until, open := r.devctl.Settling()
	longest := int64(nicspec.FrameMax * 8 / r.cfg.Build.EthBits)
	if !open || r.now <= until+longest || r.ent.Out.Open > 0 || r.ent.AtWork > 0 || r.pendingFrames() > 0 {
		return
	}
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open && (q.Ctx.CI != q.Ctx.PI && q.Slot(q.Ctx.PI-1).State == rings.Idle ||
			q.draining) {
			return
		}
	}
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.Open && (q.Oldest != q.Ctx.PI || q.draining) {
			return
		}
	}
	r.devctl.Reset(r.regs)
}

// checkSize checks that a setting which may be in force allows the size of the current request [P3].
func (r *Referee) checkSize(h *tlp.Header) {
	read, n := h.Kind == tlp.MRd, int(h.Length)*tlp.DWBytes
	most, ok := r.devctl.Sized(read, n)
	if ok {
		return
	}
	field := verdict.FieldPayload
	if read {
		field = "request bytes"
	}
	r.log.AddCrossing(verdict.Device)
	r.log.Fail(verdict.Device, "P3", field, fmt.Sprintf("at most %d", most), fmt.Sprint(n), h.String())
}

// checkSetting checks the attributes of the current request [P11], and that not too many requests follow previous
// settings, by size or by attributes [P10].
func (r *Referee) checkSetting(h *tlp.Header, kind dataKind) {
	f := r.devctl.Follows(h.Attr, kind == carriesData, r.now)
	if !f.Wrong && !f.Late {
		return
	}
	r.log.AddCrossing(verdict.Device)
	if f.Wrong {
		r.log.Fail(verdict.Device, "P11", "Attr", attrText(f.Want), fmt.Sprintf("%#x", uint8(h.Attr)), h.String())
		return
	}
	r.log.Fail(verdict.Device, "P10", "DEVCTL", fmt.Sprintf("in force since cycle %d, but for %d requests", f.Since,
		windows.LateRequests),
		"one more request by a former setting", h.String())
}

// attrText formats a set of attributes.
func attrText(set uint8) string {
	for a := range 8 {
		if set == 1<<a {
			return fmt.Sprintf("%#x", a)
		}
	}
	return fmt.Sprintf("one of the set %#x", set)
}

// failFlags reports the first header field that is not zero although [P2] requires it.
func (r *Referee) failFlags(h *tlp.Header) {
	want := *h
	want.TC, want.EP = 0, false
	if h.Kind == tlp.MWr {
		want.Tag = 0
	}
	diff, _ := tlp.Diff(&want, h)
	r.log.AddCrossing(verdict.Device)
	r.log.Fail(verdict.Device, "P2", diff.Field.String(), fmt.Sprint(diff.A), fmt.Sprint(diff.B), h.String())
}

// ruleOf gives the rule of the contract for each rule of the PCIe monitor.
var ruleOf = map[tlp.Rule]string{
	tlp.RuleAddressFormat: "P1", tlp.RuleLength: "B5", tlp.RulePage: "P3", tlp.RuleByteEnables: "P4",
}

// reportViolations reports the PCIe monitor's findings about the device, except those about sizes. checkSize checks
// these, since the monitor does not know how long previous limits apply.
func (r *Referee) reportViolations(d verdict.Domain, vs []tlp.Violation) {
	for i := range vs {
		v := &vs[i]
		if v.Rule == tlp.RuleMPS || v.Rule == tlp.RuleMRRS {
			continue
		}
		rule, ok := ruleOf[v.Rule]
		if !ok {
			rule = "P2"
		}
		want := v.Expected
		if v.Relation != tlp.Described {
			want = fmt.Sprintf("%s%#x", relations[v.Relation], v.Want)
		}
		r.log.Fail(d, rule, v.Field, want, fmt.Sprintf("%#x", v.Got), v.String())
	}
}

var relations = map[tlp.Relation]string{
	tlp.AtMost: "at most ", tlp.AtLeast: "at least ", tlp.MultipleOf: "a multiple of ", tlp.NotEqual: "not ",
}

package tlp

import (
	"cmp"
	"errors"
	"fmt"
	"nictwin/models/sim/field"
	"slices"
)

// MonitorConfig configures the rules for the traffic of one port.
type MonitorConfig struct {
	Limits            // limits of the device: MPS in both directions, MRRS of its reads, RCB of completions to it
	PeerMRRS      int // MRRS of reads sent to the device
	Tags          int // tags a requester may use: 32, or 256 with extended tags
	DeviceID      uint16
	CheckDeviceID bool // check that the device's requests and completions carry DeviceID
}

// DefaultMonitorConfig returns the limits after reset, extended tags, and no
// check of the device's ID.
func DefaultMonitorConfig() MonitorConfig {
	return MonitorConfig{Limits: DefaultLimits(), PeerMRRS: PageBytes, Tags: 256}
}

// Validate returns all errors of the configuration.
func (c MonitorConfig) Validate() error {
	errs := []error{field.Under("limits", c.Limits.Validate())}
	if !legalSize(c.PeerMRRS) {
		errs = append(errs, fmt.Errorf("tlp: PeerMRRS is %d B, want 128, 256, 512, 1024, 2048 or 4096", c.PeerMRRS))
	}
	if c.Tags != 32 && c.Tags != 256 {
		errs = append(errs, fmt.Errorf("tlp: monitor is set to %d tags, want 32 or 256", c.Tags))
	}
	return errors.Join(errs...)
}

// Monitor checks the TLPs at one port, in both directions, against the rules. It allocates nothing
// while no rule is broken, and recovers its state after a violation, so that one fault is not
// reported over and over.
type Monitor struct {
	cfg     MonitorConfig
	limits  Limits // limits in force; during a change the looser of old and new
	next    Limits
	open    [numDirs]outstanding // outstanding requests, by direction of the request
	out     []Violation
	dir     Dir // direction of the TLP being checked
	cycle   uint64
	checked uint64
	broken  [numRules]uint64
}

// NewMonitor returns a monitor without outstanding requests.
func NewMonitor(cfg MonitorConfig) (*Monitor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Monitor{cfg: cfg, limits: cfg.Limits, next: cfg.Limits}
	for d := range m.open {
		m.open[d] = newOutstanding()
	}
	return m, nil
}

// Announce begins a change of the device's limits: until Settle, the monitor accepts TLPs that are
// legal under the old or the new limits.
func (m *Monitor) Announce(l Limits) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("tlp: limits announced: %w", err)
	}
	m.limits, m.next = loosest(m.limits, l), l
	return nil
}

// Settle ends the change that Announce began: from now on, only the limits announced last are in force.
func (m *Monitor) Settle() { m.limits = m.next }

// SetLimits changes the limits at once.
func (m *Monitor) SetLimits(l Limits) error {
	if err := m.Announce(l); err != nil {
		return err
	}
	m.Settle()
	return nil
}

// Checked returns how many TLPs were checked.
func (m *Monitor) Checked() uint64 { return m.checked }

// Broken returns how often rule r was broken.
func (m *Monitor) Broken(r Rule) uint64 { return m.broken[r] }

// Outstanding returns how many requests sent in direction d wait for
// completions.
func (m *Monitor) Outstanding(d Dir) int { return m.open[d].count }

// Abandon frees the tag of a request sent in direction d that will not be completed, for example
// after its requester's completion timeout. It reports whether there was such a request.
func (m *Monitor) Abandon(d Dir, requesterID uint16, tag uint8) bool {
	return m.open[d].remove(uint32(requesterID)<<8 | uint32(tag))
}

// Check checks one TLP and returns the rules it breaks, normally none. The slice is valid until the
// next call.
func (m *Monitor) Check(d Dir, cycle uint64, p *Packet) []Violation {
	h := p.Parsed()
	return m.check(d, cycle, h, p.clean, &p.Hdr, p.Data)
}

// CheckRaw is Check for a TLP given as header bytes and payload.
func (m *Monitor) CheckRaw(d Dir, cycle uint64, hdr *[HeaderBytes]byte, data []byte) []Violation {
	h := Parse(hdr)
	return m.check(d, cycle, &h, false, hdr, data)
}

// check checks a TLP whose header was parsed to h; clean means that Decode accepts the header.
func (m *Monitor) check(d Dir, cycle uint64, h *Header, clean bool, hdr *[HeaderBytes]byte, data []byte) []Violation {
	m.out, m.dir, m.cycle = m.out[:0], d, cycle
	m.checked++
	if !clean {
		if err := h.reservedZero(hdr); err != nil {
			m.badHeader(h, err)
		}
	}
	switch {
	case h.Kind == KindInvalid:
		m.unsupported(hdr)
	case h.Kind.IsMemory():
		m.payload(h, len(data))
		m.memory(h)
	case h.Kind.IsCompletion():
		m.payload(h, len(data))
		m.completion(h)
	default:
		m.payload(h, len(data))
		m.message(h)
	}
	for i := range m.out {
		m.out[i].Raw = *hdr
	}
	return m.out
}

// End returns a violation for every request that is still outstanding, by direction, requester and
// tag. The cycle of a violation is that of the request. The slice is valid until the next call.
func (m *Monitor) End() []Violation {
	m.out = m.out[:0]
	for d := range m.open {
		start := len(m.out)
		for i := range m.open[d].slots {
			if r := &m.open[d].slots[i]; r.used {
				m.dir, m.cycle = Dir(d), r.cycle
				m.report(RuleOutstanding, &r.hdr, "ByteCount", Equal, 0, uint64(r.left))
			}
		}
		slices.SortFunc(m.out[start:], func(a, b Violation) int {
			return cmp.Compare(transactionID(&a.Header), transactionID(&b.Header))
		})
	}
	return m.out
}

// report adds a violation.
func (m *Monitor) report(r Rule, h *Header, field string, rel Relation, want, got uint64) *Violation {
	m.broken[r]++
	m.out = append(m.out, Violation{
		Rule: r, Dir: m.dir, Cycle: m.cycle, Header: *h,
		Field: field, Relation: rel, Want: want, Got: got,
	})
	return &m.out[len(m.out)-1]
}

// describe adds a violation whose expected value is described in words.
func (m *Monitor) describe(r Rule, h *Header, field, expected string, got uint64) {
	m.report(r, h, field, Described, 0, got).Expected = expected
}

func (m *Monitor) badHeader(h *Header, err error) {
	var fe *FieldError
	if !errors.As(err, &fe) {
		panic("tlp: a header was refused without a FieldError: " + err.Error())
	}
	m.describe(RuleHeader, h, fe.Field, fe.Want, fe.Got)
}

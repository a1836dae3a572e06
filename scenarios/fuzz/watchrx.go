package fuzz

import (
	"fmt"

	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

func stallClass(percent int) string {
	switch {
	case percent == 0:
		return "no stalls"
	case percent <= 30:
		return "stalls up to 30%"
	}
	return "more stalls"
}

// lengths are classes of frame lengths by their upper bounds.
var lengths = []struct {
	most int
	name string
}{
	{59, "under 60 B"}, {60, "60 B"}, {127, "61..127 B"}, {255, "128..255 B"}, {511, "256..511 B"}, {1518, "512..1518 B"},
	{4095, "1519..4095 B"}, {9215, "4096..9215 B"}, {nicspec.FrameMax, "9216 B"},
}

func lengthClass(n int) string {
	for _, l := range lengths {
		if n <= l.most {
			return l.name
		}
	}
	return "longer"
}

func alignClass(bus uint64) string {
	switch {
	case bus%64 == 0:
		return "64 B"
	case bus%4 == 0:
		return "4 B"
	}
	return "odd"
}

var regionNames = [regions]string{"host", "Arm below 4 GB", "Arm above 4 GB"}

func pages(bus uint64, n int) string {
	switch (bus+uint64(n)-1)/tlp.PageBytes - bus/tlp.PageBytes {
	case 0:
		return "in a page"
	case 1:
		return "in 2 pages"
	}
	return "in 3 pages"
}

func numberClass(n, of int) string {
	switch {
	case n == 0:
		return "first"
	case n == of-1:
		return "last"
	case n == nicspec.RuleNone:
		return "none"
	}
	return "between"
}

// lap is how often a ring went round.
func lap(index uint16, log int) string {
	switch index >> log {
	case 0:
		return "lap 1"
	case 1:
		return "lap 2"
	}
	return "later lap"
}

func logClass(log int) string {
	if log > 4 {
		return "32 entries and more"
	}
	return fmt.Sprintf("%d entries", 1<<log)
}

// delivered is told of frames that were delivered.
func (w *watcher) delivered(r *rxRing, c nicspec.RxCqe, d *posted) {
	if w.cov == nil {
		return
	}
	n, h := int(c.FrameLen()), int(c.HdrLen())
	split := r.cfg.Split.String()
	w.cov.hit("receive", "split "+split, lengthClass(n), w.stall)
	if h > 0 {
		w.cov.hit("receive buffers", "header", "split "+split, alignClass(d.hdr), regionNames[d.hdrP.region()])
	}
	p := n - h
	if w.sizes.Has(nicspec.PartTrim) {
		p = int(c.PayLen())
	}
	if p > 0 {
		w.cov.hit("receive buffers", "payload", "split "+split, alignClass(d.pay), regionNames[d.payP.region()])
		w.cov.hit("receive pages", pages(d.pay, p), fmt.Sprintf("MPS %d", mps(w.devctl)))
	} else {
		w.cov.hit("receive pages", "no payload", "")
	}
	w.cov.hit("receive rings", logClass(r.Log), lap(c.Index(), r.Log))
	w.cov.hit("receive queues", numberClass(r.Number, w.sizes.NumRxq), fmt.Sprintf("port %d", c.Port()))
	w.cov.hit("rules", numberClass(int(c.Rule()), w.sizes.NumRules))
	w.trimmed(r, c)
	w.rareQueue(r)
	w.parsed(c)
	w.parts(r, c)
	w.arrived(c)
}

// parsed looks at what the entry says of the frame's headers.
func (w *watcher) parsed(c nicspec.RxCqe) {
	l4 := c.L4Type().String()
	if c.Roce() {
		l4 = "RoCE"
		w.cov.hit("RoCE opcodes", opcodeName(c.BthOpcode()))
	}
	w.cov.hit("headers", fmt.Sprintf("%d tags", c.VlanCount()), c.L3Type().String(), l4)
	w.cov.hit("checks", "IP "+c.IpCsum().String(), "L4 "+c.L4Csum().String(), "ICRC "+c.Icrc().String())
	if c.L3Type() != nicspec.L3TypeNone {
		w.cov.hit("lengths that lie", c.L3Type().String(), truth("IP", c.IpLenBad()), truth("UDP", c.L4LenBad()))
	}
	if c.L3Type() == nicspec.L3TypeIpv4 && c.L4Type() != nicspec.L4TypeNone {
		w.cov.hit("IPv4 headers", fmt.Sprintf("%d words", (c.L4Off()-c.L3Off())/4))
	}
	if c.Frag() {
		w.cov.hit("fragments", l4)
	}
}

func truth(what string, bad bool) string {
	if bad {
		return what + " lies"
	}
	return what + " is right"
}

// opcodeName is an opcode of those with extended headers, or other.
func opcodeName(op uint8) string {
	for _, e := range extended {
		if e == op {
			return fmt.Sprintf("%#02x", op)
		}
	}
	return "other"
}

// extended are the opcodes of [H7] that extended headers follow.
var extended = []uint8{0x03, 0x05, 0x06, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x23, 0x25,
	0x26, 0x29, 0x2a, 0x2b, 0x64, 0x65, 0x81}

// parts looks at what belongs to parts of the build.
func (w *watcher) parts(r *rxRing, c nicspec.RxCqe) {
	if w.sizes.Has(nicspec.PartRss) {
		how := "no hash"
		if c.RssHash() != 0 {
			how = "hash"
		}
		w.cov.hit("RSS", c.L3Type().String(), c.L4Type().String(), how)
	}
	if w.sizes.Has(nicspec.PartAccounts) && c.AccountSeq() > 0 {
		how := "fast"
		if c.SlowPath() {
			how = "slow"
		}
		w.cov.hit("accounts", how)
	}
	if w.sizes.Has(nicspec.PartCrc32c) {
		w.cov.hit("CRC-32C received", "mode "+r.cfg.Crc.String(), c.Crc32c().String())
	}
	if w.sizes.Has(nicspec.PartEcn) && c.L3Type() != nicspec.L3TypeNone {
		w.cov.hit("ECN received", fmt.Sprintf("mode %d", r.cfg.Ecn), c.L3Type().String(), fmt.Sprintf("ECN %d", c.IpTos()&3))
	}
}

package core

import "nictwin/models/nicspec"

// registerBits are the bits of the registers that can be written: fields of
// parts that are there [G3].
type registerBits struct{ ctrl, devctl, rxCtrl, rxDefault, rocePort uint32 }

func registerBitsOf(b *nicspec.Build) registerBits {
	const ctrl = 0x3 // CTRL.flr is no bit that stays as written
	return registerBits{
		ctrl: ctrl, devctl: fieldsOf(b, nicspec.RegDevctl), rxCtrl: fieldsOf(b, nicspec.RegRxCtrl),
		rxDefault: fieldsOf(b, nicspec.RegRxDefault), rocePort: 0xffff,
	}
}

// fields is the bits of a register's fields, without those of parts that the
// build lacks.
func fieldsOf(b *nicspec.Build, off uint32) (bits uint32) {
	reg, _, _ := nicspec.RegisterAt(off)
	for i := range reg.Fields {
		if f := &reg.Fields[i]; b.Has(f.Part) {
			bits |= (1<<f.Width - 1) << f.Bit
		}
	}
	return bits
}

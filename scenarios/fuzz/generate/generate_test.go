package generate_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/generate"
	"nictwin/scenarios/fuzz/program"
)

// reached collects, for each field of the programs, the bits that were ever 0 and those that were ever 1.
type reached map[string]*[2]uint64

func (r reached) see(what string, v uint64) {
	if r[what] == nil {
		r[what] = new([2]uint64)
	}
	r[what][0] |= ^v
	r[what][1] |= v
}

// both returns the bits of a field that took both values.
func (r reached) both(what string) uint64 {
	if r[what] == nil {
		return 0
	}
	return r[what][0] & r[what][1]
}

func (r reached) place(what string, p *program.Place) { r.see(what, p.Far) }

func (r reached) op(o *program.Op) {
	switch {
	case o.Key != nil:
		r.see("key", uint64(o.Key.Index))
		r.see("room", o.Key.Room)
	case o.Rule != nil:
		r.see("rule", uint64(o.Rule.Index))
	case o.RxQueue != nil:
		r.see("rx queue", uint64(o.RxQueue.Queue))
		r.place("rx ring", &o.RxQueue.Ring)
		if m := o.RxQueue.Msix; m != nil {
			r.place("message", &m.At)
		}
	case o.TxQueue != nil:
		r.see("tx queue", uint64(o.TxQueue.Queue))
		r.place("tx completions", &o.TxQueue.Done)
	case o.Post != nil:
		r.place("buffer", &o.Post.Pay)
	case o.Table != nil && o.Table.Op == uint8(nicspec.TableOpWrite):
		r.table(o.Table)
	case o.Write != nil && o.Write.Reg == "PORT_MAC":
		r.see("MAC", uint64(o.Write.Value))
	case o.TLP != nil:
		r.tlp(o.TLP)
	case o.Send != nil:
		for i := range o.Send.Entries {
			r.entry(o.Send, &o.Send.Entries[i])
		}
	}
}

func (r reached) table(t *program.Table) {
	switch {
	case t.Table == nicspec.TablePortCfg:
		r.see("pause time", uint64(t.Words[1]))
	case (t.Table == nicspec.TableRxq || t.Table == nicspec.TableTxq) && t.Words[0]&0xff == 0:
		r.see("disabled", uint64(t.Words[0])>>8)
		r.see("disabled base", uint64(t.Words[4])|uint64(t.Words[5])<<32)
	}
}

func (r reached) tlp(t *program.TLP) {
	hdr, err := hex.DecodeString(t.Header)
	if err == nil && hdr[0]&0x30 == 0x30 && hdr[0] < 0x80 {
		r.see("message attributes", uint64(hdr[1])<<8|uint64(hdr[2]))
		r.see("message length", uint64(hdr[2]&3)<<8|uint64(hdr[3]))
		r.see("message code", uint64(hdr[7]))
	}
}

func (r reached) entry(s *program.Send, e *program.Entry) {
	if e.Push && len(s.Entries) == 1 {
		r.see("pushed", uint64(e.Opcode))
		r.see("pushed noise", uint64(e.Noise))
	}
	if e.UDPCsum || e.ICRC {
		r.see("l3", uint64(e.L3))
		r.see("l4", uint64(e.L4))
	}
	if e.Opcode == nicspec.OpcodeInvalidate {
		r.see("invalidated", uint64(e.Pieces[0].Len))
	}
}

// Programs reach the whole range of their fields: over many seeds, every bit takes both values.
func TestWhatProgramsReach(t *testing.T) {
	sizes := nicspec.DefaultBuild()
	sizes.Ports, sizes.NumRxq, sizes.NumTxq, sizes.NumKeys, sizes.NumRules = 2, nicspec.RxqMax, nicspec.TxqMax, 4096,
		nicspec.RulesMax
	r := reached{}
	for seed := range uint64(1000) {
		p := generate.Generate(seed, generate.Shape{Sizes: sizes, Stall: -1, Overlap: false})
		for i := range p.Ops {
			r.op(&p.Ops[i])
		}
	}
	const anywhere = uint64(program.FarHigh | program.FarNowhere)
	for what, bits := range map[string]uint64{
		"key": 0xfff, "rule": 0xff, "rx queue": 0xff, "tx queue": 0xff, "room": 1<<56 - 1,
		"rx ring": anywhere | program.FarLow, "tx completions": anywhere | program.FarLow,
		"buffer": anywhere | program.FarLow, "message": anywhere | program.FarLow,
		"pause time": 0xffff, "MAC": 0xffff_ffff, "disabled": 0xff_ffff, "disabled base": ^uint64(0),
		"message attributes": 0x7470, "message length": 0x3ff, "message code": 0xff,
		"pushed": 0xff, "pushed noise": 3, "l3": 0x7f, "l4": 0x7f, "invalidated": 0xff_ffff,
	} {
		require.Equal(t, bits, r.both(what)&bits, "bits of %s", what)
	}
}

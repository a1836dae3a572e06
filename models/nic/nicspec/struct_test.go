package nicspec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nicspec/schema"
)

// shape holds the generated types and functions of a structure.
type shape struct {
	view   reflect.Type
	fields reflect.Type
	decode any
	diff   func(exp, got []byte) (string, string, string, bool)
	size   int
}

var shapes = map[string]shape{
	"RxDesc": {reflect.TypeFor[nicspec.RxDesc](), reflect.TypeFor[nicspec.RxDescFields](),
		nicspec.DecodeRxDesc, nicspec.DiffRxDesc, nicspec.RxDescSize},
	"Wqe": {reflect.TypeFor[nicspec.Wqe](), reflect.TypeFor[nicspec.WqeFields](), nicspec.DecodeWqe,
		nicspec.DiffWqe, nicspec.WqeSize},
	"WqeMore": {reflect.TypeFor[nicspec.WqeMore](), reflect.TypeFor[nicspec.WqeMoreFields](),
		nicspec.DecodeWqeMore, nicspec.DiffWqeMore, nicspec.WqeMoreSize},
	"Seg": {reflect.TypeFor[nicspec.Seg](), reflect.TypeFor[nicspec.SegFields](), nicspec.DecodeSeg,
		nicspec.DiffSeg, nicspec.SegSize},
	"RxCqe": {reflect.TypeFor[nicspec.RxCqe](), reflect.TypeFor[nicspec.RxCqeFields](), nicspec.DecodeRxCqe,
		nicspec.DiffRxCqe, nicspec.RxCqeSize},
	"TxCqe": {reflect.TypeFor[nicspec.TxCqe](), reflect.TypeFor[nicspec.TxCqeFields](), nicspec.DecodeTxCqe,
		nicspec.DiffTxCqe, nicspec.TxCqeSize},
	"RxqEntry": {reflect.TypeFor[nicspec.RxqEntry](), reflect.TypeFor[nicspec.RxqEntryFields](),
		nicspec.DecodeRxqEntry, nicspec.DiffRxqEntry, nicspec.RxqEntrySize},
	"TxqEntry": {reflect.TypeFor[nicspec.TxqEntry](), reflect.TypeFor[nicspec.TxqEntryFields](),
		nicspec.DecodeTxqEntry, nicspec.DiffTxqEntry, nicspec.TxqEntrySize},
	"KeyEntry": {reflect.TypeFor[nicspec.KeyEntry](), reflect.TypeFor[nicspec.KeyEntryFields](),
		nicspec.DecodeKeyEntry, nicspec.DiffKeyEntry, nicspec.KeyEntrySize},
	"SteerKey": {reflect.TypeFor[nicspec.SteerKey](), reflect.TypeFor[nicspec.SteerKeyFields](),
		nicspec.DecodeSteerKey, nicspec.DiffSteerKey, nicspec.SteerKeySize},
	"RuleEntry": {reflect.TypeFor[nicspec.RuleEntry](), reflect.TypeFor[nicspec.RuleEntryFields](),
		nicspec.DecodeRuleEntry, nicspec.DiffRuleEntry, nicspec.RuleEntrySize},
	"IndirectionEntry": {reflect.TypeFor[nicspec.IndirectionEntry](), reflect.TypeFor[nicspec.IndirectionEntryFields](),
		nicspec.DecodeIndirectionEntry, nicspec.DiffIndirectionEntry, nicspec.IndirectionEntrySize},
	"AccountEntry": {reflect.TypeFor[nicspec.AccountEntry](), reflect.TypeFor[nicspec.AccountEntryFields](),
		nicspec.DecodeAccountEntry, nicspec.DiffAccountEntry, nicspec.AccountEntrySize},
	"PortEntry": {reflect.TypeFor[nicspec.PortEntry](), reflect.TypeFor[nicspec.PortEntryFields](),
		nicspec.DecodePortEntry, nicspec.DiffPortEntry, nicspec.PortEntrySize},
	"InvalidateMsg": {reflect.TypeFor[nicspec.InvalidateMsg](), reflect.TypeFor[nicspec.InvalidateMsgFields](),
		nicspec.DecodeInvalidateMsg, nicspec.DiffInvalidateMsg, nicspec.InvalidateMsgSize},
}

// eachStruct runs f for every structure of nic.yaml.
func eachStruct(t *testing.T, f func(t *testing.T, s *schema.Struct, sh shape)) {
	c := contract(t)
	for i := range c.Structs {
		s := &c.Structs[i]
		t.Run(s.Name, func(t *testing.T) {
			sh, ok := shapes[s.Name]
			require.True(t, ok, "add %s to shapes", s.Name)
			f(t, s, sh)
		})
	}
}

// bits reads and writes fields one bit at a time: slow, but easily compared with nic.yaml.
type bits []byte

func (b bits) get(bit int) bool { return b[bit/8]>>(bit%8)&1 != 0 }

func (b bits) put(bit int, v bool) {
	b[bit/8] &^= 1 << (bit % 8)
	if v {
		b[bit/8] |= 1 << (bit % 8)
	}
}

func (b bits) number(f *schema.Field) (v uint64) {
	for i := f.Width - 1; i >= 0; i-- {
		v <<= 1
		if b.get(f.Bit() + i) {
			v |= 1
		}
	}
	return v
}

// expect returns a copy of a structure in which a field has another value.
func expect(before []byte, f *schema.Field, v uint64, str []byte) []byte {
	out := bits(bytes.Clone(before))
	for i := 0; i < f.Width; i++ {
		if f.IsBytes() {
			out.put(f.Bit()+i, i/8 < len(str) && str[i/8]>>(i%8)&1 != 0)
		} else {
			out.put(f.Bit()+i, v>>i&1 != 0)
		}
	}
	return out
}

// toUint converts an accessor's result to a number.
func toUint(v reflect.Value) uint64 {
	if v.Kind() == reflect.Bool {
		if v.Bool() {
			return 1
		}
		return 0
	}
	return v.Uint()
}

// fromUint converts a number to a setter's argument, cut to its type.
func fromUint(n uint64, typ reflect.Type) reflect.Value {
	if typ.Kind() == reflect.Bool {
		return reflect.ValueOf(n&1 != 0)
	}
	return reflect.ValueOf(n).Convert(typ)
}

func randomBytes(n int) *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), n, n) }

// TestAccessors: every setter changes exactly the bits of its field, and the getter returns the
// value, whatever the other bits are.
func TestAccessors(t *testing.T) {
	eachStruct(t, func(t *testing.T, s *schema.Struct, sh shape) {
		rapid.Check(t, func(t *rapid.T) {
			b := randomBytes(s.Bytes).Draw(t, "before")
			view := reflect.ValueOf(b).Convert(sh.view)
			f := &s.Fields[rapid.IntRange(0, len(s.Fields)-1).Draw(t, "field")]
			get := view.MethodByName(schema.Camel(f.Name))
			set := view.MethodByName("Set" + schema.Camel(f.Name))
			if f.IsBytes() {
				if got := get.Call(nil)[0].Bytes(); !bytes.Equal(got, b[f.Byte:f.Byte+f.Width/8]) {
					t.Fatalf("%s reads %x", f.Name, got)
				}
				str := rapid.SliceOfN(rapid.Byte(), 0, f.Width/8).Draw(t, "value")
				want := expect(b, f, 0, str)
				set.Call([]reflect.Value{reflect.ValueOf(str)})
				if !bytes.Equal(b, want) {
					t.Fatalf("Set%s gives\n%x, want\n%x", f.Name, b, want)
				}
				return
			}
			if got, want := toUint(get.Call(nil)[0]), bits(b).number(f); got != want {
				t.Fatalf("%s reads %d, want %d", f.Name, got, want)
			}
			v := rapid.Uint64().Draw(t, "value")
			want := expect(b, f, v, nil)
			set.Call([]reflect.Value{fromUint(v, set.Type().In(0))})
			if !bytes.Equal(b, want) {
				t.Fatalf("Set%s(%d) gives\n%x, want\n%x", f.Name, v, b, want)
			}
		})
	})
}

// TestDecodeEncode: Encode restores what Decode read, except reserved bits, which it zeros.
func TestDecodeEncode(t *testing.T) {
	eachStruct(t, func(t *testing.T, s *schema.Struct, sh shape) {
		require.Equal(t, s.Bytes, sh.size)
		rapid.Check(t, func(t *rapid.T) {
			src := randomBytes(s.Bytes).Draw(t, "src")
			want := make(bits, s.Bytes)
			for i := range s.Fields {
				for b := s.Fields[i].Bit(); b < s.Fields[i].Bit()+s.Fields[i].Width; b++ {
					want.put(b, bits(src).get(b))
				}
			}
			fields := reflect.New(sh.fields)
			fields.Elem().Set(reflect.ValueOf(sh.decode).Call([]reflect.Value{reflect.ValueOf(src)})[0])
			dst := randomBytes(s.Bytes+1).Draw(t, "dst")
			after := dst[s.Bytes]
			fields.MethodByName("Encode").Call([]reflect.Value{reflect.ValueOf(dst)})
			if !bytes.Equal(dst[:s.Bytes], want) || dst[s.Bytes] != after {
				t.Fatalf("encoded\n%x, want\n%x", dst, want)
			}
		})
	})
}

// TestDiffNamesTheField: if one bit differs, Diff names the field that contains it, or the reserved
// byte.
func TestDiffNamesTheField(t *testing.T) {
	eachStruct(t, func(t *testing.T, s *schema.Struct, sh shape) {
		exp := bytes.Repeat([]byte{0xa5}, s.Bytes)
		_, _, _, ok := sh.diff(exp, bytes.Clone(exp))
		require.True(t, ok)
		for bit := 0; bit < 8*s.Bytes; bit++ {
			want := fmt.Sprintf("reserved byte %d", bit/8)
			for i := range s.Fields {
				if f := &s.Fields[i]; bit >= f.Bit() && bit < f.Bit()+f.Width {
					want = f.Name
				}
			}
			got := bits(bytes.Clone(exp))
			got.put(bit, !got.get(bit))
			field, e, g, ok := sh.diff(exp, got)
			require.False(t, ok)
			require.Equal(t, want, field, "bit %d", bit)
			require.NotEqual(t, e, g)
		}
	})
}

func TestDiffText(t *testing.T) {
	exp, got := make(nicspec.RxCqe, 64), make(nicspec.RxCqe, 64)
	exp.SetType(nicspec.CqeTypeRx)
	got.SetType(nicspec.CqeTypeRx)
	exp.SetFrameLen(60)
	got.SetFrameLen(4791)
	got.SetPhase(true)
	field, e, g, ok := nicspec.DiffRxCqe(exp, got)
	require.Equal(t, []any{"frame_len", "60 (0x3c)", "4791 (0x12b7)", false}, []any{field, e, g, ok})
	got.SetFrameLen(60)
	got.SetType(7)
	field, e, g, _ = nicspec.DiffRxCqe(exp, got)
	require.Equal(t, []string{"type", "Rx (1)", "CqeType(7) (7)"}, []string{field, e, g})
	field, _, g, ok = nicspec.DiffRxCqe(exp, got[:63])
	require.Equal(t, []any{"length", "63 bytes instead of 64", false}, []any{field, g, ok})
	require.Equal(t, "Seg{key=5 len=64 (0x40)}", nicspec.Seg{0: 5, 4: 64, 15: 0}.String())
	require.Equal(t, "Seg{2 bytes instead of 16}", nicspec.Seg{1, 2}.String())
}

// TestLayoutByHand compares an encoded work entry with bytes laid out by hand from nic.yaml.
func TestLayoutByHand(t *testing.T) {
	w := make([]byte, nicspec.WqeSize)
	(&nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 2, InlineLen: 14, Port: 1, FComplete: true, FIcrc: true,
		FFence: true, FAppend: true, FRsvd: 0x11, Blocks: 2,
		WqeId: 0x11223344, L3Off: 14, L4Off: 34, Slots: [48]byte{0: 0xaa, 47: 0xbb}}).Encode(w)
	want := make([]byte, 64)
	copy(want, []byte{1, 2, 14, 1, 0x91, 0xa3, 0, 0, 0x44, 0x33, 0x22, 0x11, 14, 34, 0, 0, 0xaa})
	want[63] = 0xbb
	require.Equal(t, want, w)
	require.Equal(t, [...]uint8{0x11, 2}, [...]uint8{nicspec.Wqe(w).FRsvd(), nicspec.Wqe(w).Blocks()})
}

func TestAccessorsDoNotAllocate(t *testing.T) {
	b, dst := make([]byte, 64), make([]byte, 64)
	var sum uint64
	n := testing.AllocsPerRun(100, func() {
		f := nicspec.DecodeRxCqe(b)
		f.PortSeq++
		f.Encode(dst)
		nicspec.RxCqe(b).SetPortSeq(f.PortSeq)
		if _, _, _, ok := nicspec.DiffRxCqe(b, dst); ok {
			sum += uint64(nicspec.RxCqe(dst).PortSeq())
		}
	})
	require.Zero(t, n)
	require.NotZero(t, sum)
}

// TestLongByteStringPanics: setting a byte string that is too long panics instead of cutting it.
func TestLongByteStringPanics(t *testing.T) {
	require.PanicsWithValue(t, "nicspec: 7 bytes for a field of 6", func() {
		make(nicspec.SteerKey, nicspec.SteerKeySize).SetDmac(make([]byte, 7))
	})
}

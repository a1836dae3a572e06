package schema

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheContractLoads(t *testing.T) {
	c, err := Load("../nic.yaml")
	require.NoError(t, err)
	require.Equal(t, "ContractVersion", c.Constants[0].Name)
	require.NotNil(t, c.Enum("Opcode"))
	require.Nil(t, c.Enum("Nothing"))
	_, err = Load("no-such.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// doc returns a contract with items under a key; they begin in line 3.
func doc(key, items string) string { return "version: 1\n" + key + ":\n" + items }

func TestErrors(t *testing.T) {
	reg, strct, enum, cnt := "registers", "structs", "enums", "counters"
	for _, tc := range []struct{ key, in, want string }{
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, colour: 1}", "f:3: field colour not found"},
		{reg, "  - {name: A, offset: zero, access: ro, doc: d}", "f:3: cannot unmarshal"},
		{reg, "  - {name: a, offset: 0, access: ro, doc: d}", `f:3: register "a": the name must be UPPER_SNAKE`},
		{reg, "  - {offset: 0, access: ro, doc: d}", "f:3: register has no name"},
		{reg, "  - {name: A, offset: 0, access: ro}", "f:3: register A: doc is missing"},
		{reg, "  - {name: A, offset: 0, access: rx, doc: d}",
			`f:3: register A: access "rx" is unknown; write ro, rw or wo`},
		{reg, "  - {name: A, offset: 2, access: ro, doc: d}", "offset 0x2 is not a multiple of 4"},
		{reg, "  - {name: A, offset: 0, width: 33, access: ro, doc: d}", "width 33"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, count: 3}", "count and stride belong together"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, count: 3, stride: 2}", "stride 2"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, count: -3, stride: -4}", "out of range"},
		{reg, "  - {name: A, offset: 0x100000000, access: ro, doc: d}", "beyond the 0x100000000 bytes of BAR0"},
		{reg, "  - {name: A, offset: 0, access: ro, reset: 0x100000000, doc: d}", "does not fit 32 bits"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, part: soon}", `part "soon" is unknown`},
		{reg, "  - {name: A, offset: 8, access: ro, doc: d}\n  - {name: B, offset: 0, access: ro, doc: d, count: 3, " +
			"stride: 4}",
			"f:3: register A at 0x8 overlaps register B, which ends at 0xc (line 4)"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d}\n  - {name: A, offset: 4, access: ro, doc: d}",
			"f:4: register A: the name is already used on line 3"},
		{reg, "  - {name: A, offset: 0, access: ro, doc: d, fields: [{name: x, bit: 30, width: 3, doc: d}]}",
			"outside bits 0..31"},
		{reg, "  - name: A\n    offset: 0\n    access: ro\n    doc: d\n    fields:\n      - {name: x, bit: 0, width: " +
			"3, doc: d}\n      - {name: y, bit: 2, width: 3, doc: d}",
			"f:9: register A: field y overlaps field x at bit 2"},
		{reg, "  - {name: A, offset: 0, width: 64, access: ro, doc: d, fields: [{name: x, bit: 0, width: 3, doc: d}]}",
			"single 32-bit registers"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 3, width: 9, doc: d}]}",
			"outside the struct's 4 bytes"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: -1, width: 8, doc: d}]}",
			"outside the struct's 4 bytes"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, bit: 8, width: 8, doc: d}]}",
			"write 0..7"},
		{strct, "  - {name: S, bytes: 0, doc: d}", "write 1..4096"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 8, enum: E, doc: d}]}",
			`f:3: struct S: field x: enum "E" is unknown`},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 8, doc: d}, {name: x, byte: 1, " +
			"width: 8, doc: d}]}", "already used"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 16, doc: d}, {name: y, byte: 1, " +
			"width: 8, doc: d}]}", "field y overlaps field x at bit 8"},
		{strct, "  - {name: S, bytes: 16, doc: d, fields: [{name: x, byte: 0, bit: 1, width: 64, doc: d}]}",
			"more than 8 bytes"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 9, kind: bytes, doc: d}]}",
			"whole bytes"},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 8, kind: text, doc: d}]}",
			`kind "text" is unknown`},
		{strct, "  - {name: S, bytes: 4, doc: d, fields: [{name: x, byte: 0, width: 8, access: wo, doc: d}]}",
			`access "wo" is unknown`},
		{enum, "  - {name: E, width: 0, values: [{name: A, value: 0, doc: d}]}", "write 1..32 bits"},
		{enum, "  - {name: E, width: 1}", "it has no values"},
		{enum, "  - {name: E, width: 1, values: [{name: A, value: 2, doc: d}]}", "value A = 2 does not fit 1 bits"},
		{enum, "  - {name: E, width: 1, values: [{name: A, value: 1, doc: d}, {name: B, value: 1, doc: d}]}",
			"value B = 1 is already A"},
		{cnt, "  - {name: C, index: 32, scope: port, doc: d}", "counters of scope port have 0..31"},
		{cnt, "  - {name: C, index: 0, scope: device, doc: d}", "counters of scope device have 128..255"},
		{cnt, "  - {name: C, index: 128, scope: device, drop: true, doc: d}", "a drop counter has scope port"},
		{cnt, "  - {name: C, index: 0, scope: queue, doc: d}", `scope "queue" is unknown`},
		{cnt, "  - {name: C, index: 0, scope: port, doc: d}\n  - {name: D, index: 0, scope: port, doc: d}",
			"f:4: counter D: index 0 is already C"},
		{"version", "  1", "mapping key \"version\" already defined"},
	} {
		_, err := Parse("f", []byte(doc(tc.key, tc.in)))
		require.ErrorContains(t, err, tc.want, tc.in)
	}
	_, err := Parse("f", []byte("version: 2"))
	require.ErrorContains(t, err, "version 2 is not known")
	_, err = Parse("f", nil)
	require.ErrorContains(t, err, "f: the file is empty")
	_, err = Parse("f", []byte("version: 1\n---\nversion: 1\n"))
	require.ErrorContains(t, err, "one YAML document")
}

func TestAllErrorsAtOnce(t *testing.T) {
	in := doc("registers", "  - {name: a, offset: 1, access: x, doc: d}\n") +
		"structs:\n  - {name: S, bytes: 1, doc: d, fields: [{name: x, byte: 1, width: 8, doc: d}]}\n" +
		"counters:\n  - {name: C, index: 99, scope: port, doc: d}\n"
	_, err := Parse("f", []byte(in))
	require.Len(t, strings.Split(err.Error(), "\n"), 5)
	for _, want := range []string{"f:3: register", "f:5: struct", "f:7: counter"} {
		require.ErrorContains(t, err, want)
	}
	_, err = Parse("f", []byte(doc("registers", "  - {nam: A, offset: x}\n  - {colour: 1}\n")))
	require.Len(t, strings.Split(err.Error(), "\n"), 3, err)
}

func TestNames(t *testing.T) {
	for _, tc := range [][3]string{{"TBL_CMD", "TblCmd", "tbl_cmd"}, {"l3_off", "L3Off", "l3_off"},
		{"crc32c", "Crc32c", "crc32c"}} {
		require.Equal(t, tc[1], Camel(tc[0]))
		require.Equal(t, tc[2], Snake(tc[1]))
	}
}

func FuzzParse(f *testing.F) {
	whole, err := os.ReadFile("../nic.yaml")
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte("version: 1\nregisters: [{name: A, offset: 0xffffffffffffffff, access: ro, doc: d}]"))
	f.Add([]byte("version: 1\nstructs: [{name: S, bytes: 4, doc: d, fields: [{name: x, byte: 9223372036854775807, " +
		"width: 1}]}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := Parse("f", data); err == nil && c == nil {
			t.Fatal("neither a contract nor an error")
		}
	})
}

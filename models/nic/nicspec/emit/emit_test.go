package emit

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec/schema"
)

func parse(t testing.TB, text string) *schema.Contract {
	t.Helper()
	c, err := schema.Parse("f", []byte(text))
	require.NoError(t, err)
	return c
}

func contract(t testing.TB) *schema.Contract {
	t.Helper()
	c, err := schema.Load("../nic.yaml")
	require.NoError(t, err)
	return c
}

func TestSameBytesEveryTime(t *testing.T) {
	a, err := All(contract(t))
	require.NoError(t, err)
	b, err := All(contract(t))
	require.NoError(t, err)
	require.Equal(t, a, b)
}

// TestCollisions: names that differ in nic.yaml but become equal in Go or SystemVerilog are
// refused.
func TestCollisions(t *testing.T) {
	enum := "enums:\n  - {name: E, width: 8, values: [{name: A, value: 0, doc: d}]}\n"
	for _, tc := range []struct{ in, want string }{
		{"constants:\n  - {name: EA, value: 1, doc: d}\n" + enum,
			"constant EA and enum E value A would both be called EA"},
		{"constants:\n  - {name: Access, value: 1, doc: d}\n", "the hand-written Access and constant Access"},
		{"structs:\n  - {name: S, bytes: 2, doc: d, fields: [{name: x, byte: 0, width: 8, doc: d}, {name: set_x, " +
			"byte: 1, width: 8, doc: d}]}\n", "both be called SetX"},
		{"structs:\n  - {name: S, bytes: 2, doc: d, fields: [{name: string, byte: 0, width: 8, doc: d}]}\n",
			"both be called String"},
		{"structs:\n  - {name: S, bytes: 2, doc: d, fields: [{name: encode, byte: 0, width: 8, doc: d}]}\n", "Encode"},
		{"registers:\n  - name: A\n    offset: 0\n    access: ro\n    doc: d\n    fields: [{name: x, bit: 0, width: " +
			"8, doc: d}, {name: set_x, bit: 8, width: 8, doc: d}]\n", "both be called SetX"},
		{"structs:\n  - {name: S, bytes: 2, doc: d, fields: [{name: rsvd0, byte: 0, width: 8, doc: d}]}\n", "rsvd0"},
	} {
		_, err := All(parse(t, "version: 1\n"+tc.in))
		require.ErrorContains(t, err, tc.want, tc.in)
	}
}

var svMember = regexp.MustCompile(`^    (logic|\w+_e)(?: \[(\d+):0\])? (\w+);`)

// layout reads a packed structure from SystemVerilog text. It returns the lowest bit and the width
// of each member, and the total width.
func layout(t *testing.T, c *schema.Contract, sv, typ string) (map[string][2]int, int) {
	t.Helper()
	end := strings.Index(sv, "  } "+typ+";")
	require.Positive(t, end, typ)
	body := sv[strings.LastIndex(sv[:end], "typedef struct packed {"):end]
	lines := strings.Split(body, "\n")
	out, bit := map[string][2]int{}, 0
	for i := len(lines) - 1; i >= 0; i-- {
		m := svMember.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		width := 1
		if m[2] != "" {
			n, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			width = n + 1
		}
		for j := range c.Enums {
			if schema.Snake(c.Enums[j].Name)+"_e" == m[1] {
				width = c.Enums[j].Width
			}
		}
		require.NotContains(t, out, m[3])
		out[m[3]] = [2]int{bit, width}
		bit += width
	}
	return out, bit
}

// TestPackedLayout: every member of every packed structure is at the bit where nic.yaml has it, and
// all other members are named rsvd.
func TestPackedLayout(t *testing.T) {
	c := contract(t)
	data, err := SV(c)
	require.NoError(t, err)
	for i := range c.Structs {
		s := &c.Structs[i]
		got, total := layout(t, c, string(data), schema.Snake(s.Name)+"_t")
		require.Equal(t, 8*s.Bytes, total, s.Name)
		for j := range s.Fields {
			f := &s.Fields[j]
			require.Equal(t, [2]int{f.Bit(), f.Width}, got[svName(f.Name)], "%s.%s", s.Name, f.Name)
			delete(got, svName(f.Name))
		}
		for name := range got {
			require.Regexp(t, `^rsvd\d+$`, name)
		}
	}
	for i := range c.Registers {
		r := &c.Registers[i]
		if len(r.Fields) == 0 {
			continue
		}
		got, total := layout(t, c, string(data), strings.ToLower(r.Name)+"_reg_t")
		require.Equal(t, 32, total, r.Name)
		for j := range r.Fields {
			f := &r.Fields[j]
			require.Equal(t, [2]int{f.Bit, f.Width}, got[svName(f.Name)], "%s.%s", r.Name, f.Name)
		}
	}
}

func TestLinesFit(t *testing.T) {
	data, err := SV(contract(t))
	require.NoError(t, err)
	for i, l := range strings.Split(string(data), "\n") {
		require.LessOrEqual(t, len(l), svWidth, "line %d", i+1)
	}
}

func TestReservedWords(t *testing.T) {
	require.Equal(t, "type_f", svName("type"))   // SystemVerilog
	require.Equal(t, "queue_f", svName("queue")) // C++
	require.Equal(t, "long_f", svName("long"))
	require.Equal(t, "index", svName("index"))
}

// TestTablesAreComplete: the Markdown tables name every register, field, structure, code and
// counter.
func TestTablesAreComplete(t *testing.T) {
	c := contract(t)
	md := string(Tables(c))
	for _, k := range c.Constants {
		require.True(t, strings.Contains(md, "| "+k.Name+" |"), k.Name)
	}
	for i := range c.Structs {
		_, section, _ := strings.Cut(md, "\n### "+c.Structs[i].Name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		for _, f := range c.Structs[i].Fields {
			require.True(t, strings.Contains(section, " | "+f.Name+" | "), f.Name)
		}
	}
	for _, r := range c.Registers {
		require.True(t, regexp.MustCompile(`\| 0x[0-9a-f]{5} \| \[?`+r.Name+`\b`).MatchString(md), r.Name)
	}
	for _, k := range c.Counters {
		require.True(t, strings.Contains(md, " | "+k.Name+" | "), k.Name)
	}
	require.True(t, strings.Contains(md, "| 14 | 49 bytes | reserved | | |"), "the gap of TxCqe")
}

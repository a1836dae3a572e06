package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// marked shows the parts of a value, the differing ones in brackets.
func marked(r *DiffRow) string {
	var b strings.Builder
	for _, p := range r.Parts {
		if p.Differs {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ expected, got, kind, a, b, note string }{
		{"5", "4", "number", "0000 010[1]", "0000 010[0]", "1 of 8 bits differ: 0"},
		{"256", "1", "number", "0000 000[1] 0000 000[0]", "0000 000[0] 0000 000[1]", "2 of 16 bits differ: 0, 8"},
		{"18446744073709551616", "0", "number", "0[1] 0000 0000 0000 0000", "0[0] 0000 0000 0000 0000",
			"1 of 72 bits differ: 64"},
		{"00ab", "00ac01", "bytes", "00 [ab] [‒‒] ", "00 [ac] [01] ", "2 of 3 bytes differ, the first at byte 1"},
		{"Ok", "Bad", "words", "", "", ""},
		{"a frame", "", "words", "", "", ""},
		{"", "", "words", "", "", ""},
		{"-1", "1", "words", "", "", ""},
		{strings.Repeat("9", 300), "1", "words", "", "", ""},
	} {
		d := diff(c.expected, c.got)
		require.Equal(t, c.kind, d.Kind, "%+v", c)
		require.Equal(t, c.a, marked(&d.Rows[0]), "%+v", c)
		require.Equal(t, c.b, marked(&d.Rows[1]), "%+v", c)
		require.Equal(t, c.note, d.Note)
	}
	long := strings.Repeat("00", 9000)
	d := diff(long, long[:10000]+"ff"+long[10002:])
	require.Equal(t, "1 of 9000 bytes differ, the first at byte 5000; shown from byte 4992", d.Note)
	require.Equal(t, 3*maxBytes+2, len(marked(&d.Rows[0])))
}

func TestEntryFields(t *testing.T) {
	name, list, rest := entryFields("cycle 5: psn\n  blocks: a, b\n  got      RxCqe{type=Rx (1) psn=7 (0x7) odd=1}\n" +
		"  expected RxCqe{type=Rx (1) psn=8 (0x8) l3.off=2}\n  latest")
	require.Equal(t, "RxCqe", name)
	require.Equal(t, []Field{{"type", "Rx (1)", "Rx (1)", false}, {"psn", "8 (0x8)", "7 (0x7)", true},
		{"odd", "", "1", true}, {"l3.off", "2", "", true}}, list)
	require.Equal(t, "cycle 5: psn\n  blocks: a, b\n  latest", rest)
	for _, text := range []string{"", "got X{a=1}", "got X{a=1}\nexpected Y{a=1}", "got X{a=1}\ngot X{a=1}"} {
		_, list, rest := entryFields(text)
		require.Empty(t, list)
		require.Equal(t, text, rest)
	}
}

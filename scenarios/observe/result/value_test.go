package result

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"

	"nictwin/models/nic/nicspec"
)

// TestValues checks that scripts get numbers in one notation, whichever is printed for people.
func TestValues(t *testing.T) {
	for shown, want := range map[string]string{
		"2164260859 (0x80fffffb)": "2164260859", "0": "0", "0x80fffffb": "2164260859", "0x0": "0",
		"0x35 at byte 3 of the frame":        "53",
		"0x1030000: Write Rule 0, status Ok": "16973824", "FLUSHED (5)": "5",
		"0xffffffffffffffffff": "4722366482869645213695",
		"":                     "", "none": "none", "at most 0x10": "at most 0x10", "8 B at 0x100": "8 B at 0x100",
		"0011aabb":             "0011aabb",
		"3 frames (2 dropped)": "3 frames (2 dropped)",
	} {
		require.Equal(t, want, Value(shown), shown)
	}
	f := OfMismatch(&verdict.Mismatch{Rule: "S2", Field: "rss_hash", Expected: "2164260859 (0x80fffffb)", Got: "0x10"})
	require.Equal(t, "2164260859", f.Expected)
	require.Equal(t, "16", f.Got)
	require.Contains(t, f.Text, "expected 2164260859 (0x80fffffb), got 0x10", "people see the number as before")
	text, err := json.Marshal(f)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"expected":"2164260859 (`)
}

// TestValuesOfFields checks that every field of every entry, with various contents, becomes decimal digits or a string
// of hex bytes for scripts.
func TestValuesOfFields(t *testing.T) {
	for _, s := range nicspec.Structs {
		for i := range s.Fields {
			f := &s.Fields[i]
			for _, fill := range []byte{0, 1, 5, 0xff} {
				b := make([]byte, s.Bytes)
				for at := range b {
					b[at] = fill
				}
				require.Regexp(t, `^[0-9a-f]+$`, Value(f.Format(b)), "%s: %s", f.Name, f.Format(b))
			}
		}
	}
}

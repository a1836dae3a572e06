package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEscaper checks that no name in the output can move the cursor or begin a new line, and that JSON
// stays valid.
func TestEscaper(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\r\n":       `a\u001b[31mb\u000d` + "\n",
		"\x00\x7f\u009b\u202e": `\u0000\u007f\u009b\u202e`,
		"\xff\t\U000e0001":     `\xff` + "\t" + `\udb40\udc01`,
		"größer 中文 → µs":       "größer 中文 → µs",
		"open x\nPASS: gone\n": "open " + `x\nPASS` + ": gone\n",
		"open dir/x\nPASS":     "open dir/" + `x\nPASS`,
	} {
		var b bytes.Buffer
		n, err := newEscaper(&b, []string{"nictwin", "dir/x\nPASS"}).Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, b.String())
	}
	object, err := json.Marshal(map[string]string{"x": "a\x1b\x7f\u009b\u202e\U000e0001\nb"})
	require.NoError(t, err)
	var b bytes.Buffer
	_, err = newEscaper(&b, nil).Write(object)
	require.NoError(t, err)
	var back map[string]string
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, "a\x1b\x7f\u009b\u202e\U000e0001\nb", back["x"])
	require.NotContains(t, b.String(), "\x7f")
}

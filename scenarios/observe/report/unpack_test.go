package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// unpacked returns what the script of a page unpacks.
func unpacked(t *testing.T, page []byte) (d data) {
	t.Helper()
	_, text, ok := bytes.Cut(page, []byte(`<div id="data" hidden>`))
	require.True(t, ok)
	text, _, _ = bytes.Cut(text, []byte("</div>"))
	packed, err := base64.RawURLEncoding.DecodeString(string(text))
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(z).Decode(&d))
	return d
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

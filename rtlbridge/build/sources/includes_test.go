package sources

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
)

func FuzzIncludes(f *testing.F) {
	f.Add("`include \"b.svh\"\n`include", "`include \"a.sv\" `include \"/dev/zero\"")
	f.Fuzz(func(t *testing.T, a, b string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.sv": a, "b.svh": b} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		m := &manifest.Manifest{Path: filepath.Join(dir, "dut.yaml"), Sources: []string{"a.sv"}}
		src, err := Expand(m)
		require.NoError(t, err)
		var me *manifest.Error
		if err := CheckIncludes(t.Context(), m, src); err != nil {
			require.ErrorAs(t, err, &me)
		}
	})
}

package build

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
)

func TestInstancesByModule(t *testing.T) {
	m, err := manifest.Load("../../verilator/duts/nic/dut.yaml")
	require.NoError(t, err)
	paths, err := Instances(m, "nic_copy", Options{CacheDir: t.TempDir()})
	require.NoError(t, err)
	require.Equal(t, []string{"TOP.nic_top.u_tx.g_copy.u_copy"}, paths, "nic_copy_out is another module")
	m, err = manifest.Load(fifoYAML)
	require.NoError(t, err)
	paths, err = Instances(m, "nowhere", Options{CacheDir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, paths)
}

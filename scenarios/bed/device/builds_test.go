package device

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"
)

// TestBuildsAreMadeOnce checks that concurrent callers share one build, and that a failed or removed build is made
// again on the next call.
func TestBuildsAreMadeOnce(t *testing.T) {
	var b Builds
	bin := filepath.Join(t.TempDir(), "dut")
	require.NoError(t, os.WriteFile(bin, nil, 0o755))
	var made atomic.Int32
	get := func(s *Spec, err error) (*build.Device, error) {
		return b.get(s, func() (*build.Device, error) {
			made.Add(1)
			if err != nil {
				return nil, err
			}
			return &build.Device{Binary: bin}, nil
		})
	}
	wrong := errors.New("no compiler")
	_, err := get(&Spec{DUT: "a"}, wrong)
	require.ErrorIs(t, err, wrong)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := get(&Spec{DUT: "a"}, nil)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.EqualValues(t, 2, made.Load())
	sizes := nicspec.DefaultBuild()
	others := []Spec{{DUT: "b"}, {DUT: "a", Ports: 2}, {DUT: "a", EthBits: 256}, {DUT: "a", Variant: "debug"},
		{DUT: "a", Build: &sizes}}
	for i := range others {
		_, err := get(&others[i], nil)
		require.NoError(t, err)
		require.EqualValues(t, 3+i, made.Load(), "%+v", others[i])
	}
	_, err = get(&Spec{DUT: "a", Ports: 1, Variant: "speed"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 7, made.Load(), "the defaults, named")
	_, err = get(&Spec{DUT: "a", Coverage: "dir"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 8, made.Load(), "a build for coverage is another one")
	require.NoError(t, os.Remove(bin))
	_, err = get(&Spec{DUT: "a"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 9, made.Load())
}

package hometest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/shell/home"
)

// Find returns the same home in any working folder, and refuses a $NICTWIN_HOME that is not a home.
func TestFind(t *testing.T) {
	t.Setenv(home.Env, "")
	here, err := Find()
	require.NoError(t, err)
	require.FileExists(t, here.Path("nic"))
	t.Chdir(t.TempDir())
	there, err := Find()
	require.NoError(t, err)
	require.Equal(t, here, there)
	t.Setenv(home.Env, t.TempDir())
	_, err = Find()
	require.ErrorContains(t, err, "is not nictwin's folder")
}

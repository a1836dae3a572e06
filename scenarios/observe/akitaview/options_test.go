package akitaview_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/akitaview"
)

// TestOptions checks that errors name the flag.
func TestOptions(t *testing.T) {
	for _, x := range []struct {
		o    akitaview.Options
		says string
	}{
		{akitaview.Options{Monitor: 80}, "--akita-monitor 80: want a port, 1024 to 65535"},
		{akitaview.Options{Monitor: 65536}, "--akita-monitor 65536"},
		{akitaview.Options{Trace: "run.db"}, `--akita-trace "run.db": want a name that ends in .sqlite3`},
		{akitaview.Options{Trace: "out/.sqlite3"}, "--akita-trace"},
		{akitaview.Options{Trace: "a?mode=memory.sqlite3"}, "want a name without ?"},
		{akitaview.Options{Trace: "nowhere/x.sqlite3"}, "there is no folder nowhere"},
	} {
		require.ErrorContains(t, x.o.Validate(), x.says)
		require.True(t, x.o.Wanted())
	}
	none := akitaview.Options{}
	require.NoError(t, none.Validate())
	require.False(t, none.Wanted())
}

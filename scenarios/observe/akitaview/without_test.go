//go:build !akitaview

package akitaview_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/akitaview"
)

// TestNotBuilt checks that a program built without the tag refuses the options by name.
func TestNotBuilt(t *testing.T) {
	_, err := akitaview.Open(context.Background(), akitaview.Options{Trace: "x.sqlite3"}, simcore.NewEngine())
	require.ErrorContains(t, err, "make build-akitaview")
	v, err := akitaview.Open(context.Background(), akitaview.Options{}, simcore.NewEngine())
	require.NoError(t, err)
	require.NoError(t, v.Close())
}

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The time left is estimated from the share that is done, once enough of it is done.
func TestTimeLeft(t *testing.T) {
	require.Equal(t, ", 3m0s left", left(time.Minute, 0.25))
	require.Equal(t, ", 0s left", left(time.Minute, 1))
	require.Empty(t, left(999*time.Millisecond, 0.5), "too early")
	require.Empty(t, left(time.Minute, 0), "nothing is done")
}

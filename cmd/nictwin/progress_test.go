package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimeLeft checks that the time left is estimated from the share of work done, once enough is done.
func TestTimeLeft(t *testing.T) {
	require.Equal(t, ", 3m0s left", timeLeft(time.Minute, 0.25))
	require.Equal(t, ", 0s left", timeLeft(time.Minute, 1))
	require.Empty(t, timeLeft(999*time.Millisecond, 0.5), "too early")
	require.Empty(t, timeLeft(time.Minute, 0), "nothing is done")
}

package hostcc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpec(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	s.Mark, s.Levels = "twice", 99
	require.ErrorContains(t, s.Validate(), `mark "twice": want header, queue or none`)
	require.ErrorContains(t, s.Validate(), "levels 99")
}

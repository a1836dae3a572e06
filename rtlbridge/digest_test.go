package rtlbridge

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/protocol"
)

// TestDigest checks the definition of the digest by a number that the C++ test checks as well.
func TestDigest(t *testing.T) {
	const want = "803620b71f76bc01"
	d := protocol.NewDigest()
	_, _, recs := testRan()
	for i := range recs {
		d.Add(&recs[i])
	}
	require.Equal(t, want, fmt.Sprintf("%016x", d.Sum()))
	text, err := os.ReadFile("../verilator/harness/tests/protocol_test.cpp")
	require.NoError(t, err)
	require.Contains(t, string(text), `"`+want+`"`)
	recs[1].Data[3] ^= 1
	e := protocol.NewDigest()
	for i := range recs {
		e.Add(&recs[i])
	}
	require.NotEqual(t, d.Sum(), e.Sum())
}

func BenchmarkDigest(b *testing.B) {
	d := protocol.NewDigest()
	r := protocol.Record{Kind: protocol.EventOut, Data: make([]byte, 1500), Side: make([]byte, 16)}
	b.SetBytes(1500)
	for range b.N {
		d.Add(&r)
	}
}

package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTooLongRequestsPointAtWhoMadeThem(t *testing.T) {
	_, write := responsible(device, "P3", fieldPayload)
	require.Equal(t, "verilator/rtl/nic_rxdma.sv", write)
	_, read := responsible(device, "P3", "request bytes")
	require.Equal(t, "verilator/rtl/nic_reader.sv", read)
}

// Whatever a mismatch points at is there.
func TestResponsibleFilesExist(t *testing.T) {
	check := func(d Domain, rule, field string) {
		goFile, rtlFile := responsible(d, rule, field)
		for _, f := range []string{goFile, rtlFile} {
			_, err := os.Stat(filepath.Join("..", f))
			require.NoError(t, err, "%v, rule %s, field %s", d, rule, field)
		}
	}
	for _, kind := range []DomainKind{DomainRxq, DomainTxq, DomainCounters} {
		for field := range blocksByField {
			check(Domain{kind, 0}, "R10", field)
		}
		for rule := range blocksByRule {
			check(Domain{kind, 0}, rule, "no such field")
		}
	}
}

package verdict

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

// A mismatch must point at the responsible block. Rule, field and domain together determine it.
func TestResponsible(t *testing.T) {
	rxq, txq := Domain{DomainRxq, 1}, Domain{DomainTxq, 1}
	for _, c := range []struct {
		d           Domain
		rule, field string
		goFile, rtl string
	}{
		{Device, "P3", FieldPayload, "core/rxdma", "rxdma"},
		{Device, "P3", "request bytes", "core/reader", "reader"},
		{Device, "P2", "Tag", "core/reader", "reader"},
		{Device, "P11", "Attr", "tlpout", "tlp_mux"},
		{Device, "T4", "Address", "core/key", "key"}, // of a piece
		{txq, "T1", "entry", "txq", "txq"},
		{txq, "T2", "Address", "ring/window", "txq_fetch"},
		{txq, "T2", "status", "core/reader", "reader"},
		{txq, "T3", "status", "core/wqe", "wqe"},
		{txq, "T6", "status", "gather", "gather"},
		{txq, "T7", "status", "core/offload", "offload"},
		{txq, "D3", "status", "copy", "copy"},
		{txq, "F4", "read", "txq", "txq"},
		{txq, "P9", "completion entry address", "core/cqe", "txcqe"},
		{rxq, "P9", "completion entry address", "core/cqe", "rxdma"},
		{rxq, "Q3", "read", "ring/window", "rxfetch"},
		{rxq, "Q4", "status", "core/reader", "reader"},
		{rxq, "S3", "queue", "core/rss", "rss"},
		{rxq, "R10", "status", "core/cqe", "rxdma"},
		{Counting, "C1", "RX_DROP_ICRC[1]", "core/icrc", "icrc"},
		{Counting, "C1", "RX_DROP_RUNT[0]", "core/steer", "rxport"},
		{Counting, "C1", "RX_DROP_OVERFLOW[0]", "rx", "rxport"},
		{Counting, "C1", "RX_DROP_QUEUE_OFF[0]", "core/rxq", "rxtake"},
		{Counting, "C1", "RX_DROP_NO_DESC[0]", "rx", "rxtake"},
		{Counting, "G5", "COPY_BYTES", "copy", "copy"},
		{Counting, "G5", "RULE_HITS[3]", "core/steer", "steer"},
		{Counting, "G5", "RX_FRAMES[0]", "core/counters", "counters"},
	} {
		goFile, rtl := responsible(c.d, c.rule, c.field)
		require.Equal(t, []string{"models/nic/" + c.goFile + ".go", rtlFileOf(c.rtl)}, []string{goFile, rtl}, "%v", c)
	}
}

// Every file that a mismatch may point at must exist.
func TestResponsibleFilesExist(t *testing.T) {
	check := func(d Domain, rule, field string) {
		goFile, rtlFile := responsible(d, rule, field)
		for _, f := range []string{goFile, rtlFile} {
			require.FileExists(t, filepath.Join("..", "..", f), "%v, rule %s, field %s", d, rule, field)
		}
	}
	for both := range blocksByBoth {
		rule, field, _ := strings.Cut(both, " ")
		check(Device, rule, field)
	}
	for counter := range blocksByCounter {
		check(Counting, "G5", counter)
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

// DB_BAD counts doorbells of both directions. A wrong count must point at the direction of the latest doorbell that
// DB_BAD may have counted. If it can have counted none, the latest doorbell decides.
func TestWrongDoorbellsPointAtTheirQueues(t *testing.T) {
	blames := func(rings ...[2]bool) string {
		l, _ := newLog(1)
		for _, r := range rings {
			l.RecordDoorbell(r[0], r[1])
		}
		return l.Fail(Counting, "G5", "DB_BAD", "1", "0").RTLFile
	}
	const tx, bad = true, true
	require.Equal(t, rtlFileOf("rxq"), blames())
	require.Equal(t, rtlFileOf("txq"), blames([2]bool{tx, bad}))
	require.Equal(t, rtlFileOf("txq"), blames([2]bool{tx, !bad}))
	require.Equal(t, rtlFileOf("rxq"), blames([2]bool{!tx, bad}, [2]bool{tx, !bad}))
	require.Equal(t, rtlFileOf("txq"), blames([2]bool{!tx, !bad}, [2]bool{tx, bad}, [2]bool{!tx, !bad}))
	l, _ := newLog(1)
	l.RecordDoorbell(tx, bad)
	require.Equal(t, rtlFileOf("regs"), l.Fail(Counting, "G5", "REG_BAD", "1", "0").RTLFile, "other counters")
}

// Every drop cause must have a responsible block.
func TestDropsPointAtTheirBlocks(t *testing.T) {
	for i := range nicspec.Counters {
		if name := nicspec.Counters[i].Name; strings.HasPrefix(name, "RX_DROP_") {
			require.NotEmpty(t, blocksByCounter[name], name)
		}
	}
}

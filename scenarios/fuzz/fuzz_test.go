package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic"
	"nictwin/scenarios/board"
)

func sizes(ports int) nic.Spec {
	s := nic.DefaultSpec()
	s.Ports = ports
	return s
}

func model(s board.Spec) (*board.Board, error) {
	s.NIC = board.Model
	return board.New(s)
}

func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("FUZZ_N"))
	from, _ := strconv.Atoi(os.Getenv("FUZZ_FROM"))
	ports := 1 + from%2
	build := model
	if os.Getenv("FUZZ_RTL") != "" {
		dev, err := board.Build("../../verilator/duts/nic/dut.yaml", "speed", ports, os.Stderr)
		require.NoError(t, err)
		build = func(s board.Spec) (*board.Board, error) {
			s.NIC, s.Built = board.RTL, dev
			return board.New(s)
		}
	}
	cov := NewCoverage()
	begin := time.Now()
	cycles := int64(0)
	for i := range n {
		p := Generate(uint64(from+i), Shape{sizes(ports), -1})
		require.NoError(t, p.Validate())
		v := p.Run(context.Background(), sizes(ports), build, cov)
		cycles += v.Cycles
		if !v.Pass() {
			t.Errorf("seed %d: %s: err %v", from+i, v.Key(), v.Err)
			if v.Report != nil && os.Getenv("FUZZ_V") != "" {
				t.Log(v.Report)
			}
		}
	}
	fmt.Println("per program", time.Since(begin)/time.Duration(max(1, n)), "cycles", cycles/int64(max(1, n)))
	var b bytes.Buffer
	require.NoError(t, cov.Report(NewUniverse(sizes(ports))).Write(&b))
	fmt.Println(b.String())
	r := cov.Report(NewUniverse(sizes(ports)))
	for _, u := range r.Unlisted {
		fmt.Println("unlisted:", u.Group, "|", u.Bin)
	}
}

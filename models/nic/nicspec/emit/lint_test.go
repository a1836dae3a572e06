package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// top is a module that uses few names of the package.
const top = `/// Lint top: a few things of nic_pkg.
module top
  import nic_pkg::*;
(
  input  logic         clk_i,
  input  logic [511:0] wqe_i,
  input  logic [19:0]  addr_i,
  input  logic [31:0]  data_i,
  output logic [511:0] cqe_o,
  output logic [5:0]   cmd_o,
  output logic         hit_o
);

  wqe_t wqe;
  rx_cqe_t cqe;
  tbl_cmd_reg_t cmd;

  assign wqe = wqe_i;
  assign cmd = data_i;
  assign cmd_o = {cmd.busy, cmd.op, (^cmd), cmd.status == TableStatusOk, wqe.opcode == OpcodeSend};

  always_comb begin
    cqe = '0;
    cqe.type_f = CqeTypeRx;
    cqe.frame_len = 16'(FrameMin) + 16'(wqe.inline_len);
    cqe.phase = ^wqe;
  end

  always_ff @(posedge clk_i) begin
    cqe_o <= cqe;
    hit_o <= addr_i == RegTblCmd;
  end

endmodule
`

// TestLint: the package is clean under verilator -Wall, even with a module that uses few of its
// names.
func TestLint(t *testing.T) {
	verilator, err := exec.LookPath("verilator")
	require.NoError(t, err, "verilator is missing: apt-get install verilator")
	sv, err := SV(contract(t))
	require.NoError(t, err)
	dir := t.TempDir()
	for name, text := range map[string][]byte{"nic_pkg.sv": sv, "top.sv": []byte(top)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	cmd := exec.CommandContext(t.Context(), verilator, "--lint-only", "-Wall", "--top-module", "top", "nic_pkg.sv",
		"top.sv")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C") // Perl complains of a locale that is not installed
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verilator: %v\n%.4000s", err, out)
	}
}

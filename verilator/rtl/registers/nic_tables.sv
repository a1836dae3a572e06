/// Table commands: TBL_CMD and the staging registers TBL_DATA. Checks operation, table and index,
/// then passes the command to the table's owner over the table bus and waits for its answer
/// (contract G6, G7).

module nic_tables
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Number of transmit queues.
  parameter int NumTxq = 64,
  // Number of memory keys.
  parameter int NumKeys = 256,
  // Number of steering rules.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic           clk,
  input  logic           rst,
  // Write enables of the lower and upper 32-bit register of the 8 bytes at unit_i.
  input  logic [1:0]     we_i,
  input  logic [RegAw-1:3] unit_i,
  input  logic [63:0]    wdata_i,
  // Reads the two registers at unit_i, in the same cycle; 0 for registers of other blocks.
  input  logic           rd_i,
  output logic [63:0]    rdata_o,
  // Pulses of REG_BAD: the lower or the upper register was written during a command.
  output logic [1:0]     reg_bad_o,
  // High while a command is in progress.
  output logic           busy_o,
  // Table bus.
  output tbl_req_t       tbl_o,
  // Answers of tables of the receive path.
  input  tbl_rsp_t       rx_tbl_i,
  // Answers of tables of the transmit path: Txq, Key and PortCfg.
  input  tbl_rsp_t       tx_tbl_i
);
  localparam int DataW  = 32 * TableWords;
  localparam bit HasRss = (Parts & PartRss) != 0;
  localparam bit HasAccounts = (Parts & PartAccounts) != 0;
  localparam bit HasPause = (Parts & PartPause) != 0;

  typedef enum logic [1:0] {StIdle, StCheck, StWait} state_e;

  state_e            state_q;
  logic [15:0]       index_q;
  logic [7:0]        id_q;
  table_op_e         op_q;
  table_status_e     status_q;
  logic [DataW-1:0]  data_q;
  logic              is_cmd, is_data, start, store, of_rx, done;
  table_status_e     done_status;
  tbl_cmd_reg_t      cmd_wr, cmd_rd;
  logic              unused_cmd;

  assign is_cmd    = unit_i == RegTblCmd[RegAw-1:3] && we_i[0];
  assign is_data   = unit_i[RegAw-1:7] == RegTblDataBase[RegAw-1:7];
  assign busy_o    = state_q != StIdle;
  assign start     = is_cmd && !busy_o;
  assign store     = is_data && |we_i && !busy_o;
  assign reg_bad_o = !busy_o ? 2'b00 : is_data ? we_i : {1'b0, is_cmd};

  assign cmd_wr     = tbl_cmd_reg_t'(wdata_i[31:0]);
  assign unused_cmd = ^{cmd_wr.busy, cmd_wr.rsvd0, cmd_wr.status};

  always_comb begin
    cmd_rd  = '0;
    rdata_o = 64'd0;
    if (rd_i && unit_i == RegTblCmd[RegAw-1:3]) begin
      cmd_rd.busy    = busy_o;
      cmd_rd.status  = status_q;
      cmd_rd.op      = op_q;
      cmd_rd.table_f = id_q;
      cmd_rd.index   = index_q;
      rdata_o        = {32'd0, cmd_rd};
    end
    if (rd_i && is_data) rdata_o = data_q[{unit_i[6:3], 6'd0} +: 64];
  end

  // Makes the checks that need no entry, in the contract's order [G6].
  function automatic table_status_e check(input table_op_e op, input logic [7:0] id,
                                          input logic [15:0] index);
    logic [16:0] size;
    size  = '0;
    check = TableStatusOk;
    unique case (id)
      TableRxq:  size = 17'(NumRxq);
      TableTxq:  size = 17'(NumTxq);
      TableKey:  size = 17'(NumKeys);
      TableRule: size = 17'(NumRules);
      TableIndirection: if (HasRss) size = 17'(RssEntries);
                        else        check = TableStatusNotBuilt;
      TableAccount:     if (HasAccounts) size = 17'(NumAccounts);
                        else             check = TableStatusNotBuilt;
      TablePortCfg:     if (HasPause) size = 17'(Ports);
                        else          check = TableStatusNotBuilt;
      default:   check = TableStatusBadTable;
    endcase
    if (check == TableStatusOk && {1'b0, index} >= size) check = TableStatusBadIndex;
    if (op != TableOpWrite && op != TableOpRead) check = TableStatusBadOp;
  endfunction

  always_comb begin
    tbl_o.valid = state_q == StWait;
    tbl_o.write = op_q == TableOpWrite;
    tbl_o.id    = id_q;
    tbl_o.index = index_q;
    tbl_o.wdata = data_q;
    of_rx       = id_q != TableTxq && id_q != TableKey && id_q != TablePortCfg;
    done        = state_q == StWait && (of_rx ? rx_tbl_i.done : tx_tbl_i.done);
    done_status = table_status_e'(of_rx ? rx_tbl_i.status : tx_tbl_i.status);
  end

  // Returns the bytes of a read entry; words beyond it become 0.
  function automatic logic [DataW-1:0] entry(input logic [7:0] id, input logic [DataW-1:0] d);
    entry = d;
    if (id == TableKey) entry[DataW-1:256] = '0;
    if (id == TableRxq || id == TableTxq) entry[DataW-1:512] = '0;
  endfunction

  always_ff @(posedge clk) begin
    unique case (state_q)
      StIdle: if (start) begin
        state_q  <= StCheck;
        status_q <= TableStatusOk;
        index_q  <= cmd_wr.index;
        id_q     <= cmd_wr.table_f;
        op_q     <= table_op_e'(cmd_wr.op);
      end
      StCheck: begin
        status_q <= check(op_q, id_q, index_q);
        state_q  <= check(op_q, id_q, index_q) == TableStatusOk ? StWait : StIdle;
      end
      default: if (done) begin
        status_q <= done_status;
        state_q  <= StIdle;
      end
    endcase
    if (store) begin
      logic [DataW-1:0] d;
      d = data_q;
      if (we_i[0]) d[{unit_i[6:3], 6'd0} +: 32] = wdata_i[31:0];
      if (we_i[1]) d[{unit_i[6:3], 6'd32} +: 32] = wdata_i[63:32];
      data_q <= d;
    end
    if (done && done_status == TableStatusOk && op_q == TableOpRead) begin
      data_q <= entry(id_q, of_rx ? rx_tbl_i.rdata : tx_tbl_i.rdata);
    end
    if (rst) begin
      state_q  <= StIdle;
      status_q <= TableStatusOk;
      index_q  <= '0;
      id_q     <= '0;
      op_q     <= TableOpNone;
      data_q   <= '0;
    end
  end
endmodule

// An AXI4 RAM that handles one write burst and one read burst at a time.
//
// BUG 1 ignores the strobes of a burst's last beat. BUG 2 treats a wrapping burst as an incrementing
// one. BUG 3 changes a waiting read beat when the RAM's contents change.

module axi_ram #(
  parameter int BUG = 0,
  parameter int AW  = 14
) (
  input  logic          clk,
  input  logic          rstn,
  input  logic [3:0]    s_awid,
  input  logic [AW-1:0] s_awaddr,
  input  logic [7:0]    s_awlen,
  input  logic [2:0]    s_awsize,
  input  logic [1:0]    s_awburst,
  input  logic          s_awvalid,
  output logic          s_awready,
  input  logic [31:0]   s_wdata,
  input  logic [3:0]    s_wstrb,
  input  logic          s_wlast,
  input  logic          s_wvalid,
  output logic          s_wready,
  output logic [3:0]    s_bid,
  output logic [1:0]    s_bresp,
  output logic          s_bvalid,
  input  logic          s_bready,
  input  logic [3:0]    s_arid,
  input  logic [AW-1:0] s_araddr,
  input  logic [7:0]    s_arlen,
  input  logic [2:0]    s_arsize,
  input  logic [1:0]    s_arburst,
  input  logic          s_arvalid,
  output logic          s_arready,
  output logic [3:0]    s_rid,
  output logic [31:0]   s_rdata,
  output logic [1:0]    s_rresp,
  output logic          s_rlast,
  output logic          s_rvalid,
  input  logic          s_rready
);

  logic [31:0] mem [2**(AW-2)];

  // The address of the beat after the one at a.
  function automatic logic [AW-1:0] after(input logic [AW-1:0] a, input logic [2:0] size,
                                          input logic [1:0] burst, input logic [7:0] len);
    logic [AW-1:0] step, next, mask;
    step = AW'(1) << size;
    next = (a & ~(step - 1)) + step;
    mask = ((AW'(len) + 1) << size) - 1;
    if (burst == 2'd0) return a;
    if (burst == 2'd2 && BUG != 2) return (a & ~mask) | (next & mask);
    return next;
  endfunction

  typedef enum logic [1:0] {Idle, Data, Answer} write_e;
  write_e        state_q;
  logic [AW-1:0] wr_addr_q, rd_addr_q;
  logic [2:0]    wr_size_q, rd_size_q;
  logic [1:0]    wr_burst_q, rd_burst_q;
  logic [7:0]    wr_len_q, rd_len_q, rd_beat_q;
  logic          rd_busy_q;
  logic [31:0]   rd_data_q;

  assign s_awready = state_q == Idle;
  assign s_wready  = state_q == Data;
  assign s_bvalid  = state_q == Answer;
  assign s_bresp   = '0;

  always_ff @(posedge clk) begin
    case (state_q)
      Idle: if (s_awvalid) begin
        {wr_addr_q, wr_size_q, wr_burst_q} <= {s_awaddr, s_awsize, s_awburst};
        {wr_len_q, s_bid, state_q}         <= {s_awlen, s_awid, Data};
      end
      Data: if (s_wvalid) begin
        for (int i = 0; i < 4; i++) begin
          if (s_wstrb[i] || (BUG == 1 && s_wlast)) begin
            mem[wr_addr_q[AW-1:2]][8*i +: 8] <= s_wdata[8*i +: 8];
          end
        end
        wr_addr_q <= after(wr_addr_q, wr_size_q, wr_burst_q, wr_len_q);
        if (s_wlast) state_q <= Answer;
      end
      default: if (s_bready) state_q <= Idle;
    endcase
    if (!rstn) state_q <= Idle;
  end

  logic [AW-1:0] rd_next;
  assign rd_next   = after(rd_addr_q, rd_size_q, rd_burst_q, rd_len_q);
  assign s_arready = !rd_busy_q;
  assign s_rvalid  = rd_busy_q;
  assign s_rdata   = BUG == 3 ? mem[rd_addr_q[AW-1:2]] : rd_data_q;
  assign s_rresp   = '0;
  assign s_rlast   = rd_beat_q == rd_len_q;

  always_ff @(posedge clk) begin
    if (s_arvalid && s_arready) begin
      {rd_addr_q, rd_size_q, rd_burst_q} <= {s_araddr, s_arsize, s_arburst};
      {rd_len_q, s_rid, rd_beat_q}       <= {s_arlen, s_arid, 8'd0};
      rd_data_q                          <= mem[s_araddr[AW-1:2]];
      rd_busy_q                          <= 1'b1;
    end else if (s_rvalid && s_rready) begin
      rd_addr_q <= rd_next;
      rd_data_q <= mem[rd_next[AW-1:2]];
      rd_beat_q <= rd_beat_q + 1;
      rd_busy_q <= !s_rlast;
    end
    if (!rstn) rd_busy_q <= 1'b0;
  end

endmodule

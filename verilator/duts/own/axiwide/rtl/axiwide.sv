/// AXI4 from a subordinate port of 32 bits to a manager port of 64 bits.
///
/// INCR bursts of whole words are packed, two words a beat. All other bursts (FIXED, WRAP, narrow)
/// keep number and size of their beats, which only move to the byte lanes of the wide bus. One
/// write and one read are in progress at a time. Beats wider than the subordinate port are illegal
/// there and not checked for; LOCK, CACHE, PROT, QOS, REGION and USER are not carried.
module axiwide #(
  /// Width of IDs in bits.
  parameter int unsigned IdWidth = 4,
  /// Width of addresses in bits.
  parameter int unsigned AddrWidth = 32,
  /// 0: none; 1, 2: seeded bugs, see docs/own-rtl.md.
  parameter int unsigned BUG = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [IdWidth-1:0]   slv_awid,
  input  logic [AddrWidth-1:0] slv_awaddr,
  input  logic [7:0]           slv_awlen,
  input  logic [2:0]           slv_awsize,
  input  logic [1:0]           slv_awburst,
  input  logic                 slv_awvalid,
  output logic                 slv_awready,
  input  logic [31:0]          slv_wdata,
  input  logic [3:0]           slv_wstrb,
  input  logic                 slv_wlast,
  input  logic                 slv_wvalid,
  output logic                 slv_wready,
  output logic [IdWidth-1:0]   slv_bid,
  output logic [1:0]           slv_bresp,
  output logic                 slv_bvalid,
  input  logic                 slv_bready,
  input  logic [IdWidth-1:0]   slv_arid,
  input  logic [AddrWidth-1:0] slv_araddr,
  input  logic [7:0]           slv_arlen,
  input  logic [2:0]           slv_arsize,
  input  logic [1:0]           slv_arburst,
  input  logic                 slv_arvalid,
  output logic                 slv_arready,
  output logic [IdWidth-1:0]   slv_rid,
  output logic [31:0]          slv_rdata,
  output logic [1:0]           slv_rresp,
  output logic                 slv_rlast,
  output logic                 slv_rvalid,
  input  logic                 slv_rready,

  output logic [IdWidth-1:0]   mst_awid,
  output logic [AddrWidth-1:0] mst_awaddr,
  output logic [7:0]           mst_awlen,
  output logic [2:0]           mst_awsize,
  output logic [1:0]           mst_awburst,
  output logic                 mst_awvalid,
  input  logic                 mst_awready,
  output logic [63:0]          mst_wdata,
  output logic [7:0]           mst_wstrb,
  output logic                 mst_wlast,
  output logic                 mst_wvalid,
  input  logic                 mst_wready,
  input  logic [IdWidth-1:0]   mst_bid,
  input  logic [1:0]           mst_bresp,
  input  logic                 mst_bvalid,
  output logic                 mst_bready,
  output logic [IdWidth-1:0]   mst_arid,
  output logic [AddrWidth-1:0] mst_araddr,
  output logic [7:0]           mst_arlen,
  output logic [2:0]           mst_arsize,
  output logic [1:0]           mst_arburst,
  output logic                 mst_arvalid,
  input  logic                 mst_arready,
  input  logic [IdWidth-1:0]   mst_rid,
  input  logic [63:0]          mst_rdata,
  input  logic [1:0]           mst_rresp,
  input  logic                 mst_rlast,
  input  logic                 mst_rvalid,
  output logic                 mst_rready
);

  typedef struct packed {
    logic [5:0] addr;   // low address bits of the current beat: for lanes and wraps
    logic [7:0] len;    // beats on the subordinate port - 1
    logic [2:0] size;
    logic [1:0] burst;
    logic       pack;   // packed: two words a beat
    logic [8:0] left;   // beats to come on the subordinate port
  } burst_t;

  localparam logic [1:0] Fixed = 2'd0, Incr = 2'd1, Wrap = 2'd2;

  function automatic burst_t start(logic [5:0] addr, logic [7:0] len, logic [2:0] size,
                                   logic [1:0] burst);
    return '{addr, len, size, burst, burst == Incr && size == 3'd2, 9'(len) + 9'd1};
  endfunction

  // Returns the burst's state after its next beat.
  function automatic burst_t step(burst_t b);
    logic [5:0] beat = 6'd1 << b.size;
    logic [5:0] next = (b.addr & ~(beat - 6'd1)) + beat;
    logic [5:0] span = 6'(((b.len + 8'd1) << b.size) - 8'd1);  // bytes of a wrap - 1
    step      = b;
    step.left = b.left - 9'd1;
    case (b.burst)
      Fixed:   step.addr = b.addr;
      Wrap:    step.addr = b.addr & ~span | next & span;
      default: step.addr = next;
    endcase
  endfunction

  // Returns beats - 1 on the manager port. A packed burst that starts in an upper word may take one
  // more.
  function automatic logic [7:0] beats(logic upper, logic [7:0] len, logic pack);
    // Bug 1: ignores where the burst starts.
    return !pack ? len : BUG == 1 ? len >> 1 : 8'((9'(len) + 9'(upper)) >> 1);
  endfunction

  // Write channels: a beat of the manager port leaves with its last word.
  burst_t      wr_q;
  logic        wr_busy_q;               // from the acceptance of an address until its response
  logic        wr_pack, hold, w_free, w_take;
  logic [31:0] low_data_q;              // word that waits for the upper one of its beat
  logic [3:0]  low_strb_q;

  assign wr_pack     = slv_awburst == Incr && slv_awsize == 3'd2;
  assign slv_awready = !wr_busy_q && !mst_awvalid && !mst_wvalid;
  assign w_free      = !mst_wvalid || mst_wready;
  assign hold        = wr_q.pack && !wr_q.addr[2] && wr_q.left != 9'd1;
  assign slv_wready  = wr_busy_q && wr_q.left != '0 && (hold || w_free);
  assign w_take      = slv_wvalid && slv_wready;

  assign slv_bid    = mst_bid;
  assign slv_bresp  = mst_bresp;
  assign slv_bvalid = mst_bvalid && wr_busy_q && wr_q.left == '0;
  assign mst_bready = slv_bready && wr_busy_q && wr_q.left == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_busy_q   <= 1'b0;
      mst_awvalid <= 1'b0;
      mst_wvalid  <= 1'b0;
      low_strb_q  <= '0;
    end else begin
      if (mst_awready) mst_awvalid <= 1'b0;
      if (mst_wready) mst_wvalid <= 1'b0;
      if (slv_awvalid && slv_awready) begin
        wr_busy_q   <= 1'b1;
        wr_q        <= start(slv_awaddr[5:0], slv_awlen, slv_awsize, slv_awburst);
        mst_awvalid <= 1'b1;
        mst_awid    <= slv_awid;
        mst_awaddr  <= slv_awaddr;
        mst_awlen   <= beats(slv_awaddr[2], slv_awlen, wr_pack);
        mst_awsize  <= wr_pack ? 3'd3 : slv_awsize;
        mst_awburst <= slv_awburst;
      end
      if (w_take) begin
        wr_q <= step(wr_q);
        if (hold) begin
          low_data_q <= slv_wdata;
          low_strb_q <= slv_wstrb;
        end else begin
          mst_wvalid <= 1'b1;
          mst_wlast  <= slv_wlast;
          mst_wdata  <= {slv_wdata, wr_q.addr[2] && wr_q.pack ? low_data_q : slv_wdata};
          mst_wstrb  <= wr_q.addr[2] ? {slv_wstrb, wr_q.pack ? low_strb_q : 4'd0}
                                       : {4'd0, slv_wstrb};
          // Bug 2: keeps the strobes of the lower word for a later burst that starts in an upper
          // one.
          if (BUG != 2) low_strb_q <= '0;
        end
      end
      if (slv_bvalid && slv_bready) wr_busy_q <= 1'b0;
    end
  end

  // Read channels: a beat of the manager port is accepted with its last word.
  burst_t rd_q;
  logic   rd_busy_q, rd_pack, r_move;

  assign rd_pack     = slv_arburst == Incr && slv_arsize == 3'd2;
  assign slv_arready = !rd_busy_q && !mst_arvalid;
  assign slv_rid     = mst_rid;
  assign slv_rdata   = rd_q.addr[2] ? mst_rdata[63:32] : mst_rdata[31:0];
  assign slv_rresp   = mst_rresp;
  assign slv_rlast   = rd_q.left == 9'd1;
  assign slv_rvalid  = mst_rvalid && rd_busy_q;
  assign r_move      = slv_rvalid && slv_rready;
  assign mst_rready  = r_move && (!rd_q.pack || rd_q.addr[2] || slv_rlast);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_busy_q   <= 1'b0;
      mst_arvalid <= 1'b0;
    end else begin
      if (mst_arready) mst_arvalid <= 1'b0;
      if (slv_arvalid && slv_arready) begin
        rd_busy_q   <= 1'b1;
        rd_q        <= start(slv_araddr[5:0], slv_arlen, slv_arsize, slv_arburst);
        mst_arvalid <= 1'b1;
        mst_arid    <= slv_arid;
        mst_araddr  <= slv_araddr;
        mst_arlen   <= beats(slv_araddr[2], slv_arlen, rd_pack);
        mst_arsize  <= rd_pack ? 3'd3 : slv_arsize;
        mst_arburst <= slv_arburst;
      end
      if (r_move) begin
        rd_q <= step(rd_q);
        if (slv_rlast) rd_busy_q <= 1'b0;
      end
    end
  end

  // Not used: the end of a read is counted on the subordinate port.
  logic unused_rlast;
  assign unused_rlast = mst_rlast;

endmodule

// A one-entry register. Beside it, a counter ticks and a port polls a memory for ever.
// HANG 1: the fourth record is not taken. HANG 2: it is taken but does not come out.
module babble #(
    parameter int HANG = 0,
    parameter int TICK = 1,
    parameter int POLL = 1
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] s_data,
    input  logic        s_valid,
    output logic        s_ready,
    output logic [31:0] m_data,
    output logic        m_valid,
    input  logic        m_ready,
    output logic [31:0] tick_data,
    output logic        tick_valid,
    input  logic        tick_ready,
    output logic [31:0] p_awaddr,
    output logic        p_awvalid,
    input  logic        p_awready,
    output logic [31:0] p_wdata,
    output logic [3:0]  p_wstrb,
    output logic        p_wvalid,
    input  logic        p_wready,
    input  logic [1:0]  p_bresp,
    input  logic        p_bvalid,
    output logic        p_bready,
    output logic [31:0] p_araddr,
    output logic        p_arvalid,
    input  logic        p_arready,
    input  logic [31:0] p_rdata,
    input  logic [1:0]  p_rresp,
    input  logic        p_rvalid,
    output logic        p_rready
);
  logic [2:0] taken;
  logic       asked;
  wire        fourth = taken == 3;

  assign s_ready = (!m_valid || m_ready) && !(HANG == 1 && fourth);
  assign {p_awaddr, p_awvalid, p_wdata, p_wstrb, p_wvalid} = '0;
  assign p_bready  = 1'b1;
  assign p_araddr  = 32'h40;
  assign p_arvalid = POLL != 0 && !asked;
  assign p_rready  = 1'b1;

  always_ff @(posedge clk) begin
    if (rst) begin
      {m_valid, taken, asked, tick_valid, tick_data} <= '0;
    end else begin
      if (m_ready) m_valid <= 1'b0;
      if (s_valid && s_ready) begin
        m_valid <= !(HANG == 2 && fourth);
        m_data  <= s_data;
      end
      if (s_valid && s_ready && !fourth) taken <= taken + 1'b1;
      if (p_arvalid && p_arready) asked <= 1'b1;
      if (p_rvalid) asked <= 1'b0;
      tick_valid <= TICK != 0;
      if (tick_valid && tick_ready) tick_data <= tick_data + 1'b1;
    end
  end

  wire unused = &{1'b0, p_awready, p_wready, p_bresp, p_bvalid, p_rdata, p_rresp};
endmodule

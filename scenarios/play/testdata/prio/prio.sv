// Two inputs; the first has priority. A beat that is offered stays until it is taken.
module prio (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] s0_data,
    input  logic        s0_valid,
    output logic        s0_ready,
    input  logic [31:0] s1_data,
    input  logic        s1_valid,
    output logic        s1_ready,
    output logic [31:0] m_data,
    output logic        m_valid,
    input  logic        m_ready
);
  logic locked, held;
  wire second = locked ? held : !s0_valid;

  assign m_valid  = second ? s1_valid : s0_valid;
  assign m_data   = second ? s1_data : s0_data;
  assign s0_ready = m_ready && !second;
  assign s1_ready = m_ready && second;

  always_ff @(posedge clk) begin
    locked <= !rst && m_valid && !m_ready;
    held   <= second;
  end
endmodule

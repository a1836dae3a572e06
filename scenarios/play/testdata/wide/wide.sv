// Streams whose fields do not fit each other.
module wide (
    input  logic        clk,
    input  logic [71:0] mode,
    input  logic [3:0]  level,
    input  logic [15:0] s_data,
    input  logic [79:0] s_long,
    input  logic        s_valid,
    output logic        s_ready,
    input  logic [3:0]  q_code,
    input  logic        q_valid,
    output logic        q_ready,
    input  logic [7:0]  p_tdata,
    input  logic        p_tlast,
    input  logic        p_tvalid,
    output logic        p_tready,
    output logic [7:0]  m_data,
    output logic [3:0]  m_tag,
    output logic        m_valid,
    input  logic        m_ready
);
  assign {q_ready, p_tready} = '1;
  assign s_ready = m_ready;
  assign {m_data, m_tag, m_valid} = {s_data[7:0], level, s_valid};
  wire unused = &{1'b0, clk, mode, s_data, s_long, q_code, q_valid, p_tdata, p_tlast, p_tvalid};
endmodule

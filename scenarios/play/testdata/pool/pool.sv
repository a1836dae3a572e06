// Four one-bit FIFOs feed one output in turn. An output bit does not show which FIFO it comes from.
module pool (
    input  logic       clk,
    input  logic       rst,
    input  logic [3:0] s_data,
    input  logic [3:0] s_valid,
    output logic [3:0] s_ready,
    output logic       m_data,
    output logic       m_valid,
    input  logic       m_ready
);
  logic [3:0][63:0] bits;
  logic [3:0][6:0] put, got;
  logic [1:0] turn;

  always_comb for (int i = 0; i < 4; i++) s_ready[i] = put[i] - got[i] != 7'd64;
  assign m_valid = put[turn] != got[turn];
  assign m_data  = bits[turn][got[turn][5:0]];

  always_ff @(posedge clk) begin
    if (rst) begin
      {put, got, turn} <= '0;
    end else begin
      for (int i = 0; i < 4; i++) begin
        if (s_valid[i] && s_ready[i]) begin
          bits[i][put[i][5:0]] <= s_data[i];
          put[i] <= put[i] + 1'b1;
        end
      end
      if (m_valid && m_ready) got[turn] <= got[turn] + 1'b1;
      if (!m_valid || m_ready) turn <= turn + 1'b1;
    end
  end
endmodule

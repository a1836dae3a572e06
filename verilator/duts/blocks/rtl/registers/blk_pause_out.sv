/// Sends frames of three beats through nic_pause without a gap, and checks the pause frames among
/// them.

module blk_pause_out
  import nic_int_pkg::*;
  import nic_pkg::*;
(
  input  logic            clk,
  input  logic            rst,
  // High: frames are sent; a frame begun is completed in any case.
  input  logic            run_i,
  output logic            idle_o,
  output logic            s_valid_o,
  output logic            s_last_o,
  input  logic            s_ready_i,
  input  logic            m_valid_i,
  input  logic            m_last_i,
  input  logic [15:0]     m_user_i,
  input  logic [EthW-1:0] m_data_i,
  input  logic [EthB-1:0] m_keep_i,
  output logic            m_ready_o,
  // own_o: a pause frame with the bytes data_o leaves. bad_o: it is inside another frame, or not
  // one beat of 60 B.
  output logic            own_o,
  output logic [EthW-1:0] data_o,
  output logic            bad_o
);
  logic [1:0] beat_q;
  logic [7:0] lfsr_q;
  logic       mid_q, offered_q;

  assign s_valid_o = run_i || beat_q != 2'd0 || offered_q;
  assign s_last_o  = beat_q == 2'd2;
  assign idle_o    = beat_q == 2'd0 && !offered_q;
  assign m_ready_o = lfsr_q[0] || lfsr_q[2];
  assign own_o     = m_valid_i && m_ready_o && m_user_i == 16'(PauseQueue);
  assign bad_o     = own_o && (mid_q || !m_last_i ||
      m_keep_i != EthB'((64'h1 << FrameMin) - 64'h1));
  assign data_o    = m_data_i;

  always_ff @(posedge clk) begin
    lfsr_q <= {lfsr_q[6:0], lfsr_q[7] ^ lfsr_q[5] ^ lfsr_q[4] ^ lfsr_q[3]};
    if (s_valid_o && s_ready_i) beat_q <= s_last_o ? 2'd0 : beat_q + 2'd1;
    offered_q <= s_valid_o && !s_ready_i;
    if (m_valid_i && m_ready_o && !own_o) mid_q <= !m_last_i;
    if (rst) begin
      lfsr_q    <= 8'h35;
      beat_q    <= '0;
      mid_q     <= 1'b0;
      offered_q <= 1'b0;
    end
  end
endmodule

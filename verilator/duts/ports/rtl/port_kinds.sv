// Ports of every kind other than packet streams, with counters of errors in how they are driven.
//
// Test device for records, levels, coupled streams and several clocks; it has no other function.

module port_kinds (
  input  logic        clk_i,
  input  logic        aux_clk_i,
  input  logic        rst_ni,

  // A level: no handshake.
  input  logic [2:0]  mode_i,

  // Requests.
  input  logic [11:0] req_addr,
  input  logic        req_write,
  input  logic        req_valid,
  output logic        req_ready,

  // Responses, one for each request; ready is an acknowledge in the cycle of valid.
  output logic [11:0] rsp_addr,
  output logic        rsp_write,
  output logic [2:0]  rsp_mode,
  output logic        rsp_valid,
  input  logic        rsp_ready,

  // A header, and the payload that follows it.
  input  logic [7:0]  hdr_beats,
  input  logic        hdr_valid,
  output logic        hdr_ready,
  input  logic [7:0]  pay_tdata,
  input  logic        pay_tlast,
  input  logic        pay_tvalid,
  output logic        pay_tready,

  // Two records that must come in the same cycle.
  input  logic [6:0]  left_tag,
  input  logic        left_valid,
  input  logic [6:0]  right_tag,
  input  logic        right_valid,
  output logic        right_ready,

  // In the domain of aux_clk_i: pulses, and every fifth cycle a record with the counts of pulses
  // and cycles.
  input  logic        kick_valid,
  output logic [15:0] tick_count,
  output logic [15:0] tick_kicks,
  output logic        tick_valid,

  input  logic [99:0] spare_i,

  output logic [15:0] stray_o,  // acknowledges without a request
  output logic [15:0] early_o,  // payload beats before their header
  // Records of stream `right` while stream `left` offers none, or one with another tag; cycles
  // with spare_i not 0.
  output logic [15:0] apart_o
);

  logic [7:0] headers, payloads, beats;
  logic       right_seen;

  assign req_ready   = !rsp_valid;
  assign hdr_ready   = headers == payloads;
  assign pay_tready  = 1'b1;
  assign right_ready = right_seen;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rsp_valid, rsp_addr, rsp_write, rsp_mode} <= '0;
      {headers, payloads, beats} <= '0;
      right_seen <= 1'b0;
      {stray_o, early_o, apart_o} <= '0;
    end else begin
      if (req_valid && req_ready) begin
        rsp_valid <= 1'b1;
        rsp_addr  <= req_addr;
        rsp_write <= req_write;
        rsp_mode  <= mode_i;
      end else if (rsp_ready) begin
        rsp_valid <= 1'b0;
      end
      if (rsp_ready && !rsp_valid) stray_o <= stray_o + 16'd1;

      if (hdr_valid && hdr_ready) begin
        headers <= headers + 8'd1;
        beats   <= hdr_beats;
      end
      if (pay_tvalid) begin
        beats <= beats - 8'd1;
        if (pay_tlast) payloads <= payloads + 8'd1;
        if (headers == payloads || pay_tlast != (beats == 8'd1) || pay_tdata != beats) begin
          early_o <= early_o + 16'd1;
        end
      end

      right_seen <= right_valid && !right_seen;
      if (right_valid && !right_seen && (!left_valid || left_tag != right_tag)) begin
        apart_o <= apart_o + 16'd1;
      end
      if (spare_i != '0) apart_o <= apart_o + 16'd1;
    end
  end

  logic [2:0] fifth;

  always_ff @(posedge aux_clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {fifth, tick_count, tick_kicks} <= '0;
    end else begin
      fifth      <= fifth == 3'd4 ? 3'd0 : fifth + 3'd1;
      tick_count <= tick_count + 16'd1;
      if (kick_valid) tick_kicks <= tick_kicks + 16'd1;
    end
  end
  assign tick_valid = fifth == 3'd4;

endmodule

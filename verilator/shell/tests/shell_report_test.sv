/// Tests shell_report: who it is comes first, then every event with its payload, in the order of
/// its transactor, the end of a grant behind its events; a fault is reported once.

module shell_report_test
  import shell_pkg::*;
(
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  localparam logic [255:0] Hash = 256'h0123_4567_89ab_cdef;

  logic [1:0]                          event_valid, event_ready;
  logic [1:0][SlotBits+EventFlags-1:0] head;
  logic [1:0][15:0]                    payload;
  logic                                done, valid, ready, idle, ending, fault, told;
  logic [7:0]                          data;
  logic [7:0]                          expect_q [$];
  logic [31:0]                         bytes, grants, since;

  shell_report #(.Sources(2), .Bytes({16'd2, 16'd1}), .MostBytes(2), .Hash(Hash)) u_report (
    .clk, .rst, .event_valid_i(event_valid), .event_ready_o(event_ready), .event_i(head),
    .payload_i(payload),
    .done_i(done), .fault_i(fault), .valid_o(valid), .ready_i(ready), .byte_o(data), .idle_o(idle)
  );

  always_ff @(posedge clk) begin
    done  <= 1'b0;
    ready <= $urandom_range(3) != 0;
    if (bytes == 0 && expect_q.size() == 0) begin
      expect_q.push_back(RepIdent);
      expect_q.push_back(Version);
      for (int i = 0; i < 32; i++) expect_q.push_back(Hash[8*i +: 8]);
    end
    for (int i = 0; i < 2; i++) begin
      if (event_valid[i] && event_ready[i]) begin
        event_valid[i] <= 1'b0;
        expect_q.push_back(8'(i));
        expect_q.push_back(head[i][7:0]);
        expect_q.push_back(head[i][15:8]);
        if (head[i][SlotBits+EventPayload]) begin
          expect_q.push_back(payload[i][7:0]);
          if (i == 1) expect_q.push_back(payload[i][15:8]);
        end
      end else if (!event_valid[i] && !ending && !fault && $urandom_range(15) == 0) begin
        event_valid[i] <= 1'b1;
        head[i]        <= 16'($urandom());
        payload[i]     <= 16'($urandom());
      end
    end
    // The end of a grant, where events may wait; no new ones come until it was sent.
    if (!ending && !fault && bytes > 34 && $urandom_range(60) == 0) {done, ending} <= '1;
    if (bytes > 1000 && grants > 5 && !ending && !done) fault <= 1'b1;
    since <= since + 32'(told);
    if (valid && ready) begin
      bytes <= bytes + 1;
      if (expect_q.size() != 0) begin
        if (expect_q[0] != data) $fatal(1, "shell_report_test: byte");
        void'(expect_q.pop_front());
      end else if (ending && data == RepDone && event_valid == '0) begin
        ending <= 1'b0;
        grants <= grants + 1;
      end else if (fault && data == RepFault && !told) begin
        told <= 1'b1;
      end else $fatal(1, "shell_report_test: a message that nothing caused");
    end
    if (!rst && idle && (valid || expect_q.size() > 1)) $fatal(1, "shell_report_test: idle_o");
    if (rst) begin
      {event_valid, done, ready, ending, fault, told} <= '0;
      {bytes, grants, since} <= '0;
    end
  end

  assign done_o = since > 100;
endmodule

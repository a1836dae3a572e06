/// Tests shell_report: who it is comes first, then every event with its payload, in the order of
/// its transactor, and the end of a grant behind its events.

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
  logic                                done, valid, ready, idle;
  logic [7:0]                          data;
  logic [7:0]                          expect_q [$];
  logic [31:0]                         bytes, grants;

  shell_report #(.Sources(2), .Bytes({16'd2, 16'd1}), .MostBytes(2), .Hash(Hash)) u_report (
    .clk, .rst, .event_valid_i(event_valid), .event_ready_o(event_ready), .event_i(head),
    .payload_i(payload),
    .done_i(done), .fault_i(1'b0), .valid_o(valid), .ready_i(ready), .byte_o(data), .idle_o(idle)
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
      end else if (!event_valid[i] && $urandom_range(15) == 0) begin
        event_valid[i] <= 1'b1;
        head[i]        <= 16'($urandom());
        payload[i]     <= 16'($urandom());
      end
    end
    // The end of a grant, when all is quiet.
    if (idle && event_valid == '0 && expect_q.size() == 0 && !done && $urandom_range(3) == 0) begin
      done   <= 1'b1;
      grants <= grants + 1;
      expect_q.push_back(RepDone);
      event_valid <= '0;
    end
    if (valid && ready) begin
      if (expect_q.size() == 0 || expect_q[0] != data) begin
        if (expect_q.size() < 2 || expect_q[0] != RepDone) $fatal(1, "shell_report_test: byte");
      end
      if (expect_q[0] == RepDone && data != RepDone) begin
        // An event overtook the end of the grant that came in the same cycle.
        expect_q.push_back(RepDone);
        void'(expect_q.pop_front());
        if (expect_q[0] != data) $fatal(1, "shell_report_test: order");
      end
      void'(expect_q.pop_front());
      bytes <= bytes + 1;
    end
    if (!rst && idle && (valid || expect_q.size() > 1)) $fatal(1, "shell_report_test: idle_o");
    if (rst) begin
      {event_valid, done, ready} <= '0;
      {bytes, grants} <= '0;
    end
  end

  assign done_o = bytes > 1000 && grants > 5;
endmodule

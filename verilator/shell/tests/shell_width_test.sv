/// Tests shell_narrow and shell_widen: words of the link become the bytes they are made of, and
/// these the same words.

module shell_width_test #(
  // Bytes of a word.
  parameter int Bytes = 4
) (
  input  logic clk,
  input  logic rst,
  // High once the test has passed.
  output logic done_o
);
  logic               in_valid, in_ready, valid, ready, hold, out_valid, out_ready;
  logic [8*Bytes-1:0] in_data, out_data;
  logic [7:0]         data;
  logic [8*Bytes-1:0] words [$];
  logic [31:0]        bytes, seen;

  shell_narrow #(.Bytes(Bytes)) u_narrow (
    .clk, .rst, .valid_i(in_valid), .ready_o(in_ready), .data_i(in_data),
    .valid_o(valid), .ready_i(ready && !hold), .byte_o(data)
  );
  shell_widen #(.Bytes(Bytes)) u_widen (
    .clk, .rst, .valid_i(valid && !hold), .ready_o(ready), .byte_i(data),
    .last_i(bytes == Bytes - 1),
    .valid_o(out_valid), .ready_i(out_ready), .data_o(out_data)
  );

  always_ff @(posedge clk) begin
    hold      <= $urandom_range(3) == 0;
    out_ready <= $urandom_range(3) != 0;
    if (in_valid && in_ready) words.push_back(in_data);
    if (!in_valid || in_ready) begin
      in_valid <= $urandom_range(3) != 0;
      for (int i = 0; i < Bytes; i++) in_data[8*i +: 8] <= 8'($urandom());
    end
    if (valid && ready && !hold) bytes <= bytes == Bytes - 1 ? 0 : bytes + 1;
    if (out_valid && out_ready) begin
      if (words.size() == 0 || words[0] != out_data) $fatal(1, "shell_width_test: word");
      void'(words.pop_front());
      seen <= seen + 1;
    end
    if (rst) begin
      {in_valid, hold, out_ready} <= '0;
      {bytes, seen} <= '0;
    end
  end

  assign done_o = seen > 60;
endmodule

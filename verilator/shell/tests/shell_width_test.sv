/// Tests shell_narrow and shell_widen: words of the link become the bytes they are made of, and
/// these the same words, filled up with zeros where a frame ends inside one.

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
  logic [31:0]        bytes, seen, many_q, many;
  logic               skip;

  // Returns the bytes of a word that are in a frame.
  function automatic logic [31:0] used(logic [7:0] first);
    return 1 + 32'(first) % Bytes;
  endfunction

  assign many = bytes == 0 ? used(data) : many_q;
  assign skip = bytes >= many;

  shell_narrow #(.Bytes(Bytes)) u_narrow (
    .clk, .rst, .valid_i(in_valid), .ready_o(in_ready), .data_i(in_data),
    .valid_o(valid), .ready_i(skip || (ready && !hold)), .byte_o(data)
  );
  shell_widen #(.Bytes(Bytes)) u_widen (
    .clk, .rst, .valid_i(valid && !hold && !skip), .ready_o(ready), .byte_i(data),
    .last_i(bytes == many - 1),
    .valid_o(out_valid), .ready_i(out_ready), .data_o(out_data)
  );

  always_ff @(posedge clk) begin
    hold      <= $urandom_range(3) == 0;
    out_ready <= $urandom_range(3) != 0;
    if (in_valid && in_ready) begin
      words.push_back(in_data & ('1 >> (8 * (Bytes - used(in_data[7:0])))));
    end
    if (!in_valid || in_ready) begin
      in_valid <= $urandom_range(3) != 0;
      for (int i = 0; i < Bytes; i++) in_data[8*i +: 8] <= 8'($urandom());
    end
    if (valid && (skip || (ready && !hold))) begin
      bytes  <= bytes == Bytes - 1 ? 0 : bytes + 1;
      many_q <= many;
    end
    if (out_valid && out_ready) begin
      if (words.size() == 0 || words[0] != out_data) $fatal(1, "shell_width_test: word");
      void'(words.pop_front());
      seen <= seen + 1;
    end
    if (rst) begin
      {in_valid, hold, out_ready} <= '0;
      {bytes, seen, many_q} <= '0;
    end
  end

  assign done_o = seen > 60;
endmodule

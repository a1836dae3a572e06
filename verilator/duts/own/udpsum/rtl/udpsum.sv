// UDP checksum over IPv4: takes a header and then its payload, gives the header with length and
// checksum, and then the payload. A payload has at most 8 * Depth bytes: it is stored until its
// checksum is known.

module udpsum #(
  parameter int Depth = 256,  // beats of payload that are stored, a power of two
  parameter int BUG   = 0     // 0: none; 1, 2: seeded bugs, see docs/own-rtl.md
) (
  input  logic        clk_in,
  input  logic        rst_in,

  input  logic        hdr_valid_in,
  output logic        hdr_ready_out,
  input  logic [31:0] hdr_src_ip_in,
  input  logic [31:0] hdr_dst_ip_in,
  input  logic [15:0] hdr_src_port_in,
  input  logic [15:0] hdr_dst_port_in,

  input  logic        pay_valid_in,
  output logic        pay_ready_out,
  input  logic [63:0] pay_data_in,
  input  logic [7:0]  pay_keep_in,
  input  logic        pay_last_in,

  output logic        sum_valid_out,
  input  logic        sum_ready_in,
  output logic [31:0] sum_src_ip_out,
  output logic [31:0] sum_dst_ip_out,
  output logic [15:0] sum_src_port_out,
  output logic [15:0] sum_dst_port_out,
  output logic [15:0] sum_length_out,
  output logic [15:0] sum_checksum_out,

  output logic        fwd_valid_out,
  input  logic        fwd_ready_in,
  output logic [63:0] fwd_data_out,
  output logic [7:0]  fwd_keep_out,
  output logic        fwd_last_out
);

  localparam int Ptr = $clog2(Depth) + 1;

  typedef struct packed {
    logic [31:0] src_ip;
    logic [31:0] dst_ip;
    logic [15:0] src_port;
    logic [15:0] dst_port;
  } header_t;

  // Collect: holds a header, and sums and counts the bytes of its payload.
  header_t        header;
  logic           collecting;
  logic [31:0]    sum, beat_sum, all;
  logic [15:0]    bytes, length;
  logic [3:0]     beat_bytes;
  logic           taken;

  // Fold: holds a header whose payload is complete, with its sum in 32 bits.
  header_t        fold_header;
  logic           fold_valid, fold_move;
  logic [31:0]    fold_sum;
  logic [15:0]    fold_length;

  // Payload store; frames counts headers sent whose payload has not been sent.
  logic [72:0]    store [Depth];
  logic [Ptr-1:0] wr, rd, frames;
  logic           forwarded;

  assign hdr_ready_out = !collecting;
  assign pay_ready_out = collecting && wr - rd != Ptr'(Depth) && (!fold_valid || fold_move);
  assign taken         = pay_valid_in && pay_ready_out;
  assign length        = bytes + 16'(beat_bytes) + 16'd8;

  always_comb begin
    beat_sum   = '0;
    beat_bytes = '0;
    for (int i = 0; i < 8; i++) begin
      if (pay_keep_in[i]) begin
        beat_bytes = 4'(i + 1);
        beat_sum   = beat_sum + (32'(pay_data_in[8*i+:8]) << (i % 2 == 0 ? 8 : 0));
      end
    end
  end

  // Add the pseudo header: addresses, length and protocol number.
  assign all = sum + beat_sum + 32'(header.src_ip[31:16]) + 32'(header.src_ip[15:0])
             + 32'(header.dst_ip[31:16]) + 32'(header.dst_ip[15:0]) + 32'd17
             + 32'(header.src_port) + 32'(header.dst_port) + 32'(length) + 32'(length);

  always_ff @(posedge clk_in) begin
    if (rst_in) begin
      collecting <= 1'b0;
      fold_valid <= 1'b0;
    end else begin
      if (fold_move) fold_valid <= 1'b0;
      if (hdr_valid_in && hdr_ready_out) begin
        collecting <= 1'b1;
        header     <= {hdr_src_ip_in, hdr_dst_ip_in, hdr_src_port_in, hdr_dst_port_in};
        sum        <= '0;
        bytes      <= '0;
      end
      if (taken) begin
        sum   <= sum + beat_sum;
        bytes <= bytes + 16'(beat_bytes);
        if (pay_last_in) begin
          collecting  <= 1'b0;
          fold_valid  <= 1'b1;
          fold_header <= header;
          fold_sum    <= all;
          fold_length <= length;
        end
      end
    end
  end

  // Carries are added back in until there are none; a checksum of 0 is sent as ffff.
  logic [16:0] once;
  logic [15:0] folded;
  header_t     result;

  assign fold_move = fold_valid && (!sum_valid_out || sum_ready_in);
  assign once      = 17'(fold_sum[31:16]) + 17'(fold_sum[15:0]);
  // Bug 1: the carry of the first fold is lost.
  assign folded    = ~(once[15:0] + (BUG == 1 ? 16'd0 : 16'(once[16])));
  // Bug 2: the header is not stored with its sum: while the sum waits, the next header replaces it.
  assign result    = BUG == 2 ? header : fold_header;

  always_ff @(posedge clk_in) begin
    if (rst_in) begin
      sum_valid_out <= 1'b0;
    end else begin
      if (sum_ready_in) sum_valid_out <= 1'b0;
      if (fold_move) begin
        sum_valid_out    <= 1'b1;
        sum_src_ip_out   <= result.src_ip;
        sum_dst_ip_out   <= result.dst_ip;
        sum_src_port_out <= result.src_port;
        sum_dst_port_out <= result.dst_port;
        sum_length_out   <= fold_length;
        sum_checksum_out <= folded == '0 ? '1 : folded;
      end
    end
  end

  // A payload leaves after its header.
  assign fwd_valid_out = frames != '0;
  assign {fwd_last_out, fwd_keep_out, fwd_data_out} = store[rd[Ptr-2:0]];
  assign forwarded = fwd_valid_out && fwd_ready_in && fwd_last_out;

  always_ff @(posedge clk_in) begin
    if (taken) store[wr[Ptr-2:0]] <= {pay_last_in, pay_keep_in, pay_data_in};
    if (rst_in) begin
      wr     <= '0;
      rd     <= '0;
      frames <= '0;
    end else begin
      wr     <= wr + Ptr'(taken);
      rd     <= rd + Ptr'(fwd_valid_out && fwd_ready_in);
      frames <= frames + Ptr'(sum_valid_out && sum_ready_in) - Ptr'(forwarded);
    end
  end

endmodule

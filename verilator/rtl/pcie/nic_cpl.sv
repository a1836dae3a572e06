/// Checks completions against the requests they answer and turns their beats into responses, one
/// beat a cycle. Cycles without a beat serve to answer requests that have timed out (contract P5 to
/// P7).

module nic_cpl
  import nic_pkg::*, nic_int_pkg::*;
#(
  // Number of read clients.
  parameter int Clients = 3,
  localparam int Cw = $clog2(Clients)
) (
  input  logic               clk,
  input  logic               rst,
  // Beats of completions, never held back.
  input  logic               cpl_valid_i,
  input  logic               cpl_first_i,
  input  logic               cpl_last_i,
  input  logic [127:0]       cpl_hdr_i,
  input  logic [TlpD-1:0]    cpl_keep_i,
  input  logic [TlpW-1:0]    cpl_data_i,
  // Tag of the completion; the inputs below are the state of its request in nic_tags.
  output logic [7:0]         tag_o,
  input  logic               live_i,
  input  logic [Cw-1:0]      client_i,
  input  logic [15:0]        cookie_i,
  input  logic [12:0]        len_i,
  input  logic [13:0]        off_i,
  input  logic [12:0]        left_i,
  input  logic [6:0]         lower_i,
  // Pulse: the completion brought bytes_o bytes and does not end its request.
  output logic               part_o,
  output logic [12:0]        bytes_o,
  // Pulse: the completion ends its request.
  output logic               end_o,
  // With end_o: more completions with this tag may still come.
  output logic               bad_o,
  // late_i: a request that timed out waits for its answer. late_ready_o: it is answered in this
  // cycle.
  input  logic               late_i,
  output logic               late_ready_o,
  input  logic [Cw-1:0]      late_client_i,
  input  logic [15:0]        late_cookie_i,
  input  logic [12:0]        late_len_i,
  // Response to the clients.
  output rd_rsp_t            rsp_o,
  // Pulses of the counters CPL_UNEXPECTED, CPL_ERR and CPL_TIMEOUTS.
  output logic               unexpected_o,
  output logic               err_o,
  output logic               timeout_o,
  // High while a completion is in the block.
  output logic               busy_o
);
  localparam logic [15:0] RequesterId = {RequesterNic[7:0], RequesterNic[15:8]};
  localparam logic [2:0] CplSc = 3'd0, CplUr = 3'd1;

  // Fields of the completion's header.
  logic        has_data, poisoned;
  logic [2:0]  cpl_status;
  logic [10:0] dws;
  logic [12:0] count;
  logic        unused_hdr;

  assign has_data   = cpl_hdr_i[6];
  assign poisoned   = cpl_hdr_i[22];
  assign dws        = {cpl_hdr_i[17:16] == 2'd0 && cpl_hdr_i[31:24] == 8'd0, cpl_hdr_i[17:16],
                       cpl_hdr_i[31:24]};
  assign cpl_status = cpl_hdr_i[55:53];
  assign count      = {cpl_hdr_i[51:48] == 4'd0 && cpl_hdr_i[63:56] == 8'd0, cpl_hdr_i[51:48],
                       cpl_hdr_i[63:56]};
  assign tag_o      = cpl_hdr_i[87:80];
  assign unused_hdr = ^{cpl_hdr_i[127:95], cpl_hdr_i[52], cpl_hdr_i[47:32], cpl_hdr_i[23],
                        cpl_hdr_i[21:18], cpl_hdr_i[15:7], cpl_hdr_i[5:0]};

  // State over the beats of a completion: live_q: its tag had a request; odd_q: beats and header
  // disagreed; dws_q: DWs to come; done_q: bytes passed.
  logic        live_q, odd_q;
  logic [10:0] dws_q, dws_left;
  logic [12:0] done_q, done;
  logic        live, fits, whole, odd, more, good, failed;
  logic [10:0] need;
  logic [12:0] bytes_left;
  logic [7:0]  room, nbytes, status;
  logic [6:0]  lane;

  // Judge each beat. After a bad status no further completion follows; after a poisoned or
  // malformed one some may.
  always_comb begin
    live         = 1'b0;
    fits         = 1'b0;
    whole        = 1'b0;
    odd          = 1'b0;
    more         = 1'b0;
    failed       = 1'b0;
    good         = 1'b0;
    need         = '0;
    dws_left     = '0;
    done         = '0;
    bytes_left   = '0;
    room         = '0;
    nbytes       = '0;
    lane         = '0;
    status       = 8'(StatusOk);
    bytes_o      = '0;
    part_o       = 1'b0;
    end_o        = 1'b0;
    bad_o        = 1'b0;
    unexpected_o = 1'b0;
    if (cpl_valid_i) begin
      live = live_i && cpl_hdr_i[79:64] == RequesterId && (cpl_first_i || live_q);

      // Compare the header with the bytes that the request still lacks.
      need    = 11'((13'(lower_i[1:0]) + left_i + 13'd3) >> 2);
      whole   = dws == need;
      fits    = has_data && count == left_i && cpl_hdr_i[94:88] == lower_i && dws <= need;
      bytes_o = whole ? left_i : {dws, 2'b00} - 13'(lower_i[1:0]);

      // Compare the beats with the length in the header.
      dws_left = cpl_first_i ? dws : dws_q;
      done     = cpl_first_i ? 13'd0 : done_q;
      more     = dws_left > 11'(TlpD);
      odd      = (!cpl_first_i && odd_q) || cpl_last_i == more ||
                 cpl_keep_i != (more ? '1 : ~({TlpD{1'b1}} << dws_left[5:0]));

      if (cpl_status != CplSc) begin
        status = cpl_status == CplUr ? 8'(StatusCplUnsupported) : 8'(StatusCplAbort);
      end else if (poisoned) begin
        status = 8'(StatusCplPoison);
      end else if (!fits || odd) begin
        status = 8'(StatusCplMalformed);
      end
      failed = status != 8'(StatusOk);
      good   = live && !failed;

      lane       = cpl_first_i ? {5'd0, lower_i[1:0]} : 7'd0;
      room       = 8'(TlpB) - 8'(lane);
      bytes_left = bytes_o - done;
      nbytes     = bytes_left < 13'(room) ? bytes_left[7:0] : room;

      part_o       = live && cpl_last_i && !failed && !whole;
      end_o        = live && cpl_last_i && (failed || whole);
      bad_o        = failed && cpl_status == CplSc;
      unexpected_o = cpl_last_i && !live;
    end
  end

  assign late_ready_o = late_i && !(good || end_o);
  assign err_o        = end_o && failed;
  assign timeout_o    = late_ready_o;

  // A response without destination and data.
  typedef struct packed {
    logic [15:0] cookie;
    logic [13:0] off;
    logic [6:0]  lane;
    logic [7:0]  nbytes;
    logic        done;
    logic [12:0] done_len;
    logic [7:0]  status;
  } head_t;

  logic [Clients-1:0] valid_q;
  head_t              head_q;
  logic [TlpW-1:0]    data_q;

  always_ff @(posedge clk) begin
    valid_q <= '0;
    if (cpl_valid_i) begin
      live_q <= live;
      odd_q  <= odd;
      dws_q  <= dws_left - 11'(TlpD);
      done_q <= done + 13'(nbytes);
    end
    if (good || end_o) begin
      valid_q[client_i] <= 1'b1;
      head_q <= '{cookie: cookie_i, off: off_i + 14'(done), lane: lane,
                  nbytes: failed ? 8'd0 : nbytes, done: end_o, done_len: len_i, status: status};
      data_q <= cpl_data_i;
    end else if (late_ready_o) begin
      valid_q[late_client_i] <= 1'b1;
      head_q <= '{cookie: late_cookie_i, off: 14'd0, lane: 7'd0, nbytes: 8'd0, done: 1'b1,
                  done_len: late_len_i, status: 8'(StatusCplTimeout)};
    end
    if (rst) valid_q <= '0;
  end

  assign rsp_o  = {RdClients'(valid_q), head_q, data_q};

  assign busy_o = valid_q != '0;
endmodule

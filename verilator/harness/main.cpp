// The device process: generated glue (dut.hpp) + bus models + protocol. See usage().

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "coverage.hpp"
#include "dut.hpp"
#include "files.hpp"
#include "listen.hpp"
#include "notice.hpp"
#include "playback.hpp"
#include "session.hpp"
#ifdef NICTWIN_AGENT
#include "emulated.hpp"
#else
#include "device.hpp"
#endif

namespace {

// What runs the design: the verilated model here, or a shell at the end of a link.
#ifdef NICTWIN_AGENT
using Device = nictwin::Emulated<Dut>;
#else
using Device = nictwin::Device<Dut>;
#endif

using nictwin::Channel;

struct Arguments {
  int fd = -1, shared = -1;
  std::string listen, token_file, playback;
  bool allow_remote = false, until_input_ends = false;
  nictwin::SessionOptions session;
};

constexpr const char* kUsage =
    "usage: dut --fd N [--shared N]                          a socket, and shared memory, inherited from the parent\n"
    "       dut --listen unix:/path|tcp:A.B.C.D:port --token-file FILE [--allow-remote] [--until-input-ends]\n"
    "                                                        serve the first client with the token: 64 hexadecimal digits in a\n"
    "                                                        file that only its owner can read; --allow-remote: take an address\n"
    "                                                        off 127.0.0.0/8 (token and traffic cross the network unencrypted);\n"
    "                                                        --until-input-ends: end with standard input, as after SIGTERM\n"
    "       dut --playback FILE                              play a recording, print its speed\n"
    "       dut --signals                                    print the signals whose coverage is counted\n"
    "options: --wave FILE [--wave-from CYCLE] [--wave-to CYCLE]   --coverage FILE   +plusarg...\n"
    "         --board PROGRAM --board-hash HASH              of an agent: the program that simulates its board\n"
    "         --link-faults N                                of an agent: percent of the link's frames that are lost,\n"
    "                                                        doubled or damaged\n";

int usage(const std::string& fault) {
  std::fprintf(stderr, "%s\n%s", fault.c_str(), kUsage);
  return 2;
}

// The variable that receives the value of an option.
struct Place {
  const char* name;
  std::string* text;
  uint64_t* number;
};

// Stores the value of one option; returns a fault, or "".
std::string store_option(const Place& p, const char* value) {
  if (value == nullptr) return std::string(p.name) + ": needs a value";
  if (p.text != nullptr) {
    *p.text = value;
    return "";
  }
  const std::string digits = value;
  if (digits.empty() || digits.size() > 19 || digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::string(p.name) + " " + digits + ": needs a number of at most 19 digits";
  }
  *p.number = std::stoull(digits);
  return "";
}

// Checks that the arguments permit listening on the address; returns a fault, or "".
std::string check_remote(const Arguments& a) {
  const bool remote = nictwin::is_remote(a.listen);
  if (remote && !a.allow_remote) {
    return "--listen " + a.listen + ": other machines can reach it, and token and traffic are not encrypted; " +
           "take an address of 127.0.0.0/8, or add --allow-remote";
  }
  if (a.allow_remote && !remote) {
    return "--allow-remote: has no effect without --listen on a tcp address off 127.0.0.0/8";
  }
  return "";
}

std::string parse(int argc, char** argv, Arguments& a) {
  constexpr uint64_t none = UINT64_MAX;
  uint64_t fd = none, shared = none;
  const Place places[] = {
      {"--fd", nullptr, &fd},
      {"--shared", nullptr, &shared},
      {"--listen", &a.listen, nullptr},
      {"--token-file", &a.token_file, nullptr},
      {"--playback", &a.playback, nullptr},
      {"--wave", &a.session.device.wave.file, nullptr},
      {"--wave-from", nullptr, &a.session.device.wave.from},
      {"--wave-to", nullptr, &a.session.device.wave.to},
      {"--coverage", &a.session.coverage, nullptr},
      {"--board", &a.session.device.board, nullptr},
      {"--board-hash", &a.session.device.board_hash, nullptr},
      {"--link-faults", nullptr, &a.session.device.link_faults},
  };
  for (int i = 1; i < argc; i++) {
    const std::string name = argv[i];
    if (!name.empty() && name[0] == '+') {
      a.session.device.plus_args.push_back(name);
      continue;
    }
    if (name == "--allow-remote" || name == "--until-input-ends") {
      (name == "--allow-remote" ? a.allow_remote : a.until_input_ends) = true;
      continue;
    }
    const Place* p = std::find_if(std::begin(places), std::end(places), [&](const Place& q) { return name == q.name; });
    if (p == std::end(places)) return "unknown option " + name;
    if (std::string fault = store_option(*p, i + 1 < argc ? argv[++i] : nullptr); !fault.empty()) return fault;
  }
  for (uint64_t n : {fd, shared}) {
    if (n != none && n > INT_MAX) return std::to_string(n) + " is no number of a file descriptor";
  }
  a.fd = fd == none ? -1 : int(fd);
  a.shared = shared == none ? -1 : int(shared);
  if ((a.fd >= 0) + !a.listen.empty() + !a.playback.empty() != 1) {
    return "exactly one of --fd, --listen, --playback is needed";
  }
  if (a.session.device.wave.enabled() && !nictwin::kHaveWaves) {
    return "--wave: this build cannot trace; build the variant waves";
  }
  if (!a.session.coverage.empty() && !nictwin::kHaveCoverage) {
    return "--coverage: this build collects none; build the variant coverage";
  }
  if (a.session.device.board.empty() == Device::kEmulated) {
    return Device::kEmulated ? "--board: an agent needs one" : "--board: this build simulates the device itself";
  }
  if (a.session.device.link_faults != 0 && !Device::kEmulated) return "--link-faults: this build has no link";
  if (a.until_input_ends && a.listen.empty()) return "--until-input-ends: has no effect without --listen";
  return check_remote(a);
}

constexpr size_t kMaxTokenFile = 4096;  // a token and some space around it

// Reads the token, 64 hexadecimal digits for 32 bytes, from a file; returns a fault, or "".
std::string read_token(const std::string& file, std::string& token) {
  std::vector<uint8_t> bytes;
  if (file.empty()) return "--listen needs --token-file FILE with 64 hexadecimal digits";
  if (std::string why = nictwin::read_file(file, kMaxTokenFile, true, bytes); !why.empty()) {
    return "--token-file " + why;
  }
  constexpr const char* space = " \t\r\n";
  std::string hex(bytes.begin(), bytes.end());
  hex.erase(hex.find_last_not_of(space) + 1);
  hex.erase(0, hex.find_first_not_of(space));
  if (hex.size() != 2 * nictwin::kTokenBytes || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return "--token-file " + file + ": the token needs 64 hexadecimal digits";
  }
  for (size_t i = 0; i < hex.size(); i += 2) token += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "";
}

int serve(int fd, Arguments& a) {
  Channel ch(fd);
  if (a.shared >= 0 && !ch.share(a.shared)) return usage("--shared: not memory of the right size");
  ch.watch_peer();
  try {
    return nictwin::Session<Device>(ch, a.session).serve();
  } catch (const nictwin::PeerGone&) {
    nictwin::notice("the client is gone");
    return 1;
  }
}

int print_signals() {
  nictwin::Start start;
  start.streams.resize(Dut::info().streams.size());
  Device(start, {}).print_signals();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc == 2 ? argv[1] : "";
  if (only == "--signals") return print_signals();
  if (only == "--help" || only == "-h") return std::fputs(kUsage, stdout) < 0;
  Arguments a;
  if (std::string fault = parse(argc, argv, a); !fault.empty()) return usage(fault);
  if (!a.playback.empty()) return nictwin::Playback<Device>().play(a.playback, a.session.device);
  if (a.fd >= 0) return serve(a.fd, a);
  std::string token, error;
  if (std::string fault = read_token(a.token_file, token); !fault.empty()) return usage(fault);
  std::signal(SIGPIPE, SIG_IGN);  // the device continues when nobody reads its output any more
  if (a.until_input_ends) nictwin::end_with_input();
  int fd = nictwin::listen_once(a.listen, token, error);
  if (fd < 0) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  a.session.opened = true;
  return serve(fd, a);
}

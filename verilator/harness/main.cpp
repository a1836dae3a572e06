// The device process: generated glue (dut.hpp) + bus models + protocol. See usage().

#include <cstdio>
#include <cstdlib>

#include "dut.hpp"
#include "listen.hpp"
#include "playback.hpp"
#include "session.hpp"

namespace {

using nictwin::Channel;

struct Arguments {
  int fd = -1, shared = -1;
  std::string listen, token_file, playback;
  nictwin::SessionOptions session;
};

int usage(const std::string& fault) {
  std::fprintf(stderr,
               "%s\n"
               "usage: dut --fd N [--shared N]                          a socket, and shared memory, inherited from the parent\n"
               "       dut --listen unix:/path|tcp:A.B.C.D:port --token-file FILE\n"
               "       dut --playback FILE                              play a recording, print its speed\n"
               "       dut --signals                                    print the signals whose coverage is counted\n"
               "options: --wave FILE [--wave-from CYCLE] [--wave-to CYCLE]   --coverage FILE   +plusarg...\n",
               fault.c_str());
  return 2;
}

// Takes one option with its value; returns a fault, or "".
std::string option(Arguments& a, const std::string& name, const std::string& value) {
  auto number = [&](uint64_t& into) -> std::string {
    char* end = nullptr;
    into = std::strtoull(value.c_str(), &end, 10);
    return value.empty() || *end != 0 ? name + " " + value + ": needs a number" : "";
  };
  uint64_t n = 0;
  if (name == "--fd" || name == "--shared") {
    std::string fault = number(n);
    (name == "--fd" ? a.fd : a.shared) = int(n);
    return fault;
  }
  if (name == "--wave-from") return number(a.session.wave.from);
  if (name == "--wave-to") return number(a.session.wave.to);
  if (name == "--listen") a.listen = value;
  else if (name == "--token-file") a.token_file = value;
  else if (name == "--playback") a.playback = value;
  else if (name == "--wave") a.session.wave.file = value;
  else if (name == "--coverage") a.session.coverage = value;
  else return "unknown option " + name;
  return "";
}

std::string parse(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; i++) {
    std::string name = argv[i];
    if (!name.empty() && name[0] == '+') {
      a.session.plus_args.push_back(name);
      continue;
    }
    if (i + 1 == argc) return name + ": needs a value";
    if (std::string fault = option(a, name, argv[++i]); !fault.empty()) return fault;
  }
  if ((a.fd >= 0) + !a.listen.empty() + !a.playback.empty() != 1) return "exactly one of --fd, --listen, --playback is needed";
  if (a.session.wave.enabled() && !nictwin::kHaveWaves) return "--wave: this build cannot trace; build the variant waves";
  if (!a.session.coverage.empty() && !nictwin::kHaveCoverage) return "--coverage: this build collects none; build the variant coverage";
  return "";
}

// The token is 32 bytes, as 64 hexadecimal digits.
std::string read_token(const std::string& file, std::string& token) {
  std::ifstream in(file);
  std::string hex;
  if (file.empty() || !(in >> hex)) return "--listen needs --token-file FILE with 64 hexadecimal digits";
  if (hex.size() != 2 * nictwin::kTokenBytes || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return file + ": the token needs 64 hexadecimal digits";
  }
  for (size_t i = 0; i < hex.size(); i += 2) token += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "";
}

int serve(int fd, Arguments& a) {
  Channel ch(fd);
  if (a.shared >= 0 && !ch.share(a.shared)) return usage("--shared: not memory of the right size");
  ch.watch_peer();
  try {
    return nictwin::Session<Dut>(ch, a.session).serve();
  } catch (const nictwin::PeerGone&) {
    std::fprintf(stderr, "the client is gone\n");
    return 1;
  }
}

int print_signals() {
  nictwin::Start start;
  start.streams.resize(Dut::info().streams.size());
  nictwin::Device<Dut>(start, {}, {}).print_signals();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--signals") return print_signals();
  Arguments a;
  if (std::string fault = parse(argc, argv, a); !fault.empty()) return usage(fault);
  if (!a.playback.empty()) return nictwin::Playback<Dut>().play(a.playback, a.session.plus_args);
  if (a.fd >= 0) return serve(a.fd, a);
  std::string token, error;
  if (std::string fault = read_token(a.token_file, token); !fault.empty()) return usage(fault);
  a.session.token = token;
  int fd = nictwin::listen_once(a.listen, error);
  if (fd < 0) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  return serve(fd, a);
}

// SPDX-License-Identifier: Apache-2.0

// mcpac-analyzer: reads one Request as JSON from standard input, writes one Report as JSON to
// standard output. Anything else that happens is one JSON object with an `error`, and a non-zero
// exit.
//
// With arguments, which are flags for clang, it first reads the program that the lead on the disk
// leads to (analyzer/lead.h), and stands still there until that is said. Before those the overlay
// of its files may stand (analyzer/overlay.h).
//
// It reads hostile source with a parser of a million lines, so the host runs it in a sandbox and
// believes nothing of its answer but the form. It starts no process and needs no environment.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/clang/analysis.h"
#include "analyzer/clang/stage.h"
#include "analyzer/overlay.h"
#include "core/file.h"
#include "core/json.h"
#include "core/write_all.h"

namespace {

using namespace mcpac;

// 10,000 tools with long names are 2 MiB.
constexpr std::size_t kMaxRequest = std::size_t{16} << 20U;
// Deeply nested source needs deep recursion in clang; the kernel lets the first thread's stack grow
// up to this. A source that needs more dies here, alone, and the host says so. The sandbox gives as
// much before this program starts (src/sandbox/rlimits.cpp) and refuses changes, so nothing is
// asked for there; outside of it, in tests, the limit may be lower.
constexpr rlim_t kStack = rlim_t{64} << 20U;
// The host allows 16 s of computing. Programs that people and models write need less than one.
constexpr std::chrono::seconds kLimit{12};

Json to_json(const Error& error) {
  return {{"error",
           {{"id", to_string(error.id)},
            {"what", error.what},
            {"where", error.where},
            {"why", error.why},
            {"fix", error.fix}}}};
}

Result<analyzer::Report> answer(std::shared_ptr<const analyzer::Parsed> ahead) {
  auto text = read_descriptor(STDIN_FILENO, "the request", kMaxRequest);
  if (!text) return pass_on(text);
  auto json = parse_json(*text, "the request");
  if (!json) return pass_on(json);
  auto request = analyzer::request_from_json(*json);
  if (!request) return pass_on(request);
  return analyzer::analyze(*request, std::move(ahead));
}

// One answer only: the first to claim it ends the process.
std::atomic<bool> answered = false;

[[noreturn]] void end_with(const std::string& text, bool good) {
  const bool written = write_all(STDOUT_FILENO, text + "\n") == 0;
  // The tables of clang need not be taken apart before the process ends.
  std::_Exit(good && written ? 0 : static_cast<int>(ExitCode::kData));
}

void give_up(const char* stage) {
  if (answered.exchange(true)) return;
  const Error error = fail(ErrorId::kAnalyzerFailed, "the program could not be analysed in time",
                           {.why = fmt::format("{} took more than {} s", stage, kLimit.count()),
                            .fix = "make it smaller or simpler"})
                          .error();
  end_with(to_text(to_json(error)), false);
}

}  // namespace

int main(int argc, char** argv) {
  // libclang would start a thread for its own stack; ours is larger.
  ::setenv("LIBCLANG_NOTHREADS", "1", 1);
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kStack) {
    stack.rlim_cur = stack.rlim_max < kStack ? stack.rlim_max : kStack;
    (void)::setrlimit(RLIMIT_STACK, &stack);
  }
  analyzer::watch(kLimit, give_up);
  int first = 1;
  if (argc > 2 && std::string_view(argv[1]) == analyzer::Overlay::kFlag) {
    if (auto used = analyzer::use_overlay(argv[2]); !used)
      end_with(to_text(to_json(used.error())), false);
    first = 3;
  }
  auto ahead = argc > first ? analyzer::read_ahead({argv + first, argv + argc}) : nullptr;
  const auto report = answer(std::move(ahead));
  // The thread that gives up at this very moment ends the process.
  if (answered.exchange(true)) ::pause();
  end_with(to_text(report ? analyzer::to_json(*report) : to_json(report.error())),
           report.has_value());
}

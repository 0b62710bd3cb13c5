// grant-vectors FILE…: puts files of vectors for the grant language (grants.jsonl, inclusion.jsonl,
// with tools.json beside each) to mcpac's own rules. A line for each case that differs, and how
// many passed. Exit code 0: all of them; 1: not all; 2: a file could not be read.
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <string>

#include "core/file.h"
#include "core/printable.h"
#include "policy/support_vectors.h"

namespace mcpac::policy::testing {
namespace {

// The files are under review, not under attack; yet a slip of an editor should not end in swap.
constexpr std::size_t kMaxFile = std::size_t{64} << 20U;

struct Tally {
  int passed = 0;
  int failed = 0;
};

void report(const std::string& id, const std::string& expected, const std::string& got,
            const std::string& why) {
  fmt::print("{}: expected {}, got {} ({})\n", printable_in_place(id), printable_in_place(expected),
             printable_in_place(got), printable_in_place(why));
}

void run_line(std::string_view text, const std::string& place, const Json& tools, Tally& tally) {
  const auto line = parse_json(text, place);
  if (!line || !line->is_object()) {
    ++tally.failed;
    return report(place, "a JSON object", line ? "another value" : line.error().what, "");
  }
  const std::string id = string_member(*line, "id", place);
  const std::string why = string_member(*line, "why");
  try {
    const auto difference = run_vector(*line, tools);
    ++(difference ? tally.failed : tally.passed);
    if (difference) report(id, difference->expected, difference->got, why);
  } catch (const std::exception& error) {
    ++tally.failed;
    report(id, string_member(*line, "expect", "a vector"), error.what(), why);
  }
}

Result<void> run_file(const std::filesystem::path& file, Tally& tally) {
  auto text = read_file(file, kMaxFile);
  if (!text) return pass_on(text);
  const auto beside = file.parent_path() / "tools.json";
  auto tools_text = read_file(beside, kMaxFile);
  if (!tools_text) return pass_on(tools_text);
  auto tools = parse_json(*tools_text, beside.string());
  if (!tools) return pass_on(tools);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text->size();) {
    const auto end = std::min(text->find('\n', at), text->size());
    ++number;
    const auto line = std::string_view(*text).substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos)
      run_line(line, fmt::format("{}:{}", file.string(), number), *tools, tally);
    at = end + 1;
  }
  return {};
}

int main_of(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: grant-vectors FILE…\n");
    return 2;
  }
  Tally tally;
  bool readable = true;
  for (int i = 1; i < argc; ++i) {
    const auto done = run_file(argv[i], tally);
    if (done) continue;
    readable = false;
    fmt::print(stderr, "{}\n", done.error().to_text());
  }
  fmt::print("{} passed, {} failed\n", tally.passed, tally.failed);
  return !readable ? 2 : tally.failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace mcpac::policy::testing

int main(int argc, char** argv) {
  return mcpac::policy::testing::main_of(argc, argv);
}

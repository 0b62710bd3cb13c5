// SPDX-License-Identifier: Apache-2.0

// What the ground floor costs: bench_core [samples per row, default 300]
//
// Method. One thread. Each row is run in batches of about 50 µs (the batch size is found first,
// which also warms the caches), timed by the steady clock; a sample is the time of a batch divided
// by its size. Printed are the median, the 10th and the 90th percentile of the samples, in
// nanoseconds. The values are those of real tools: write_file and edit_file of the filesystem
// server, an issue search with enumerations, limits and a pattern. The audit row writes to a real
// file in the temporary folder.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "core/canonical_json.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/ids.h"
#include "core/json_schema.h"

namespace {

using namespace mcpac;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

std::size_t g_samples = 300;
// What every row adds to, so that no compiler leaves the work out.
volatile std::size_t g_sink = 0;

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "bench_core: {}\n", result.error().to_text());
  std::exit(1);
}

double batch_nanoseconds(const std::function<std::size_t()>& work, std::size_t times) {
  const auto start = Clock::now();
  std::size_t sum = 0;
  for (std::size_t i = 0; i < times; ++i) sum += work();
  const double spent = Nanoseconds(Clock::now() - start).count();
  g_sink = g_sink + sum;
  return spent;
}

void row(std::string_view name, const std::function<std::size_t()>& work) {
  std::size_t times = 1;
  while (batch_nanoseconds(work, times) < 50'000.0) times *= 2;
  std::vector<double> samples;
  for (std::size_t i = 0; i < g_samples; ++i) {
    samples.push_back(batch_nanoseconds(work, times) / static_cast<double>(times));
  }
  std::ranges::sort(samples);
  const auto at = [&](std::size_t percent) {
    return samples[(samples.size() - 1) * percent / 100];
  };
  fmt::print("{:<52} {:>12.0f} {:>12.0f} {:>12.0f}\n", name, at(50), at(10), at(90));
}

Json json(std::string_view text) {
  return need(parse_json(text));
}

constexpr std::string_view kWriteFile = R"({"type":"object","properties":{"path":{"type":"string"},
  "content":{"type":"string"}},"required":["path","content"],"additionalProperties":false,
  "$schema":"http://json-schema.org/draft-07/schema#"})";

constexpr std::string_view kEditFile = R"({"type":"object","properties":{"path":{"type":"string"},
  "edits":{"type":"array","items":{"type":"object","properties":{
    "oldText":{"type":"string","description":"Text to search for - must match exactly"},
    "newText":{"type":"string","description":"Text to replace with"}},
    "required":["oldText","newText"],"additionalProperties":false}},
  "dryRun":{"type":"boolean","default":false}},"required":["path","edits"],"additionalProperties":false,
  "$schema":"http://json-schema.org/draft-07/schema#"})";

constexpr std::string_view kSearch = R"({"type":"object","properties":{
  "owner":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9-]{0,38}$"},"repo":{"type":"string","minLength":1},
  "query":{"anyOf":[{"type":"string"},{"type":"null"}]},"state":{"enum":["open","closed","all"]},
  "sort":{"type":"string","enum":["created","updated","comments"]},
  "labels":{"type":"array","items":{"type":"string"},"maxItems":20},
  "page":{"type":"integer","minimum":1},"per_page":{"type":"integer","minimum":1,"maximum":100,"default":30}},
  "required":["owner","repo"]})";

constexpr std::string_view kWriteArguments =
    R"({"path":"/srv/data/reports/2026/summary.txt","content":"Quarterly figures\n\nRevenue rose by 4 %.\n"})";
constexpr std::string_view kEditArguments =
    R"({"path":"/srv/data/reports/2026/summary.txt","dryRun":true,"edits":[
  {"oldText":"Revenue","newText":"Turnover"},{"oldText":"rose","newText":"grew"},{"oldText":"4 %","newText":"5 %"}]})";
constexpr std::string_view kSearchArguments =
    R"({"owner":"example-org","repo":"website","query":"crash on start",
  "state":"open","sort":"updated","labels":["bug","help wanted","p1"],"page":1,"per_page":50})";
constexpr std::string_view kRequest =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem.read_text_file","arguments":{"path":"/srv/data/reports/2026/summary.txt","head":20}}})";

void validation() {
  const auto validate = [](std::string_view name, std::string_view schema_text, Json value) {
    const auto schema = need(JsonSchema::compile(json(schema_text)));
    row(name, [&] { return schema->validate(value) ? std::size_t{1} : std::size_t{2}; });
  };
  validate("validate write_file arguments", kWriteFile, json(kWriteArguments));
  validate("validate edit_file arguments, 3 edits", kEditFile, json(kEditArguments));
  validate("validate issue search, 8 members, 1 pattern", kSearch, json(kSearchArguments));
  validate("validate, refused: a member is missing", kWriteFile, json(R"({"path":"/x"})"));
  validate("validate write_file, content of 1 MiB", kWriteFile,
           {{"path", "/x"}, {"content", std::string(1U << 20U, 'x')}});
  const auto schema = need(JsonSchema::compile(json(kEditFile)));
  row("fill_defaults of edit_file, one absent", [&] {
    Json value = {{"path", "/x"}};
    return schema->fill_defaults(value) ? value.size() : 0;
  });
  const Json search = json(kSearch);
  row("compile the issue search schema",
      [&] { return need(JsonSchema::compile(search)) ? std::size_t{1} : 0; });
}

void texts() {
  row("parse a tools/call request, 150 bytes", [] { return parse_json(kRequest)->size(); });
  const std::string big = to_text(Json{{"text", std::string(1U << 20U, 'x')}});
  row("parse one string of 1 MiB", [&] { return parse_json(big)->size(); });
  Json many = Json::object();
  for (int i = 0; i < 100'000; ++i) many[fmt::format("member{}", i)] = i;
  const std::string many_text = to_text(many);
  row("parse 100,000 members", [&] { return parse_json(many_text)->size(); });
  row("parse 100,000 members, keeping their order",
      [&] { return parse_ordered_json(many_text)->size(); });
  const Json arguments = json(kSearchArguments);
  row("write the issue search arguments", [&] { return to_text(arguments).size(); });
  row("canonical form of the issue search arguments",
      [&] { return canonical_json(arguments).size(); });
  const Json schema = json(kSearch);
  row("canonical form and SHA-256 of the search schema",
      [&] { return sha256_hex(canonical_json(schema)).size(); });
}

void records() {
  const SystemClock clock;
  row("new_uuid_v7", [&] { return new_uuid_v7(clock).size(); });
  auto folder =
      need(TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-bench-"));
  const auto log = need(audit::RunLog::create(folder.path() / "audit", new_uuid_v7(clock), clock));
  const Json payload = {{"capability", "filesystem.read_text_file"},
                        {"target", "/srv/data/reports/2026/summary.txt"},
                        {"allowed", true},
                        {"policy_decision_id", "grant:1"}};
  row("audit: append one decision",
      [&] { return need(log->append("CapabilityCheck", payload)).size(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_samples = std::max<std::size_t>(10, std::strtoul(argv[1], nullptr, 10));
  fmt::print("{:<52} {:>12} {:>12} {:>12}\n", "nanoseconds", "median", "p10", "p90");
  validation();
  texts();
  records();
  return 0;
}

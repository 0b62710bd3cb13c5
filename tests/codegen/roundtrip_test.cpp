// Values through the generated types: JSON -> struct -> JSON is the same JSON, and still valid.
//
// For every tool, values are made at random from its schemas (and checked with the gate's own
// validator), then read and written by a program that is compiled from the generated headers. Two
// things may change, and nothing else: a null for an optional member may be left out, and 5 may be
// 5.0 (one number, for JSON).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "codegen/shape_builder.h"
#include "core/json_compare.h"
#include "core/json_schema.h"
#include "support_codegen.h"
#include "support_values.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

constexpr int kValues = 24;  // of each schema
constexpr int kTries = 400;
// So many types in one program: one translation unit has its own fixed cost.
constexpr std::size_t kTypesInOne = 40;

// One schema, the C++ type made from it, and values for it.
struct Journey {
  std::string name;
  std::string cpp_type;
  std::shared_ptr<const JsonSchema> schema{};
  std::vector<Json> values{};
};

struct Program {
  std::vector<std::string> headers{};
  std::vector<Journey> journeys{};
};

constexpr std::string_view kMain = R"(#include <fstream>
#include <string>
using mcpac::Json;
template <class T>
Json turn(const Json& json) {
  try {
    const Json once = mcpac::detail::to_json(mcpac::detail::from_json<T>(json));
    return {{"once", once}, {"twice", mcpac::detail::to_json(mcpac::detail::from_json<T>(once))}};
  } catch (const mcpac::InvalidArguments& error) {
    return {{"error", error.pointer() + ": " + error.message()}};
  }
}
using Turn = Json (*)(const Json&);
const Turn turns[] = {@TURNS@};
int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  for (std::string line; std::getline(in, line);) {
    const Json job = Json::parse(line);
    out << turns[job["n"].get<unsigned>()](job["v"]).dump() << "\n";
  }
}
)";

// Where `came` is not `went` up to what may change; "" where it is.
std::string difference(const Json& went, const Json& came, const std::string& at = "") {
  if (went.is_object() && came.is_object()) {
    for (const auto& member : went.items()) {
      const auto found = came.find(member.key());
      const std::string place = at + "/" + member.key();
      if (found == came.end()) {
        if (!member.value().is_null()) return place + " is gone";
        continue;
      }
      if (std::string inner = difference(member.value(), *found, place); !inner.empty())
        return inner;
    }
    for (const auto& member : came.items()) {
      if (!went.contains(member.key())) return at + "/" + member.key() + " is new";
    }
    return "";
  }
  if (went.is_array() && came.is_array() && went.size() == came.size()) {
    for (std::size_t i = 0; i < went.size(); ++i) {
      if (std::string inner = difference(went[i], came[i], at + "/" + std::to_string(i));
          !inner.empty())
        return inner;
    }
    return "";
  }
  return json_equal(went, came) ? "" : at + " was " + went.dump() + ", is " + came.dump();
}

void add_journey(const LockedServer& server, const LockedTool& tool, bool args,
                 std::vector<Journey>& journeys, std::vector<std::string>& without) {
  const char* const name = args ? "inputSchema" : "outputSchema";
  const OrderedJson* schema = keyword(tool.definition, name);
  if (schema == nullptr || !schema->is_object()) return;
  std::vector<Note> notes;
  const Shape shape =
      ShapeBuilder(*schema, args ? ShapeKind::kArgs : ShapeKind::kResult, "", "", notes).build();
  if (shape.free_form || (shape.fields.empty() && !shape.extra)) return;
  Journey journey{.name = fmt::format("{}.{} {}", server.name, tool.name, name),
                  .cpp_type = fmt::format("::{}::{}", tool.cpp_name, args ? "Args" : "Result")};
  auto compiled = JsonSchema::compile(Json::parse(schema->dump()));
  if (!compiled) {
    without.push_back(journey.name + " does not compile: " + compiled.error().what);
    return;
  }
  journey.schema = *compiled;
  Values values(*schema, std::hash<std::string>{}(journey.name));
  for (int i = 0; i < kTries && journey.values.size() < kValues; ++i) {
    Json value = values.next();
    if (!journey.schema->validate(value)) journey.values.push_back(std::move(value));
  }
  if (journey.values.empty()) {
    without.push_back(journey.name);
  } else {
    journeys.push_back(std::move(journey));
  }
}

std::vector<Program> programs_for(const Output& output, std::size_t every_nth,
                                  std::vector<std::string>& without) {
  std::vector<Program> programs;
  std::size_t number = 0;
  for (const LockedServer& server : output.lock.servers) {
    std::vector<Journey> journeys;
    for (const LockedTool& tool : server.tools) {
      if (number++ % every_nth != 0) continue;
      add_journey(server, tool, true, journeys, without);
      add_journey(server, tool, false, journeys, without);
    }
    const std::string header = server.cpp_name.substr(server.cpp_name.rfind(':') + 1) + ".hpp";
    for (Journey& journey : journeys) {
      if (programs.empty() || programs.back().journeys.size() >= kTypesInOne)
        programs.emplace_back();
      Program& program = programs.back();
      if (program.headers.empty() || program.headers.back() != header)
        program.headers.push_back(header);
      program.journeys.push_back(std::move(journey));
    }
  }
  return programs;
}

// Compiles and runs one program; its answers, or what the compiler said instead.
std::string run_program(const Program& program, const Compiler& compiler,
                        const std::filesystem::path& headers, const std::filesystem::path& stem) {
  std::string source;
  for (const std::string& header : program.headers) source += "#include \"" + header + "\"\n";
  std::string turns;
  std::string jobs;
  for (std::size_t i = 0; i < program.journeys.size(); ++i) {
    turns += fmt::format("turn<{}>,\n", program.journeys[i].cpp_type);
    for (const Json& value : program.journeys[i].values)
      jobs += Json{{"n", i}, {"v", value}}.dump() + "\n";
  }
  source += kMain;
  source.replace(source.find("@TURNS@"), 7, turns);
  const std::string at = stem.string();
  if (!write_file_atomic(at + ".cpp", source) || !write_file_atomic(at + ".in", jobs))
    return "cannot write";
  const std::string said =
      run(fmt::format("{2} -I'{0}' '{1}.cpp' -o '{1}' 2>&1 "
                      "&& '{1}' '{1}.in' "
                      "'{1}.out' 2>&1 && echo done",
                      headers.string(), at, compiler.command));
  return said == "done\n" ? "" : said.substr(0, 3000);
}

struct Travelled {
  std::size_t types = 0;
  std::size_t values = 0;
};

void check_program(const Program& program, const std::filesystem::path& stem,
                   Travelled& travelled) {
  const auto text = read_file(stem.string() + ".out");
  REQUIRE(text);
  std::istringstream lines(*text);
  for (const Journey& journey : program.journeys) {
    ++travelled.types;
    bool fine = true;
    for (const Json& value : journey.values) {
      ++travelled.values;
      std::string line;
      REQUIRE(std::getline(lines, line));
      const Json answer = Json::parse(line);
      std::string wrong = answer.value("error", "");
      if (wrong.empty()) wrong = difference(value, answer["once"]);
      if (wrong.empty() && answer["once"].dump() != answer["twice"].dump())
        wrong = "the second time: " + answer["twice"].dump();
      if (wrong.empty()) {
        if (const auto violation = journey.schema->validate(answer["once"]))
          wrong = "no longer valid: " + violation->pointer + " " + violation->message;
      }
      // One complaint a type says enough.
      if (std::exchange(fine, fine && wrong.empty()))
        CHECK_MESSAGE(wrong.empty(), journey.name, ": ", wrong, "\n", value.dump().substr(0, 1500));
    }
  }
}

Travelled travel(const std::vector<ServerListing>& listings, std::size_t every_nth,
                 std::vector<std::string>& without) {
  const auto output = generate(listings);
  REQUIRE(output);
  const TemporaryFolder folder = temporary_folder();
  write_headers(*output, folder.path());
  const auto programs = programs_for(*output, every_nth, without);
  const Compiler compiler =
      with_runtime({"clang 19", "clang++-19 -std=c++23 -stdlib=libc++ -O0 -w"}, folder.path());
  const auto stem = [&](std::size_t i) { return folder.path() / fmt::format("program{}", i); };
  std::vector<std::string> said(programs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < programs.size(); i = next++)
      said[i] = run_program(programs[i], compiler, folder.path(), stem(i));
  };
  std::thread other(work);
  work();
  other.join();
  Travelled travelled;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    CHECK_MESSAGE(said[i].empty(), said[i]);
    if (said[i].empty()) check_program(programs[i], stem(i), travelled);
  }
  return travelled;
}

std::string names_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "\n  "));
}

}  // namespace

TEST_SUITE("codegen/roundtrip") {
  TEST_CASE("the comparison notices what is lost, added or rounded") {
    CHECK(difference({{"a", nullptr}, {"b", {1, 2}}}, {{"b", {1, 2.0}}}) == "");
    CHECK(difference({{"a", 1}}, Json::object()) == "/a is gone");
    CHECK(difference(Json::object(), {{"a", 1}}) == "/a is new");
    CHECK(difference({{"a", {1}}}, {{"a", {1, 2}}}) != "");
    CHECK(difference({{"a", "1"}}, {{"a", 1}}) != "");
    const Json digits = std::int64_t{9007199254740993};
    CHECK(difference(digits, digits) == "");
    CHECK(difference(digits, digits.get<double>()) != "");
  }

  TEST_CASE("valid values of every recorded tool come back as they went, and valid") {
    std::vector<std::string> without;
    const Travelled travelled = travel(listings_in(data_folder()), 1, without);
    MESSAGE(travelled.values, " values of ", travelled.types, " types; no value found for ",
            without.size(), ":\n  ", names_of(without));
    CHECK(travelled.values > 5000);
    CHECK(without.size() * 20 <= travelled.types);
  }

  TEST_CASE("valid values of a part of the whole corpus come back, where it is at hand") {
    if (!std::filesystem::is_directory(corpus_folder())) {
      MESSAGE("skipped: no corpus at ", corpus_folder().string());
      return;
    }
    std::vector<std::string> without;
    const char* named = std::getenv("MCPAC_ROUNDTRIP_EVERY");
    const std::size_t every_nth = named == nullptr ? 40 : std::stoul(named);
    const Travelled travelled = travel(listings_in(corpus_folder()), every_nth, without);
    MESSAGE(travelled.values, " values of ", travelled.types, " types; no value found for ",
            without.size(), ":\n  ", names_of(without));
    CHECK(travelled.values > 1000);
    CHECK(without.size() * 20 <= travelled.types);
  }
}

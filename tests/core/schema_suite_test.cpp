// The official JSON Schema test suite, required tests, drafts 2020-12 and 7.
//
// Two copies: the one in tests/core/data (see its README) for both drafts, and Debian's package
// json-schema-test-suite, which ends with draft 7. A copy that is not there is a failure: a suite
// that did not run has not passed. MCPAC_SCHEMA_SUITE=FOLDER runs the drafts of a newer checkout as
// well.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/json_schema.h"
#include "places.h"

namespace mcpac {
namespace {

// What we do not pass, and why. A row that no longer fails is an error, so the list stays true.
struct Exception {
  std::string_view draft;
  std::string_view file;
  std::string_view group;  // empty: the whole file
};

constexpr std::array kExceptions = {
    // Remote schemas are never fetched: what refers to one does not compile.
    Exception{"draft2020-12", "refRemote.json", ""},
    Exception{"draft7", "refRemote.json", ""},
    Exception{"draft2020-12", "dynamicRef.json",
              "strict-tree schema, guards against misspelled properties"},
    Exception{"draft2020-12", "dynamicRef.json",
              "tests for implementation dynamic anchor and reference link"},
    Exception{"draft2020-12", "dynamicRef.json",
              "$ref and $dynamicAnchor are independent of order - $defs first"},
    Exception{"draft2020-12", "dynamicRef.json",
              "$ref and $dynamicAnchor are independent of order - $ref first"},
    // Their metaschema is remote, too: which keywords such a dialect has cannot be known.
    Exception{"draft2020-12", "vocabulary.json",
              "schema that uses custom metaschema with with no validation vocabulary"},
    Exception{"draft2020-12", "vocabulary.json", "ignore unrecognized optional vocabulary"},
};

struct Outcome {
  std::size_t run = 0;
  std::size_t excepted = 0;
  std::set<const Exception*> met;
  std::vector<std::string> failed;
};

const Exception* exception_for(std::string_view draft, std::string_view file,
                               std::string_view group) {
  const auto* found = std::ranges::find_if(kExceptions, [&](const Exception& exception) {
    return exception.draft == draft && exception.file == file &&
           (exception.group.empty() || exception.group == group);
  });
  return found == kExceptions.end() ? nullptr : found;
}

// The suite leaves "$schema" out for draft 7; whoever validates says which draft it is.
Json with_dialect(Json schema, std::string_view draft) {
  if (draft == "draft7" && schema.is_object() && !schema.contains("$schema")) {
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  }
  return schema;
}

std::string result_of(const Result<std::shared_ptr<const JsonSchema>>& schema, const Json& value) {
  if (!schema) return "does not compile: " + schema.error().what;
  const auto violation = (*schema)->validate(value);
  return violation ? "invalid: " + violation->keyword + " " + violation->message : "valid";
}

void run_group(const Json& group, std::string_view draft, const std::string& file,
               Outcome& outcome) {
  const auto schema = JsonSchema::compile(with_dialect(group.at("schema"), draft));
  const std::string name = group.at("description");
  const Exception* exception = exception_for(draft, file, name);
  for (const Json& test : group.at("tests")) {
    ++outcome.run;
    const std::string result = result_of(schema, test.at("data"));
    const bool wanted = test.at("valid");
    const bool passed = wanted ? result == "valid" : result.starts_with("invalid");
    if (passed) continue;
    if (exception != nullptr) {
      ++outcome.excepted;
      outcome.met.insert(exception);
    } else {
      outcome.failed.push_back(file + ": " + name + ": " +
                               test.at("description").get<std::string>() + ": " + result);
    }
  }
}

Outcome run_folder(const std::filesystem::path& folder, std::string_view draft) {
  Outcome outcome;
  REQUIRE_MESSAGE(std::filesystem::is_directory(folder), folder.string(), " is missing");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    const auto text = read_file(file);
    REQUIRE(text);
    const auto groups = parse_json(*text, file.string());
    REQUIRE_MESSAGE(groups, file.string());
    for (const Json& group : *groups) run_group(group, draft, file.filename().string(), outcome);
  }
  std::cout << folder.string() << ": " << outcome.run << " tests, "
            << outcome.run - outcome.excepted - outcome.failed.size() << " passed, "
            << outcome.excepted << " excepted by name\n";
  for (const auto& failure : outcome.failed) MESSAGE(failure);
  return outcome;
}

Outcome check_folder(const std::filesystem::path& folder, std::string_view draft,
                     std::size_t at_least) {
  Outcome outcome = run_folder(folder, draft);
  CHECK(outcome.run >= at_least);  // a suite that shrank is not the suite
  CHECK(outcome.failed.empty());   // 100 % of what needs no remote schema
  return outcome;
}

void check_copy(const std::filesystem::path& folder, std::string_view draft, std::size_t at_least) {
  const Outcome outcome = check_folder(folder, draft, at_least);
  for (const Exception& exception : kExceptions) {
    CAPTURE(exception.group);
    if (exception.draft == draft) CHECK(outcome.met.contains(&exception));
  }
}

const std::filesystem::path kCopy = mcpac::testing::in_source("tests/core/data/json-schema-suite");
const std::filesystem::path kDebian = "/usr/share/json-schema-test-suite/tests";

TEST_SUITE("core/json_schema suite") {
  TEST_CASE("draft 2020-12: every required test passes but the named exceptions") {
    check_copy(kCopy / "draft2020-12", "draft2020-12", 1176);
  }

  TEST_CASE("draft 7: every required test passes but the named exceptions") {
    check_copy(kCopy / "draft7", "draft7", 861);
  }

  TEST_CASE("draft 7 as Debian packages it: every required test passes but the named exceptions") {
    check_folder(kDebian / "draft7", "draft7", 423);
  }

  TEST_CASE("a newer suite that somebody points at passes, too") {
    const char* folder = std::getenv("MCPAC_SCHEMA_SUITE");
    if (folder == nullptr) return;
    // Newer groups may need remote schemas that no row names yet: the messages say so.
    check_folder(std::filesystem::path(folder) / "draft2020-12", "draft2020-12", 1176);
    check_folder(std::filesystem::path(folder) / "draft7", "draft7", 861);
  }
}

}  // namespace
}  // namespace mcpac

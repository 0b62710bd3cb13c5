// Every file of cases/ through the real worker: what comments on a line expect must be there, and
// what nobody expects must not.
//
//   // expect: refuses forged-type        a finding on this line
//   // declared: filesystem.write_file    a permission that the entry receives, declared on this
//   line
//   // use: filesystem.write_file {"path": "x", "content": "?"}     a use; "?" is known at run time
//   only
//   // unused: filesystem.write_file      anywhere in the file
//   // message: did you mean `path`?      what a finding on this line says, among others
//   // fix: ({.path = …})               what the fix of one of them says
//   // elsewhere: local.hpp 10 filesystem.read_text_file {"path": "x"}   a use in another file, on
//   its line
//   // verdict: compile_error             where the findings do not already say it
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/support_worker.h"
#include "core/file.h"
#include "core/json.h"
#include "places.h"

namespace {

using namespace mcpac;

struct Expected {
  std::multiset<std::string> lines;
  std::vector<std::pair<unsigned, std::string>> messages;
  std::vector<std::pair<unsigned, std::string>> fixes;
  std::string verdict = "ok";
};

std::string use_text(const std::string& place, const std::string& permission,
                     const Json& arguments) {
  return fmt::format("{}: use: {} {}", place, permission, to_text(arguments));
}

// "filesystem.read_text_file {…}"; without braces there are no arguments.
std::string use_expected(const std::string& place, const std::string& text) {
  const auto brace = text.find(" {");
  const Json arguments =
      brace == std::string::npos ? Json::object() : Json::parse(text.substr(brace + 1));
  return use_text(place, text.substr(0, brace), arguments);
}

void read_comment(const std::string& comment, unsigned line, Expected& expected) {
  const auto word = comment.substr(0, comment.find(": "));
  const auto text = comment.size() > word.size() + 2 ? comment.substr(word.size() + 2) : "";
  if (word == "verdict") {
    expected.verdict = text;
  } else if (word == "expect") {
    expected.lines.insert(fmt::format("{}: {}", line, text));
    if (text.starts_with("refuses") && expected.verdict == "ok") expected.verdict = "refused";
  } else if (word == "message") {
    expected.messages.emplace_back(line, text);
  } else if (word == "fix") {
    expected.fixes.emplace_back(line, text);
  } else if (word == "declared") {
    expected.lines.insert(fmt::format("{}: declared: {}", line, text));
  } else if (word == "unused") {
    expected.lines.insert("unused: " + text);
  } else if (word == "use") {
    expected.lines.insert(use_expected(std::to_string(line), text));
  } else if (word == "elsewhere") {
    const auto second = text.find(' ', text.find(' ') + 1);
    expected.lines.insert(use_expected(text.substr(0, second), text.substr(second + 1)));
  }
}

Expected read_expectations(const std::string& source) {
  Expected expected;
  std::istringstream lines(source);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    for (auto at = line.find("// "); at != std::string::npos; at = line.find("// ", at + 1)) {
      const auto end = line.find(" // ", at + 1);
      read_comment(line.substr(at + 3, end == std::string::npos ? end : end - at - 3), number,
                   expected);
    }
  }
  return expected;
}

Expected found_in(const analyzer::Report& report) {
  Expected found;
  found.verdict = to_string(report.verdict);
  for (const auto& finding : report.findings)
    found.lines.insert(
        fmt::format("{}: {} {}", finding.line, to_string(finding.severity), finding.rule));
  for (const auto& declared : report.declared)
    found.lines.insert(fmt::format("{}: declared: {}", declared.line, declared.text()));
  for (const auto& unused : report.unused) found.lines.insert("unused: " + unused);
  for (const auto& use : report.uses) {
    Json arguments = Json::object();
    for (const auto& [name, argument] : use.arguments)
      arguments[name] = argument.is_constant ? argument.value : Json("?");
    const std::string name = std::filesystem::path(use.file).filename();
    const std::string place =
        use.file == report.file ? std::to_string(use.line) : fmt::format("{} {}", name, use.line);
    found.lines.insert(use_text(place, use.permission, arguments));
  }
  return found;
}

std::string difference(const std::multiset<std::string>& left,
                       const std::multiset<std::string>& right) {
  std::string text;
  std::vector<std::string> only;
  std::ranges::set_difference(left, right, std::back_inserter(only));
  for (const std::string& line : only) text += "  " + line + "\n";
  return text;
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder =
      std::filesystem::path(mcpac::testing::in_source("tests/analyzer/cases"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// What the worker says of every file, in their order: a process each, as many at once as there are
// processors.
std::vector<std::optional<Result<analyzer::Report>>> analyze_all(
    const std::vector<std::filesystem::path>& files) {
  (void)test::headers_folder();  // made once, before the threads
  std::vector<std::optional<Result<analyzer::Report>>> reports(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++)
      reports[i] = test::analyze_file(files[i].string());
  };
  std::vector<std::jthread> threads;
  const unsigned count = std::max(2U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(work);
  threads.clear();
  return reports;
}

// Whether a finding on the line says the text in its message or its fix.
bool says(const analyzer::Report& report, const std::pair<unsigned, std::string>& expected,
          std::string analyzer::Finding::*where) {
  return std::ranges::any_of(report.findings, [&](const auto& finding) {
    return finding.line == expected.first &&
           (finding.*where).find(expected.second) != std::string::npos;
  });
}

}  // namespace

TEST_SUITE("analyzer/cases") {
  TEST_CASE("every construct gives exactly what its comments expect") {
    const auto files = case_files();
    REQUIRE(files.size() >= 300);
    const auto reports = analyze_all(files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto& file = files[i];
      const auto& report = *reports[i];
      CAPTURE(file.filename().string());
      const Expected expected = read_expectations(read_file(file).value());
      const std::string failure = report ? "" : report.error().to_text();
      REQUIRE_MESSAGE(report.has_value(), failure);
      const Expected found = found_in(*report);
      CHECK(found.verdict == expected.verdict);
      const std::string missing = difference(expected.lines, found.lines);
      const std::string extra = difference(found.lines, expected.lines);
      std::string messages;
      for (const auto& finding : report->findings)
        messages += finding.message + "\n  fix: " + finding.fix + "\n";
      for (const auto& message : expected.messages) {
        CHECK_MESSAGE(says(*report, message, &analyzer::Finding::message), file.filename().string(),
                      ":", message.first, " does not say ", message.second, "\n", messages);
      }
      for (const auto& fix : expected.fixes) {
        CHECK_MESSAGE(says(*report, fix, &analyzer::Finding::fix), file.filename().string(), ":",
                      fix.first, " does not advise ", fix.second, "\n", messages);
      }
      CHECK_MESSAGE(missing.empty(), file.filename().string(), " lacks\n", missing);
      CHECK_MESSAGE(extra.empty(), file.filename().string(), " has beyond\n", extra, messages);
    }
  }

  TEST_CASE("a use whose arguments cannot be read off is open, and no other is") {
    const auto folder = std::filesystem::path(mcpac::testing::in_source("tests/analyzer/cases"));
    const auto has_open = [&folder](const std::string& name) {
      const auto report = test::analyze_file((folder / name).string());
      REQUIRE(report.has_value());
      REQUIRE_FALSE(report->uses.empty());
      return std::ranges::any_of(report->uses, &analyzer::Use::open);
    };
    for (const char* name : {"use_arguments_variable.cpp", "use_through_invoke.cpp",
                             "use_through_library_owner.cpp", "use_uninstantiated_template.cpp"}) {
      CAPTURE(name);
      CHECK(has_open(name));
    }
    for (const char* name :
         {"use_no_arguments.cpp", "use_runtime_argument.cpp", "use_three_forms.cpp",
          "use_through_reference.cpp", "use_through_names.cpp"}) {
      CAPTURE(name);
      CHECK_FALSE(has_open(name));
    }
  }
}

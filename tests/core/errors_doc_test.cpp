// docs/errors.md holds every ErrorId with its number, name and exit code, and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/error_id.h"
#include "core/file.h"
#include "places.h"

namespace mcpac {
namespace {

std::string text_of(const char* file) {
  auto text = read_file(mcpac::testing::in_source(file));
  REQUIRE(text);
  return *text;
}

// The enumerators as the header writes them: name to number.
std::map<std::string, unsigned> enumerators() {
  const std::string text = text_of("src/core/error_id.h");
  const auto start = text.find("enum class ErrorId");
  const std::string body = text.substr(start, text.find("};", start) - start);
  const std::regex line(R"(\n\s*(k[A-Za-z0-9]+)\s*=\s*(\d+))");
  std::map<std::string, unsigned> found;
  for (std::sregex_iterator at(body.begin(), body.end(), line), end; at != end; ++at) {
    found.emplace((*at)[1], static_cast<unsigned>(std::stoul((*at)[2])));
  }
  return found;
}

struct Row {
  std::string id;
  std::string name;
  std::vector<std::string> texts;  // when, why, what to do
  int exit = -1;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Row> rows() {
  std::vector<Row> found;
  std::istringstream lines(text_of("docs/errors.md"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| MCPAC-")) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(trimmed(cell));
    CAPTURE(line);
    REQUIRE(cells.size() == 6);
    found.push_back({cells[0], cells[1], {cells[2], cells[3], cells[4]}, std::stoi(cells[5])});
  }
  return found;
}

TEST_SUITE("core/error documentation") {
  TEST_CASE("every error is documented with its number and exit code") {
    const auto documented = rows();
    const auto known = enumerators();
    CHECK(known.size() > 50);  // the header was understood
    for (const auto& [name, number] : known) {
      CAPTURE(name);
      const auto row = std::ranges::find(documented, name, &Row::name);
      REQUIRE(row != documented.end());
      const auto id = static_cast<ErrorId>(number);
      CHECK(row->id == to_string(id));
      CHECK(row->exit == static_cast<int>(exit_code_of(id)));
      for (const auto& text : row->texts) CHECK_FALSE(text.empty());
    }
  }

  TEST_CASE("what is documented exists, once, in the order of the numbers") {
    const auto known = enumerators();
    const auto documented = rows();
    for (const auto& row : documented) {
      CAPTURE(row.name);
      CHECK(known.contains(row.name));
    }
    CHECK(documented.size() == known.size());
    CHECK(std::ranges::adjacent_find(documented, std::greater_equal<>(), &Row::id) ==
          documented.end());
  }

  TEST_CASE("an id is written with four digits") {
    CHECK(to_string(ErrorId::kInternal) == "MCPAC-E0100");
    CHECK(to_string(ErrorId::kUnknownRun) == "MCPAC-E1001");
  }
}

}  // namespace
}  // namespace mcpac

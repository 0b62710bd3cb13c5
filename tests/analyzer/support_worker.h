// Support: the real worker program over real sources, with the generated headers' samples as locked
// headers and one precompiled header for all cases.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::test {

enum class Pch { kWith, kWithout };

struct Answer {
  int exit_code = -1;
  std::string text;
};

// The request for one source as the host would put it.
[[nodiscard]] analyzer::Request request_for(const std::string& source_path, Pch pch);
// Starts the worker with an empty environment and this text as standard input.
[[nodiscard]] Answer ask_worker(const std::string& input);
[[nodiscard]] Result<analyzer::Report> analyze_file(const std::string& source_path,
                                                    Pch pch = Pch::kWith);
// Analyses a source text as a file of its own; a second file may lie beside it.
struct Beside {
  std::string name;
  std::string text;
};
[[nodiscard]] Result<analyzer::Report> analyze_text(const std::string& source,
                                                    const std::vector<Beside>& beside = {});

[[nodiscard]] std::vector<std::string> rules_of(const analyzer::Report& report);
// The headers folder that the requests name.
[[nodiscard]] std::string headers_folder();

}  // namespace mcpac::test

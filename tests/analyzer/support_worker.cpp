#include "analyzer/support_worker.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "core/file.h"
#include "core/json.h"
#include "places.h"

namespace mcpac::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDriver = "/usr/lib/llvm-19/bin/clang++";

const std::vector<std::string>& language_flags() {
  static const std::vector<std::string> flags{"--no-default-config", "-std=c++23",
                                              "-stdlib=libc++",      "-O1",
                                              "-ferror-limit=20",    "-ftemplate-depth=256",
                                              "-fbracket-depth=256", "-fconstexpr-steps=4000000",
                                              "-Werror=return-type"};
  return flags;
}

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Headers and precompiled header, made once for the whole program and removed at its end.
class Ground {
 public:
  Ground() : folder_(make()) {
    const fs::path source = mcpac::testing::in_source();
    fs::create_directory(headers());
    for (const char* name : {"mcpac.hpp", "filesystem.hpp", "memory.hpp", "forms.hpp"})
      fs::copy_file(source / "tests/templates/headers" / name, headers() / name);
    fs::copy(source / "templates/mcpac", headers() / "mcpac");
    fs::copy_file(source / "tests/templates/headers/mcpac/lock.hpp", headers() / "mcpac/lock.hpp");
    // As the host precompiles them, with what agents use already instantiated: a case then takes a
    // fifth of the time.
    const fs::path agent = folder_.path() / "agent.hpp";
    if (auto written = write_file_atomic(
            agent, "#pragma once\n#include <mcpac.hpp>\n#include <mcpac/warm.hpp>\n");
        !written) {
      throw std::runtime_error(written.error().to_text());
    }
    std::string command =
        fmt::format("{} -xc++-header -Xclang -fpch-instantiate-templates", kDriver);
    for (const std::string& flag : language_flags()) command += " " + flag;
    command +=
        fmt::format(" -isystem{} {} -o {}", headers().string(), agent.string(), pch().string());
    if (run(command) != 0) throw std::runtime_error("the precompiled header does not build");
  }
  [[nodiscard]] fs::path headers() const { return folder_.path() / "headers"; }
  [[nodiscard]] fs::path pch() const { return folder_.path() / "agent.pch"; }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  static TemporaryFolder make() {
    auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-analyzer-test-");
    if (!folder) throw std::runtime_error(folder.error().to_text());
    return std::move(*folder);
  }
  TemporaryFolder folder_;
};

const Ground& ground() {
  static const Ground made;
  return made;
}

}  // namespace

std::string headers_folder() {
  return ground().headers().string();
}

analyzer::Request request_for(const std::string& source_path, Pch pch) {
  analyzer::Request request;
  request.file = fs::path(source_path).filename().string();
  request.source_path = source_path;
  request.headers_dir = headers_folder();
  request.arguments = language_flags();
  request.arguments.push_back("-isystem" + headers_folder());
  if (pch == Pch::kWith) {
    request.arguments.emplace_back("-include-pch");
    request.arguments.push_back(ground().pch().string());
  }
  request.arguments.emplace_back("-xc++");
  for (const char* tool :
       {"edit_file", "list_allowed_directories", "list_directory", "list_directory_with_sizes",
        "read_multiple_files", "read_text_file", "write_file"}) {
    request.permissions[fmt::format("mcp::filesystem::{}", tool)] =
        fmt::format("filesystem.{}", tool);
  }
  for (const char* tool : {"create_entities", "read_graph"})
    request.permissions[fmt::format("mcp::memory::{}", tool)] = fmt::format("memory.{}", tool);
  request.permissions["mcpac::files"] = "mcpac.files";
  request.permissions["mcpac::network"] = "mcpac.network";
  request.permissions["mcp::forms::everything"] = "forms.every/thing";
  request.permissions["mcp::forms::marked"] = "forms.marked";
  return request;
}

Answer ask_worker(const std::string& input) {
  auto folder = TemporaryFolder::create(ground().folder(), "ask-");
  if (!folder) throw std::runtime_error(folder.error().to_text());
  const fs::path in = folder->path() / "in";
  const fs::path out = folder->path() / "out";
  if (auto written = write_file_atomic(in, input); !written)
    throw std::runtime_error(written.error().to_text());
  const std::string command = fmt::format("env -i {}/libexec/mcpac/mcpac-analyzer < {} > {}",
                                          mcpac::testing::in_build(), in.string(), out.string());
  Answer answer{run(command), ""};
  answer.text = read_file(out).value();
  return answer;
}

Result<analyzer::Report> analyze_file(const std::string& source_path, Pch pch) {
  const Answer answer = ask_worker(to_text(to_json(request_for(source_path, pch))));
  auto json = parse_json(answer.text);
  if (!json) return pass_on(json);
  if (answer.exit_code != 0)
    return fail(ErrorId::kAnalyzerFailed,
                fmt::format("exit {}: {}", answer.exit_code, answer.text));
  return analyzer::report_from_json(*json);
}

Result<analyzer::Report> analyze_text(const std::string& source,
                                      const std::vector<Beside>& beside) {
  auto folder = TemporaryFolder::create(ground().folder(), "source-");
  if (!folder) return pass_on(folder);
  for (const Beside& file : beside) {
    fs::create_directories((folder->path() / file.name).parent_path());
    if (auto written = write_file_atomic(folder->path() / file.name, file.text); !written)
      return pass_on(written);
  }
  const fs::path main = folder->path() / "main.cpp";
  if (auto written = write_file_atomic(main, source); !written) return pass_on(written);
  return analyze_file(main.string());
}

std::vector<std::string> rules_of(const analyzer::Report& report) {
  std::vector<std::string> rules;
  for (const auto& finding : report.findings) rules.push_back(finding.rule);
  return rules;
}

}  // namespace mcpac::test

// SPDX-License-Identifier: Apache-2.0

#include "toolchain/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/printable.h"

namespace mcpac::toolchain {
namespace {

constexpr std::size_t kMaxReport = std::size_t{16} << 20U;

constexpr const char* kSmaller =
    "make the program smaller or simpler; if it is small, this is a bug of mcpac";

std::unexpected<Error> unusable(std::string why, std::string fix = kSmaller) {
  return fail(ErrorId::kAnalyzerFailed, "the program could not be analysed, so it is refused",
              {.why = std::move(why), .fix = std::move(fix)});
}

// The worker's last words before it gave up, as far as they are a sentence.
std::unexpected<Error> given_up(const ToolOutput& output, const Snapshot& snapshot) {
  constexpr std::size_t kMaxSaid = 500;
  const std::string ended = fmt::format("the analyzer {}", describe(output.verdict));
  const auto json = parse_json(output.standard_output);
  const Json* error = json ? find_member(*json, "error") : nullptr;
  if (error == nullptr) return unusable(ended);
  const auto text = [error](const char* name) {
    const Json* member = find_member(*error, name);
    return member != nullptr && member->is_string() ? member->get<std::string>().substr(0, kMaxSaid)
                                                    : std::string();
  };
  std::string why = text("what");
  if (const std::string more = text("why"); !more.empty())
    why += fmt::format("{}{}", why.empty() ? "" : ": ", more);
  if (why.empty()) return unusable(ended);
  const std::string fix = text("fix");
  return unusable(snapshot.to_user(std::move(why)), fix.empty() ? kSmaller : fix);
}

// The worker read hostile source, so its answer is hostile too: only names that were asked about
// count.
Result<void> check_names(const analyzer::Report& report, const analyzer::Request& request) {
  std::set<std::string> known;
  for (const auto& [cpp, permission] : request.permissions) known.insert(permission);
  for (const auto& declared : report.declared) {
    if (!known.contains(declared.permission))
      return unusable("its report names an unknown permission");
  }
  for (const auto& use : report.uses) {
    if (!known.contains(use.permission)) return unusable("its report names an unknown permission");
    const bool declared =
        std::ranges::find(report.declared, use.permission, &analyzer::Declared::permission) !=
        report.declared.end();
    if (report.verdict == analyzer::Verdict::kOk && !declared)
      return unusable("its report lets through a use that is not declared");
  }
  return {};
}

// What a header is included as that mcpac generates: by its name alone, wherever it lies.
std::string include_for(const std::string& written, const codegen::Lock& lock) {
  const std::string name = std::filesystem::path(written).filename().string();
  const bool is_known = lock.headers.contains(name);
  return fmt::format("#include <{}>: mcpac finds what it generates by the name alone{}",
                     is_known ? name : "mcpac.hpp",
                     is_known && name != "mcpac.hpp" ? "; <mcpac.hpp> has all servers" : "");
}

// A generated header that is included by where it lies is read as the program's own, and each of
// its lines is refused. What is wrong is the include.
void tell_includes(analyzer::Report& report, const Snapshot& snapshot, const codegen::Lock& lock) {
  const auto generated = snapshot.generated();
  if (generated.empty()) return;
  const std::string folder = std::string(inside::kSource) + "/";
  const auto is_in_one = [&](const analyzer::Finding& finding) {
    if (!finding.file.starts_with(folder)) return false;
    // As it was included: "/source/./servers/x.hpp".
    const std::filesystem::path file = finding.file.substr(folder.size());
    return generated.contains(file.lexically_normal().string());
  };
  const auto includes = snapshot.includes_of(generated);
  if (includes.empty() || std::ranges::none_of(report.findings, is_in_one)) return;
  // What else does not compile may come of it.
  std::erase_if(report.findings, [&](const analyzer::Finding& finding) {
    return is_in_one(finding) || finding.rule == "compile-error";
  });
  for (const auto& include : includes) {
    analyzer::Finding finding;
    finding.rule = "foreign-header";
    finding.severity = analyzer::Severity::kRefuses;
    finding.file = folder + include.file;
    finding.line = include.line;
    finding.column = 1;
    finding.message = fmt::format("`{}` is a generated header, included by where it lies",
                                  printable(include.name, 200));
    finding.fix = include_for(include.name, lock);
    report.findings.push_back(std::move(finding));
  }
  report.verdict = analyzer::Verdict::kRefused;
}

// Fix where a header of the standard library is not there; empty for another one.
std::string instead_of_header(const std::string& name) {
  if (name == "bits/stdc++.h") return "include the standard headers that you use, each by its name";
  const bool is_standard =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
  if (!is_standard) return {};
  const bool is_flat = name.starts_with("flat_");
  return fmt::format("libc++ 19 has no <{}>: {}", name,
                     is_flat ? fmt::format("use <{}>", name.substr(sizeof "flat_" - 1))
                             : "leave it out, and do without what it declares");
}

// A header that clang does not find, where its name or folder is one of ours or of the library.
void tell_missing_headers(analyzer::Report& report, const codegen::Lock& lock) {
  constexpr std::string_view kEnd = "' file not found";
  for (auto& finding : report.findings) {
    const bool is_missing = finding.rule == "compile-error" && finding.fix.empty() &&
                            finding.message.starts_with("'") && finding.message.ends_with(kEnd);
    if (!is_missing) continue;
    const std::filesystem::path name =
        finding.message.substr(1, finding.message.size() - 1 - kEnd.size());
    const std::string folder = name.begin() == name.end() ? "" : name.begin()->string();
    const bool is_ours = lock.headers.contains(name.filename().string()) || folder == "servers" ||
                         folder == "mcpac" || folder == "mcp" || folder == "mcpac.h";
    if (is_ours) {
      finding.fix = include_for(name.string(), lock);
    } else if (std::string instead = instead_of_header(name.string()); !instead.empty()) {
      finding.fix = std::move(instead);
    } else if (!is_includable(name)) {
      finding.fix =
          "include only C++ (.h, .hpp, .inc, .cpp and the like), nothing hidden; read data with a "
          "tool, or grant it with --files";
    }
  }
}

void to_user(analyzer::Report& report, const Snapshot& snapshot) {
  report.file = snapshot.to_user(report.file);
  for (auto& declared : report.declared) declared.file = snapshot.to_user(declared.file);
  for (auto& use : report.uses) use.file = snapshot.to_user(use.file);
  for (auto& finding : report.findings) {
    finding.file = snapshot.to_user(finding.file);
    finding.message = snapshot.to_user(finding.message);
    finding.fix = snapshot.to_user(finding.fix);
  }
}

}  // namespace

analyzer::Request analysis_request(const Snapshot& snapshot, const codegen::Lock& lock,
                                   const Prepared& prepared) {
  analyzer::Request request;
  const auto sources = snapshot.sources_inside();
  request.source_path = sources.front();
  request.file = snapshot.to_user(request.source_path);
  for (std::size_t i = 1; i < sources.size(); ++i)
    request.further.push_back({snapshot.to_user(sources[i]), sources[i]});
  request.source_dir = inside::kSource;
  request.headers_dir = inside::kInclude;
  request.arguments = prepared.toolchain.analyze;
  // What no server has: places, which a program reaches itself (templates/mcpac/files.hpp,
  // network.hpp).
  request.permissions["mcpac::files"] = "mcpac.files";
  request.permissions["mcpac::network"] = "mcpac.network";
  for (const auto& server : lock.servers) {
    for (const auto& tool : server.tools)
      request.permissions[tool.cpp_name] = server.name + "." + tool.name;
  }
  return request;
}

namespace {

Result<ToolOutput> run_analyzer(const BuildPlace& place, std::string_view asked) {
  auto folder = SourceFolder::make(place.folders.temporary);
  if (!folder) return pass_on(folder);
  if (auto written = place.snapshot.write(folder->sources()); !written) return pass_on(written);
  return run_tool(place.warden, place.tools().analyzer(folder->sources()), asked, kMaxReport,
                  place.stop);
}

}  // namespace

Result<analyzer::Report> analyze(const BuildPlace& place, const codegen::Lock& lock,
                                 std::optional<AnalyzerAtWork> at_work) {
  const Snapshot& snapshot = place.snapshot;
  const auto request = analysis_request(snapshot, lock, place.prepared);
  const std::string asked = to_text(to_json(request));
  std::optional<Result<ToolOutput>> output;
  if (at_work) output = run_tool(std::move(at_work->child), asked, kMaxReport, place.stop);
  // One that waited has read more than a program that it gives up on may need.
  const bool gave_up = output && *output && !(*output)->succeeded();
  if (!output || gave_up) output = run_analyzer(place, asked);
  if (!*output) return pass_on(*output);
  const ToolOutput& said = **output;
  if (!said.succeeded()) return given_up(said, snapshot);
  auto json = parse_json(said.standard_output);
  if (!json || said.cut) return unusable("the analyzer's report cannot be read");
  auto report = analyzer::report_from_json(*json);
  if (!report) return unusable(report.error().what);
  if (auto named = check_names(*report, request); !named) return pass_on(named);
  tell_includes(*report, snapshot, lock);
  tell_missing_headers(*report, lock);
  to_user(*report, snapshot);
  report->source_digest = snapshot.digest();
  return report;
}

}  // namespace mcpac::toolchain

// SPDX-License-Identifier: Apache-2.0

#include "cli/grant_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/ascii.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "core/trimmed.h"
#include "policy/text/printer.h"
#include "project/project_place.h"
#include "run/check/authorities.h"

namespace mcpac::cli {

std::shared_ptr<GrantOptions> add_grant_options(CLI::App& command) {
  auto options = std::make_shared<GrantOptions>();
  const auto add = [&command](const char* name, std::vector<std::string>& into, const char* help,
                              const char* type) {
    command.add_option(name, into, help)
        ->expected(1)
        ->take_all()
        ->type_name(type)
        ->allow_extra_args(false);
  };
  add("--grant", options->grants,
      "allow calls: server.tool, several with commas, or several --grant", "RULE");
  add("--ask", options->asks,
      "calls that need an answer: of a person at the terminal, or of --approver", "RULE");
  add("--deny", options->denies,
      "calls that are never allowed, whatever else is granted; or network", "RULE");
  add("--files", options->files,
      "let the program read a file or folder, or with :rw behind it also write: ./PATH, ~/PATH or "
      "/PATH",
      "PATH[:rw]");
  add("--network", options->networks,
      "let the program connect to a host and port (api.example.com:443, *.example.com:*, "
      "10.1.0.0/16:443), or any",
      "HOST:PORT|any");
  add("--policy", options->policy_files, "a file of rules", "FILE");
  add("--profile", options->profiles, "a profile of a --policy file or of mcpac.policy", "NAME");
  return options;
}

std::string as_words(const GrantOptions& options) {
  std::string words;
  const auto add = [&words](std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      words += fmt::format(" {} {}", name, shell_quoted(value));
  };
  add("--grant", options.grants);
  add("--ask", options.asks);
  add("--deny", options.denies);
  add("--files", options.files);
  add("--network", options.networks);
  add("--policy", options.policy_files);
  add("--profile", options.profiles);
  return words;
}

void add_expect_denials(CLI::App& command, bool& into) {
  command.add_flag("--expect-denials", into,
                   "accept calls that are certain to be denied: the program handles that");
}

namespace {

// What stands behind the last colon is the mode where it is one; a path that ends so takes a mode
// of its own: ./odd:rw:ro.
std::string files_statement(std::string path) {
  const char* mode = "read-only";
  if (path.ends_with(":rw")) mode = "read-write";
  if (path.ends_with(":rw") || path.ends_with(":ro")) path.resize(path.size() - 3);
  return fmt::format("files {} {}", policy::print_string(path), mode);
}

// What people write for a mode that is none; empty: no mode was meant.
std::string_view meant_mode(std::string_view word) {
  constexpr std::string_view kReads[] = {"r",   "read", "readonly", "read-only", "read_only", "ro",
                                         "ro+", "rx",   "r-x",      "r--",       "rd"};
  constexpr std::string_view kWrites[] = {
      "w",         "wr",         "rw",         "rwx",        "rw+",      "rw-", "write",
      "readwrite", "read-write", "read_write", "write-only", "writable", "wo",  "rwc"};
  const std::string lower = lowered(word);
  if (std::ranges::find(kReads, lower) != std::end(kReads)) return "ro";
  return std::ranges::find(kWrites, lower) != std::end(kWrites) ? "rw" : "";
}

bool is_there(std::string path) {
  if (path.starts_with("~/")) path.replace(0, 1, project::home_of_user());
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// "./out:w": a mode that is none, unless a file is called so.
Result<void> check_mode(const std::string& given) {
  const auto colon = given.rfind(':');
  const bool has_mode = given.ends_with(":rw") || given.ends_with(":ro");
  if (has_mode || colon == std::string::npos || is_there(given)) return {};
  const std::string word = given.substr(colon + 1);
  const auto mode = meant_mode(word);
  if (mode.empty()) return {};
  std::string path = given.substr(0, colon);
  const bool has_anchor = path.starts_with('/') || path.starts_with('.') || path.starts_with('~');
  if (!has_anchor) path.insert(0, "./");
  return fail(ErrorId::kFilesRefused,
              fmt::format("'{}' behind the path is no mode", printable(word, 40)),
              {.where = fmt::format("--files {}", printable(given)),
               .why = "the mode is ro or rw: ro reads, rw also writes, and without one it is ro",
               .fix = "--files " + shell_quoted(fmt::format("{}:{}", printable(path), mode))});
}

std::string network_statement(const std::string& place) {
  return "network " + (place == "any" ? place : policy::print_string(place));
}

// The parts of a text between commas that stand in no bracket and no quotes.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (c != ',' || depth != 0 || quoted) continue;
    parts.emplace_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.emplace_back(trimmed(text.substr(begin)));
  return parts;
}

// `--deny network` stands alone: it is about a place, and a list is one of tools.
Result<void> check_denies(const GrantOptions& options) {
  for (const std::string& text : options.denies) {
    auto parts = parts_of(text);
    if (parts.size() == 1 || std::erase(parts, "network") == 0) continue;
    return fail(ErrorId::kRuleSyntax,
                fmt::format("'--deny {}' names the network among tools", printable(text)),
                {.where = "--deny",
                 .why = "the network is no tool: it is denied by an option of its own",
                 .fix = parts.empty()
                            ? std::string("--deny network")
                            : fmt::format("--deny network --deny {}",
                                          shell_quoted(fmt::format("{}", fmt::join(parts, ","))))});
  }
  return {};
}

// `--deny network` is no rule: it denies a place.
void add_places(const GrantOptions& options, policy::LayerText& layer) {
  for (const auto& path : options.files) layer.places.push_back(files_statement(path));
  for (const auto& place : options.networks) layer.places.push_back(network_statement(place));
  if (std::erase(layer.denies, "network") > 0) layer.places.emplace_back("deny network");
}

}  // namespace

Result<policy::LayerText> to_layer(const GrantOptions& options) {
  policy::LayerText layer{.name = "the command line",
                          .grants = options.grants,
                          .asks = options.asks,
                          .denies = options.denies,
                          .files = {},
                          .profiles = options.profiles};
  if (auto denies = check_denies(options); !denies) return pass_on(denies);
  for (const auto& path : options.files) {
    if (auto mode = check_mode(path); !mode) return pass_on(mode);
  }
  add_places(options, layer);
  for (const std::string& file : options.policy_files) {
    auto rules = run::read_rules(file);
    if (!rules) return pass_on(rules);
    layer.files.push_back(std::move(*rules));
  }
  return layer;
}

}  // namespace mcpac::cli

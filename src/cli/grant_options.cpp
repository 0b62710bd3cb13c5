#include "cli/grant_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "execute/check/authorities.h"
#include "policy/printer.h"

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

std::string network_statement(const std::string& place) {
  return "network " + (place == "any" ? place : policy::print_string(place));
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
  add_places(options, layer);
  for (const std::string& file : options.policy_files) {
    auto rules = execute::read_rules(file);
    if (!rules) return pass_on(rules);
    layer.files.push_back(std::move(*rules));
  }
  return layer;
}

}  // namespace mcpac::cli

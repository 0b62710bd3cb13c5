#include "cli/grant_options.h"

#include <CLI/CLI.hpp>

#include "execute/check/authorities.h"

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
  add("--deny", options->denies, "calls that are never allowed, whatever else is granted", "RULE");
  add("--policy", options->policy_files, "a file of rules", "FILE");
  add("--profile", options->profiles, "a profile of a --policy file or of mcpac.policy", "NAME");
  return options;
}

void add_expect_denials(CLI::App& command, bool& into) {
  command.add_flag("--expect-denials", into,
                   "accept calls that are certain to be denied: the program handles that");
}

Result<policy::LayerText> to_layer(const GrantOptions& options) {
  policy::LayerText layer{.name = "the command line",
                          .grants = options.grants,
                          .asks = options.asks,
                          .denies = options.denies,
                          .files = {},
                          .profiles = options.profiles};
  for (const std::string& file : options.policy_files) {
    auto rules = execute::read_rules(file);
    if (!rules) return pass_on(rules);
    layer.files.push_back(std::move(*rules));
  }
  return layer;
}

}  // namespace mcpac::cli

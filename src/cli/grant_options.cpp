#include "cli/grant_options.h"

#include <CLI/CLI.hpp>

#include "core/file.h"

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
  add("--ask", options->asks, "calls that a person must approve; without a person: denied", "RULE");
  add("--deny", options->denies, "calls that are never allowed, whatever else is granted", "RULE");
  add("--policy", options->policy_files, "a file of rules", "FILE");
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
                          .files = {}};
  for (const std::string& file : options.policy_files) {
    auto text = read_file(file, 1U << 20U);
    if (!text) return pass_on(text);
    layer.files.push_back(std::move(*text));
  }
  return layer;
}

}  // namespace mcpac::cli

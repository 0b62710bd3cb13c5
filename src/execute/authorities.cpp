#include "execute/authorities.h"

#include <pwd.h>
#include <unistd.h>

#include <system_error>

#include "core/file.h"
#include "policy/system_path_resolver.h"

namespace mcpac::execute {
namespace {

namespace fs = std::filesystem;

// "home of the policy's owner" (grants.md, section 4): the user's entry, not a variable that a
// script set.
std::string home_of_user() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
}

}  // namespace

PolicyWorld::PolicyWorld(const Project& project, const Clock& the_clock)
    : resolver(std::make_unique<policy::SystemPathResolver>()), clock(the_clock) {
  std::error_code error;
  bases.current_directory = fs::current_path(error).string();
  bases.home = home_of_user();
  for (const auto& server : project.config.servers) {
    if (server.is_http()) bases.remote_servers.insert(server.name);
    if (!server.working_directory.empty()) {
      bases.working_directories[server.name] =
          fs::absolute(server.working_directory, error).lexically_normal().string();
    }
    if (!server.root.empty()) {
      bases.roots[server.name] = (project.folder / server.root).lexically_normal().string();
    }
  }
}

Result<policy::Authority> load_authority(const Project& project, const PolicyWorld& world,
                                         std::vector<policy::LayerText> layers) {
  std::error_code error;
  if (fs::exists(project.policy_file(), error)) {
    auto text = read_file(project.policy_file(), 1U << 20U);
    if (!text) return pass_on(text);
    layers.push_back({.name = std::string(kPolicyLayer),
                      .grants = {},
                      .asks = {},
                      .denies = {},
                      .files = {std::move(*text)}});
  }
  return policy::Authority::load(layers, {.tools = &world.tools,
                                          .resolver = world.resolver.get(),
                                          .clock = &world.clock,
                                          .bases = world.bases});
}

}  // namespace mcpac::execute

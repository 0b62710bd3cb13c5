#include "execute/run_binding.h"

#include <system_error>

#include "core/canonical_json.h"
#include "core/file.h"
#include "core/hash.h"

namespace mcpac::execute {
namespace {

constexpr std::size_t kMaxProgram = std::size_t{1} << 30U;

Json to_json(const policy::LayerText& layer) {
  Json files = Json::array();
  for (const auto& file : layer.files) files.push_back({{"name", file.name}, {"text", file.text}});
  return {{"name", layer.name},
          {"grants", layer.grants},
          {"asks", layer.asks},
          {"denies", layer.denies},
          {"files", std::move(files)}};
}

// The same rule means another thing from another folder or for another user.
Json to_json(const policy::Bases& bases) {
  return {{"current_directory", bases.current_directory},
          {"home", bases.home},
          {"roots", bases.roots},
          {"working_directories", bases.working_directories},
          {"remote_servers", bases.remote_servers}};
}

}  // namespace

Result<gate::Binding> bind_run(std::string program, const codegen::Lock& lock,
                               const Project& project, const PolicyWorld& world,
                               const std::vector<policy::LayerText>& layers) {
  Json rules = Json::array();
  for (const auto& layer : layers) rules.push_back(to_json(layer));
  Json ceiling = nullptr;
  std::error_code error;
  if (std::filesystem::exists(project.policy_file(), error)) {
    auto text = read_file(project.policy_file(), 1U << 20U);
    if (!text) return pass_on(text);
    ceiling = std::move(*text);
  }
  return gate::Binding{
      .program = std::move(program),
      .headers = sha256_hex(canonical_json(Json(lock.headers))),
      .lock = sha256_hex(codegen::to_text(lock)),
      .policy = sha256_hex(canonical_json(Json{{"mcpac", "policy"},
                                               {"layers", std::move(rules)},
                                               {"mcpac.policy", std::move(ceiling)},
                                               {"bases", to_json(world.bases)}}))};
}

Result<std::string> digest_of_program(const std::filesystem::path& file,
                                      const std::vector<std::string>& arguments) {
  auto bytes = read_file(file, kMaxProgram);
  if (!bytes) return pass_on(bytes);
  return sha256_hex(canonical_json(
      Json{{"mcpac", "program"}, {"file", sha256_hex(*bytes)}, {"arguments", arguments}}));
}

}  // namespace mcpac::execute

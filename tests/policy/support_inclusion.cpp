#include "policy/support_inclusion.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "core/json_schema.h"

namespace mcpac::policy::testing {
namespace {

namespace fs = std::filesystem;

// While it lives, every string of a call below the world's folder names a folder there.
class FoldersOf {
 public:
  FoldersOf(const World& world, const Json& arguments) : base_(world.base()) { add(arguments); }
  FoldersOf(const FoldersOf&) = delete;
  FoldersOf& operator=(const FoldersOf&) = delete;
  ~FoldersOf() {
    std::error_code error;
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, error);
  }

 private:
  void add(const Json& value) {
    if (value.is_string()) return make(value.get<std::string>());
    if (!value.is_structured()) return;
    for (const Json& item : value) add(item);
  }
  void make(const std::string& text) {
    const fs::path path = (base_ / text).lexically_normal();
    if (text.empty() || !path.string().starts_with(base_.string() + "/")) return;
    fs::path folder = base_;
    for (const auto& name : path.lexically_relative(base_)) {
      folder /= name;
      std::error_code error;
      if (!name.empty() && fs::create_directory(folder, error)) made_.push_back(folder);
    }
  }

  fs::path base_;
  std::vector<fs::path> made_;
};

}  // namespace

Authority policy_of(const World& world, const std::string& text) {
  auto authority = world.load(
      {LayerText{.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {text}}});
  if (!authority) throw std::runtime_error(text + authority.error().to_text());
  return std::move(*authority);
}

std::optional<Effect> effect_of(const World& world, Authority& authority,
                                const Permission& permission, Json arguments) {
  const auto tool = world.tools.find(permission);
  if (tool != world.tools.end()) {
    const auto schema = JsonSchema::compile(tool->second).value();
    static_cast<void>(schema->fill_defaults(arguments));
    if (schema->validate(arguments)) return std::nullopt;
  }
  const Decision decision = authority.decide(permission, arguments);
  authority.give_back(decision.reservation);
  return decision.effect;
}

std::string why_no_witness(const World& world, Authority& wider, Authority& narrower,
                           const Excess& excess) {
  const std::string call =
      fmt::format("{} {}", excess.permission.text(), to_text(excess.arguments));
  const FoldersOf folders(world, excess.if_folders ? excess.arguments : Json());
  const auto more = effect_of(world, narrower, excess.permission, excess.arguments);
  const auto less = effect_of(world, wider, excess.permission, excess.arguments);
  if (!more || !less) return "the schema refuses " + call;
  if (*more != excess.narrower || *less != excess.wider)
    return fmt::format("{}: really {} and {}", call, to_string(*more), to_string(*less));
  if (excess.limit.empty() && *more >= *less) return call + " is no witness";
  return "";
}

}  // namespace mcpac::policy::testing

// CallStarts: the folders that arguments of a call name as its start ("cwd", "dir", "repo_path"),
// which relative values beside them may count from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "policy/match/path_value.h"

namespace mcpac::policy {

// What a parameter's name says of it: a folder that others count from, for certain ("cwd"), or as
// often something else ("repo", "base"), which then counts to an allow where it is absolute.
enum class StartName : std::uint8_t { kNone, kMaybe, kSure };
[[nodiscard]] StartName start_named(std::string_view parameter);

// Found when they are asked for first. Borrows the arguments; one thread.
class CallStarts {
 public:
  // More of them than a call names honestly, or arguments too deep: whatever is relative may be
  // anywhere.
  static constexpr std::size_t kMost = 64;

  CallStarts() = default;
  explicit CallStarts(const Json& arguments) : arguments_(&arguments) {}

  struct Found {
    // Each by itself, and relative ones below absolute ones as well.
    std::vector<PathValue> to_catch;
    std::vector<PathValue> admit;
    bool too_many = false;
  };
  // `home`: one for all rules.
  [[nodiscard]] const Found& found(std::string_view home) const;

 private:
  const Json* arguments_ = nullptr;
  mutable std::optional<Found> found_;
};

}  // namespace mcpac::policy

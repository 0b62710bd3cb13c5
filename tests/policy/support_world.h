// A small world for tests of policy: the standard tools of the vectors, a folder on disk, clocks
// that are turned by hand.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/file.h"
#include "core/json.h"
#include "policy/authority.h"
#include "policy/match/system_path_resolver.h"

namespace mcpac::policy::testing {

class HandClock final : public Clock {
 public:
  explicit HandClock(std::chrono::system_clock::time_point start) : start_(start) {}
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point{std::chrono::hours{1}} + passed_;
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return start_ + passed_;
  }
  void set(std::chrono::milliseconds passed) { passed_ = passed; }

 private:
  std::chrono::system_clock::time_point start_;
  std::chrono::milliseconds passed_{0};
};

// A file of data/, parsed.
[[nodiscard]] Json data(const std::string& name);

class World {
 public:
  explicit World(std::string_view start = "2026-06-01T12:00:00Z",
                 const Json& the_tools = data("tools.json"));
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // ${BASE} and ${HOME} put in.
  [[nodiscard]] std::string fill(std::string text) const;
  [[nodiscard]] Json fill(Json value) const;
  // "file", "dir" or "-> target", at a path below the base.
  void put(const std::string& path, const std::string& kind) const;
  void add_tools(const Json& tools);
  [[nodiscard]] Environment environment() const;
  [[nodiscard]] Result<Authority> load(const std::vector<LayerText>& layers) const;
  // One layer, "the command line", of grants.
  [[nodiscard]] Result<Authority> grant(const std::vector<std::string>& grants) const;
  [[nodiscard]] std::string base() const { return folder_.path().string(); }

  ToolSchemas tools;
  Bases bases;
  std::map<Permission, Money> prices;
  HandClock clock;

 private:
  TemporaryFolder folder_;
  SystemPathResolver resolver_;
};

// A permission written as a selector; nothing where the project cannot have such a tool.
[[nodiscard]] std::optional<Permission> permission_of(const std::string& text);
// A file of data/ with a JSON value a line.
[[nodiscard]] std::vector<Json> lines_of(const std::string& name);
[[nodiscard]] std::vector<Json> vectors();
// The folder, tools and roots of one vector, and its rules.
[[nodiscard]] std::unique_ptr<World> world_of(const Json& line,
                                              const Json& tools = data("tools.json"));
[[nodiscard]] std::vector<LayerText> layers_of(const World& world, const Json& line);

}  // namespace mcpac::policy::testing

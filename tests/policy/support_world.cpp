#include "policy/support_world.h"

#include <fmt/format.h>

#include <fstream>

#include "policy/text/parser.h"
#include "policy/text/times.h"

namespace mcpac::policy::testing {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::vector<std::string> texts(const World& world, const Json& line, const char* member) {
  std::vector<std::string> filled;
  if (const Json* list = find_member(line, member)) {
    for (const auto& text : *list) filled.push_back(world.fill(text.get<std::string>()));
  }
  return filled;
}

}  // namespace

World::World(std::string_view start, const Json& the_tools)
    : clock(parse_rfc3339(start).value()),
      folder_(
          TemporaryFolder::create(
              std::filesystem::canonical(std::filesystem::temp_directory_path()), "mcpac-policy-")
              .value()) {
  bases.current_directory = base();
  bases.home = base() + "/home";
  add_tools(the_tools);
}

std::string World::fill(std::string text) const {
  replace_all(text, "${BASE}", base());
  replace_all(text, "${HOME}", base() + "/home");
  return text;
}

Json World::fill(Json value) const {
  if (value.is_string()) return fill(value.get<std::string>());
  if (value.is_structured()) {
    for (auto& item : value) item = fill(Json(item));
  }
  return value;
}

void World::put(const std::string& path, const std::string& kind) const {
  const auto place = folder_.path() / path;
  std::filesystem::create_directories(place.parent_path());
  if (kind == "dir") {
    std::filesystem::create_directories(place);
  } else if (kind == "file") {
    std::ofstream(place) << "x";
  } else {
    std::filesystem::create_symlink(fill(kind.substr(3)), place);
  }
}

void World::add_tools(const Json& more) {
  for (const auto& [name, schema] : more.items()) {
    if (const auto permission = permission_of(name)) tools.insert_or_assign(*permission, schema);
  }
}

Environment World::environment() const {
  return {
      .tools = &tools, .resolver = &resolver_, .clock = &clock, .bases = bases, .prices = prices};
}

Result<Authority> World::load(const std::vector<LayerText>& layers) const {
  return Authority::load(layers, environment());
}

Result<Authority> World::grant(const std::vector<std::string>& grants) const {
  return load({LayerText{
      .name = "the command line", .grants = grants, .asks = {}, .denies = {}, .files = {}}});
}

std::optional<Permission> permission_of(const std::string& text) {
  Lexer lexer(SourceText{"permission", text});
  const auto selector = detail::selector(lexer);
  if (!selector || !selector->server || !selector->tool) return std::nullopt;
  auto permission = Permission::of(*selector->server, *selector->tool);
  return permission ? std::optional(*permission) : std::nullopt;
}

std::vector<LayerText> layers_of(const World& world, const Json& line) {
  LayerText run{.name = "the command line",
                .grants = texts(world, line, "grants"),
                .asks = texts(world, line, "asks"),
                .denies = texts(world, line, "denies"),
                .files = {}};
  if (line.contains("policy")) run.files.push_back(world.fill(line["policy"].get<std::string>()));
  std::vector<LayerText> layers{run};
  for (const auto& ceiling : texts(world, line, "ceilings")) {
    layers.push_back(
        {.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {ceiling}});
  }
  return layers;
}

std::unique_ptr<World> world_of(const Json& line, const Json& standard_tools) {
  auto world =
      std::make_unique<World>(string_member(line, "start", "2026-06-01T12:00:00Z"), standard_tools);
  if (const Json* fs = find_member(line, "fs")) {
    for (const auto& [path, kind] : fs->items()) world->put(path, kind.get<std::string>());
  }
  if (const Json* tools = find_member(line, "tools")) world->add_tools(*tools);
  if (const Json* roots = find_member(line, "roots")) {
    for (const auto& [server, root] : roots->items())
      world->bases.roots[server] = world->base() + "/" + root.get<std::string>();
  }
  return world;
}

}  // namespace mcpac::policy::testing

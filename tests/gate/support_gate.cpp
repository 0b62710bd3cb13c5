#include "gate/support_gate.h"

#include <doctest/doctest.h>

#include "core/hash.h"
#include "core/offer.h"

namespace mcpac::gate::testing {

Permission permission(std::string_view text) {
  auto parsed = Permission::parse(text);
  REQUIRE(parsed);
  return *parsed;
}

World::World(const Options& options) {
  const auto add = [&](std::string_view name, Json schema) {
    auto compiled = JsonSchema::compile(schema);
    REQUIRE_MESSAGE(compiled, name);
    tools[permission(name)] = {*compiled, sha256_hex(name)};
    schemas[permission(name)] = std::move(schema);
  };
  add("fs.read", {{"type", "object"},
                  {"properties",
                   {{"path", {{"type", "string"}}},
                    {"head", {{"type", "integer"}, {"minimum", 1}}},
                    {"encoding", {{"type", "string"}, {"default", "utf-8"}}}}},
                  {"required", {"path"}},
                  {"additionalProperties", false}});
  add("fs.write", {{"type", "object"},
                   {"properties", {{"path", {{"type", "string"}}}, {"text", {{"type", "string"}}}}},
                   {"required", {"path", "text"}}});
  add("fs.read_many",
      {{"type", "object"},
       {"properties", {{"paths", {{"type", "array"}, {"items", {{"type", "string"}}}}}}}});
  add("fs.remove", {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}});
  add("git.commit", {{"type", "object"}});
  // Names that nest: everything after the first dot is the tool.
  add("git.issues.create", {{"type", "object"}});
  add("git.issues.remove", {{"type", "object"}});
  if (options.offers) {
    for (const std::string server : {"fs.", "git."}) {
      for (const Offer offer : {Offer::kResource, Offer::kPrompt})
        add(server + std::string(name_of(offer)), schema_of(offer));
    }
  }

  Declared declared;
  for (const auto& text : options.declared) {
    declared.permissions.insert(permission(text));
    declared.texts.push_back(text);
  }
  gate = std::make_unique<Gate>(GateSetup{
      &tools, authority_of(*this, options), std::move(declared), &upstream, &audit, &clock,
      options.mode, options.max_refusals, [this](const Check& check) { told.push_back(check); },
      options.asking, options.dialer, options.network});
}

policy::Authority authority_of(const World& world, const World::Options& options) {
  policy::LayerText layer{.name = "the command line",
                          .grants = options.grants,
                          .asks = options.asks,
                          .denies = options.denies,
                          .files = {},
                          .profiles = {},
                          .profile_files = {},
                          .places = options.places};
  policy::Environment environment;
  environment.tools = &world.schemas;
  environment.clock = &world.clock;
  environment.resolver = options.resolver;
  environment.bases.current_directory = "/srv";
  environment.bases.home = "/home/somebody";
  std::vector<policy::LayerText> layers = {layer};
  if (!options.ceiling.empty()) {
    policy::LayerText ceiling;
    ceiling.name = "mcpac.policy";
    ceiling.grants = options.ceiling;
    layers.push_back(std::move(ceiling));
  }
  auto authority = policy::Authority::load(layers, environment);
  REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
  return std::move(*authority);
}

std::optional<Answer> World::call(std::string_view name, Json arguments) {
  // Shared, because an answer may come long after this function returned.
  auto answer = std::make_shared<std::optional<Answer>>();
  gate->call({std::string(name), std::move(arguments)}, [answer](Answer given) {
    REQUIRE_FALSE(answer->has_value());
    *answer = std::move(given);
  });
  return *answer;
}

Json text_result(std::string_view text) {
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})}};
}

}  // namespace mcpac::gate::testing

// SPDX-License-Identifier: Apache-2.0

#include "policy/policy_digest.h"

#include <utility>

#include "core/canonical_json.h"
#include "core/hash.h"
#include "policy/match/path_pattern.h"
#include "policy/match/path_value.h"
#include "policy/policy_record.h"
#include "policy/rules/compile_places.h"
#include "policy/text/parser.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

Json to_json(const LayerRules& layer) {
  Json rules = Json::array();
  for (const auto& rule : layer.rules) rules.push_back(rule.text);
  Json json = {{"name", layer.name}, {"rules", std::move(rules)}};
  for (const auto& place : layer.places) json["places"].push_back(place.text);
  if (layer.declared)
    json["declares"] = {{"files", layer.declared->files}, {"network", layer.declared->network}};
  return json;
}

// `cost <= 1.00 USD` is more calls where a call is cheaper.
Json to_json(const std::map<Permission, Money>& prices) {
  Json json = Json::object();
  for (const auto& [permission, price] : prices) json[permission.text()] = to_text(price);
  return json;
}

// Where a path of a rule begins on disk, as the loader asked for it; several where "@server/" may
// mean more than one. Nothing is asked here: what loading found is looked up.
void add_bases(const std::string& path, PathPattern::Kind kind, const Authority& authority,
               Json& into) {
  const ToolSchemas no_tools;
  const Environment lexical{
      .tools = &no_tools, .resolver = nullptr, .clock = nullptr, .bases = authority.bases()};
  const auto add = [&](std::vector<std::string> servers, const std::string& server) {
    const World world{lexical, std::move(servers), Effect::kAllow};
    const auto pattern = PathPattern::compile(path, 0, kind, world);
    if (!pattern) return;
    const std::string written = join(pattern->base_for(server).written);
    for (const auto& fact : authority.loaded_paths()) {
      if (fact.base.empty() && !fact.seen && fact.path == written)
        into[written] = fact.real ? Json(*fact.real) : Json(nullptr);
    }
  };
  if (!path.starts_with('@')) return add({}, "");
  for (const auto& [server, root] : authority.bases().roots) add({server}, server);
}

void add_bases(const ast::Arg& arg, const Authority& authority, Json& into) {
  for (const auto& test : arg.tests) {
    if (const auto* path = std::get_if<ast::PathTest>(&test.body))
      add_bases(path->path,
                path->kind == ast::PathTest::Kind::kWithin ? PathPattern::Kind::kWithin
                                                           : PathPattern::Kind::kMatches,
                authority, into);
  }
  for (const auto& exception : arg.exceptions) {
    if (const auto* path = std::get_if<ast::PathException>(&exception.body))
      add_bases(path->path, PathPattern::Kind::kException, authority, into);
  }
}

// The same for `files PATH MODE`.
void add_base(const std::string& statement, const Authority& authority, Json& into) {
  const auto parsed = parse_place(SourceText{"a statement", statement});
  const auto* files = parsed ? std::get_if<ast::FilesGrant>(&*parsed) : nullptr;
  if (files == nullptr) return;
  const ToolSchemas no_tools;
  const Environment lexical{
      .tools = &no_tools, .resolver = nullptr, .clock = nullptr, .bases = authority.bases()};
  const auto path = read_place_path(files->path, 0, lexical);
  if (!path) return;
  for (const auto& fact : authority.loaded_paths()) {
    if (fact.base.empty() && !fact.seen && fact.path == join(*path))
      into[fact.path] = fact.real ? Json(*fact.real) : Json(nullptr);
  }
}

// Where the bases of all path tests led when the rules were loaded: a link that was turned to
// another folder since makes another policy of the same text. What self-tests asked the file system
// is no part of it: they are no rules, and no run records them.
Json resolved_bases(const Authority& authority) {
  Json bases = Json::object();
  if (authority.loaded_paths().empty()) return bases;
  for (const auto& layer : authority.layers()) {
    for (const auto& place : layer.places) add_base(place.text, authority, bases);
    for (const auto& rule : layer.rules) {
      const auto file = parse_file(SourceText{layer.name, rule.text});
      if (!file) continue;  // it was printed by us; a rule that is no file has no bases
      for (const auto& item : file->items) {
        const auto* statement = std::get_if<ast::Statement>(&item);
        const auto* parsed = statement == nullptr ? nullptr : std::get_if<ast::Rule>(statement);
        if (parsed == nullptr) continue;
        for (const auto& target : parsed->targets) {
          if (!target.brackets) continue;
          for (const auto& arg : target.brackets->args) add_bases(arg, authority, bases);
        }
      }
    }
  }
  return bases;
}

}  // namespace

std::string policy_digest(const Authority& authority) {
  Json layers = Json::array();
  for (const auto& layer : authority.layers()) layers.push_back(to_json(layer));
  return sha256_hex(canonical_json(Json{{"mcpac", "policy"},
                                        {"layers", std::move(layers)},
                                        {"bases", policy::to_json(authority.bases())},
                                        {"resolved", resolved_bases(authority)},
                                        {"prices", to_json(authority.prices())}}));
}

}  // namespace mcpac::policy

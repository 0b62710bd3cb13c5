#include "policy/decide/canonical_urls.h"

#include <algorithm>

#include "policy/decide/decide.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

bool rewrite(Json& value, std::span<const ast::Step> steps) {
  if (steps.empty()) {
    if (!value.is_string()) return false;
    auto& text = value.get_ref<std::string&>();
    const auto url = read_url(text);
    if (!url) return false;
    std::string canonical = url->sent_text();
    if (canonical == text) return false;
    text = std::move(canonical);
    return true;
  }
  const auto below = steps.subspan(1);
  if (const auto* member = std::get_if<ast::Member>(&steps.front())) {
    const auto found = value.is_object() ? value.find(member->name) : value.end();
    return found != value.end() && rewrite(*found, below);
  }
  bool changed = false;
  if (value.is_array()) {
    for (auto& element : value) changed = rewrite(element, below) || changed;
  }
  return changed;
}

}  // namespace

bool canonicalise_urls(std::span<const CompiledLayer> layers, const Permission& permission,
                       Json& arguments) {
  bool changed = false;
  for (const auto& layer : layers) {
    for (const auto* target : covering(layer, permission)) {
      if (!target->brackets || layer.rules[target->rule].effect == Effect::kDeny) continue;
      for (const auto& arg : target->brackets->args) {
        const bool reads_url = std::ranges::any_of(arg.tests, is_url_test);
        if (reads_url && !arg.steps.empty()) changed = rewrite(arguments, arg.steps) || changed;
      }
    }
  }
  return changed;
}

std::optional<SchemaViolation> complete(std::span<const CompiledLayer> layers,
                                        const Permission& permission, const JsonSchema& schema,
                                        Json& arguments) {
  schema.fill_defaults(arguments);
  canonicalise_urls(layers, permission, arguments);
  return schema.validate(arguments);
}

}  // namespace mcpac::policy

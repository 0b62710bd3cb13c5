#include "execute/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace mcpac::execute {
namespace {

std::string quoted_name(const std::string& name) {
  return is_server_name(name) ? name : to_text(Json(name));
}

}  // namespace

std::string grant_text(const Permission& permission, std::string_view where) {
  std::string text = quoted_name(permission.server()) + "." + quoted_name(permission.tool());
  if (!where.empty()) text += fmt::format("({})", where);
  return text;
}

std::vector<std::string> declared_rules(const analyzer::Report& report) {
  std::vector<std::string> rules;
  for (const auto& declared : report.declared) {
    if (auto permission = Permission::parse(declared.permission))
      rules.push_back(grant_text(*permission, declared.where));
  }
  return rules;
}

CheckResult check(const analyzer::Report& report, const policy::Authority& granted) {
  CheckResult result;
  std::set<Permission> declared;
  for (const auto& item : report.declared) {
    auto permission = Permission::parse(item.permission);
    if (!permission) continue;
    declared.insert(*permission);
    switch (granted.coverage(*permission, item.where)) {
      case policy::Coverage::kCovered: break;
      case policy::Coverage::kConditional: result.conditional.push_back(item.text()); break;
      case policy::Coverage::kMissing:
        result.missing.push_back(item.text());
        result.to_grant.push_back(grant_text(*permission, item.where));
        break;
    }
  }
  for (const Permission& permission : granted.named_tools()) {
    if (!declared.contains(permission)) result.extra.push_back(permission.text());
  }
  // Quotes for the shell only where the text needs them.
  const std::string list = fmt::format("{}", fmt::join(result.to_grant, ","));
  const bool plain = std::ranges::all_of(list, [](char c) {
    return std::string_view("_-.,").contains(c) || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  if (!result.to_grant.empty())
    result.fix = plain ? "--grant " + list : fmt::format("--grant '{}'", list);
  return result;
}

}  // namespace mcpac::execute

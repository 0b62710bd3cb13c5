// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/narrows.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

void NarrowChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind != CXCursor_ParmDecl && kind != CXCursor_FieldDecl && kind != CXCursor_VarDecl) return;
  const CXType type = without_reference(clang_getCursorType(node));
  if (!identity_.is_requires(type)) return;
  for (const CXType permission : Identity::permissions_of(type)) {
    const auto authority = identity_.authority_of(permission);
    const auto* held = std::get_if<Authority>(&authority);
    if (held != nullptr && !held->where.empty()) found_.push_back({*held, node});
  }
}

void NarrowChecker::finish(const std::vector<Declared>& declared, Findings& findings) const {
  for (const Found& found : found_) {
    const auto& [permission, where] = found.authority;
    const bool holds = std::ranges::any_of(declared, [&](const Declared& item) {
      return item.permission == permission && item.where == where;
    });
    if (holds) continue;
    findings.add("narrow-elsewhere", found.at,
                 fmt::format("`{}` of {} limits nothing here: the entry does not receive it so",
                             where, permission),
                 "name this Narrow in the Requires of the entry, or test the value in the code");
  }
}

}  // namespace mcpac::analyzer

// SPDX-License-Identifier: Apache-2.0

#include "gateway/lists/list_kind.h"

namespace mcpac::gateway {

std::string_view method_of(ListKind kind) {
  switch (kind) {
    case ListKind::kResources: return "resources/list";
    case ListKind::kTemplates: return "resources/templates/list";
    case ListKind::kPrompts: break;
  }
  return "prompts/list";
}

std::string_view member_of(ListKind kind) {
  switch (kind) {
    case ListKind::kResources: return "resources";
    case ListKind::kTemplates: return "resourceTemplates";
    case ListKind::kPrompts: break;
  }
  return "prompts";
}

std::string_view key_of(ListKind kind) {
  switch (kind) {
    case ListKind::kResources: return "uri";
    case ListKind::kTemplates: return "uriTemplate";
    case ListKind::kPrompts: break;
  }
  return "name";
}

std::string_view capability_of(ListKind kind) {
  return kind == ListKind::kPrompts ? "prompts" : "resources";
}

}  // namespace mcpac::gateway

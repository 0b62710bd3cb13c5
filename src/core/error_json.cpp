// SPDX-License-Identifier: Apache-2.0

#include "core/error_json.h"

namespace mcpac {

Json error_json(const Error& error) {
  Json json = {{"id", to_string(error.id)}, {"what", error.what}};
  if (!error.where.empty()) json["where"] = error.where;
  if (!error.why.empty()) json["why"] = error.why;
  if (!error.fix.empty()) json["fix"] = error.fix;
  if (const auto outcome = outcome_of(error.sent); !outcome.empty()) json["outcome"] = outcome;
  return json;
}

}  // namespace mcpac

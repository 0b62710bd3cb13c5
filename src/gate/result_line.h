// SPDX-License-Identifier: Apache-2.0

// ResultLine: the frame that carries a tool's result, written in one pass into one string.
//
// Results are the one thing here that is large (10 MiB is ordinary for files and pictures), and
// almost all of it is plain text in one member: so the room for it is there before it is written
// (core/json_writer.h), and the frame is not assembled from copies. Same bytes as
// ipc::encode_result.
#pragma once

#include <string>

#include "core/json.h"
#include "ipc/json_rpc.h"

namespace mcpac::gate {

[[nodiscard]] std::string result_line(const ipc::Id& id, const Json& result);

// Bytes of the names and texts in a value: about the size of its JSON.
[[nodiscard]] std::size_t text_bytes(const Json& value);

}  // namespace mcpac::gate

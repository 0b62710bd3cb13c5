// SPDX-License-Identifier: Apache-2.0

// Questions of a server to its client while it works on a call: elicitation, sampling, roots.
//
// In the initialize era the question is a request of its own, on the stream of the call or, over
// stdio, beside it; in the stateless era the call is answered `input_required` and made again with
// the answers. Both end up in one function here. A client that has none declares no such
// capability, and a server that asks all the same is told that the method does not exist.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::mcp {

// Gets the method ("elicitation/create", …) and its params, secrets redacted; answers with the
// result object. An Error is told to the server as a failure without its text, which may be about
// things that are none of the server's business.
using Answer = std::function<boost::asio::awaitable<Result<Json>>(std::string method, Json params)>;
// The same for all that a server asks at once (`inputRequests`, by names of its own); answers with
// a result object for each name.
using AnswerAll = std::function<boost::asio::awaitable<Result<Json>>(Json questions)>;

// The capability that a method needs: "elicitation", "sampling", "roots"; empty for no such method.
[[nodiscard]] std::string capability_of(std::string_view method);

// SEP-1034: what an accepted form leaves out gets the default of its schema. Anything else stays.
[[nodiscard]] Json with_defaults(Json answer, const Json& params);

}  // namespace mcpac::mcp

// What the tests of resources and prompts share: two servers, and what a client sees of them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "gateway/support_session.h"

namespace mcpac::gateway::testing {

[[nodiscard]] Json resource(std::string_view uri);
[[nodiscard]] Json prompt(std::string_view name);
[[nodiscard]] Json uri_template(std::string_view text);

// Of each entry of a list.
[[nodiscard]] std::set<std::string> keys(const Json& answer, const char* member, const char* key);
[[nodiscard]] std::set<std::string> uris(Talk& talk, int id = 1);
[[nodiscard]] std::set<std::string> prompts(Talk& talk, int id = 1);

// Two servers; what both have is the same URI and the same prompt.
void two_servers(FakeServers& servers);

// One read, answered by the server; the error where there is one.
[[nodiscard]] Json read(Talk& talk, int id, std::string_view uri,
                        const Json& contents = Json::array());

}  // namespace mcpac::gateway::testing

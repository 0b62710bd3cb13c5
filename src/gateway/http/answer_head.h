// SPDX-License-Identifier: Apache-2.0

// AnswerHead: the first lines of an answer, as text.
//
// An answer has four or five headers, all of them ours: a text takes less than the fields of a
// message, which are sorted, and written in a dozen pieces. Values have no line breaks: nothing
// that a client or a server says becomes one.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::gateway::http {

// "HTTP/1.1 200 OK", and the end of the line.
[[nodiscard]] std::string status_line(unsigned status);
void add_header(std::string& head, std::string_view name, std::string_view value);

}  // namespace mcpac::gateway::http

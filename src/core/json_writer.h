// JsonWriter: the compact text of a value, as the library writes it byte for byte, but in runs.
//
// The library looks at every letter and hands each to a virtual function; of a call four or five
// values are written, and of a result almost all is plain text in one member. So runs that need no
// escape are copied whole, and a value is written into the text that it becomes a part of. What is
// not UTF-8, and numbers with a fraction, are left to the library; tests hold the two against each
// other.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac {

void append_json(std::string& out, const Json& value);
void append_json(std::string& out, const OrderedJson& value);
// As a JSON string, with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace mcpac

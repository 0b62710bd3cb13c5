// SPDX-License-Identifier: Apache-2.0

// ObjectSymbols: purpose of the undefined symbols of an object file.
//
// The allowed C functions stand in one table by what they are good for: computing, memory, text,
// clocks, threads of the program itself, and output on the streams that it has. Everything else is
// said, be it known to reach the operating system (os_calls.h) or not known at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac::analyzer {

// The qualified name in a mangled one, as far as its first template argument or parameter:
// "_ZNSt3__14__fs10filesystem8__statusERKNS1_4pathE" -> "std::filesystem::__status". Inline
// namespaces of libc++ leave no trace. Other names are returned as they are. Own code and not
// __cxa_demangle: a hostile name of 500 bytes can stand for gigabytes.
[[nodiscard]] std::string readable_symbol(std::string_view symbol);

// A mangled C++ name.
[[nodiscard]] bool is_mangled(std::string_view symbol);

// Purpose of a symbol that an honest program's library needs: "mathematics", "text"; nullptr: not
// in the table.
[[nodiscard]] const char* purpose_of(std::string_view c_function);

// All of the table but mathematics, whose names have many forms.
[[nodiscard]] std::vector<std::string_view> known_c_functions();

}  // namespace mcpac::analyzer

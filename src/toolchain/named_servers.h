// SPDX-License-Identifier: Apache-2.0

// Named servers: the servers that a program can use, by the words in its text.
//
// Preparing the headers of hundreds of servers for a program that uses two costs seconds, and each
// compilation reads what was prepared. So only the servers whose C++ name stands somewhere in the
// program, as a whole word, are given to it; comments count, being wrong that way costs only time.
// A name that is not there cannot be used: the preprocessor makes names of its own only with ##,
// and a program that has it gets every server. Nothing is trusted here: the analyzer and the
// compiler see the same headers, and a server that is left out is a compile error.
#pragma once

#include <set>
#include <string>

#include "codegen/lock.h"
#include "toolchain/snapshot.h"

namespace mcpac::toolchain {

// The headers to prepare, as mcpac.lock names them: "filesystem.hpp".
[[nodiscard]] std::set<std::string> named_servers(const Snapshot& snapshot,
                                                  const codegen::Lock& lock);

// Every word of a source text that could be an identifier, lines joined as the compiler joins them.
[[nodiscard]] std::set<std::string> words_of(std::string_view source);

}  // namespace mcpac::toolchain

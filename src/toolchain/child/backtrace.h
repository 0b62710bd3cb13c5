// SPDX-License-Identifier: Apache-2.0

// Backtrace: a program's own functions that led to a forbidden system call, or to its crash.
//
// From the words that the warden found on the stack and the program's file, without debug
// information: a word belongs to the chain when the call before it leads to the function found
// last. What an optimiser turned into jumps is missing, and a hostile program can write any chain
// it likes onto its stack: the names are for people, nothing is decided by them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "toolchain/child/elf_code.h"

namespace mcpac::toolchain {

// Innermost first, printable, at most 12: "fetch", "agent_main". Functions of the standard
// libraries and of mcpac are left out. `codes` is what the process consists of: the program, or an
// image and its runner. Empty where nothing is known.
[[nodiscard]] std::vector<std::string> callers_of(const sandbox::Verdict& verdict,
                                                  std::span<const ElfCode> codes);

// "called keyctl (system call 250), which the sandbox does not admit; from fetch <- main"
[[nodiscard]] std::string describe_violation(const sandbox::Verdict& verdict,
                                             std::span<const std::string> callers);

// "; in dive <- main", with the function that calls itself once; "" where nothing is known.
[[nodiscard]] std::string describe_place(std::span<const std::string> callers);

}  // namespace mcpac::toolchain

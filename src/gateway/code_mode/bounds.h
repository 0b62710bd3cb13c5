// SPDX-License-Identifier: Apache-2.0

// Bounds of code mode: limits on what one client may send, start and get back. A model reads the
// answers, so they are shorter than a door could carry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mcpac::gateway::code_mode {

inline constexpr std::size_t kMaxQuery = 500;
inline constexpr std::size_t kMaxDescribed = 20;
inline constexpr std::size_t kMaxSource = 1'000'000;
// Below, a program cannot even be loaded.
inline constexpr std::uint64_t kLeastMemory = std::uint64_t{32} << 20U;

// Of a result: bytes of JSON text, or of what a program wrote.
inline constexpr std::size_t kMaxInstructions = std::size_t{24} << 10U;
inline constexpr std::size_t kMaxConditions = std::size_t{8} << 10U;
inline constexpr std::size_t kMaxDeclaration = std::size_t{32} << 10U;
inline constexpr std::size_t kMaxOutput = std::size_t{48} << 10U;  // each of the two
inline constexpr std::size_t kMaxLog = std::size_t{16} << 10U;
inline constexpr std::size_t kMaxResult = std::size_t{256} << 10U;
inline constexpr std::size_t kMaxReport = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxRules = 20;    // about one tool
inline constexpr std::size_t kMaxDenials = 20;  // of one program

// Programs that are analysed, compiled or run at the same time. Each compiler takes a processor and
// some hundred MiB.
inline constexpr std::size_t kProgramsOfClient = 2;
inline constexpr std::size_t kProgramsOfGateway = 4;

}  // namespace mcpac::gateway::code_mode

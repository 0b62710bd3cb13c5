// SPDX-License-Identifier: Apache-2.0

// Emit: the model as text, exactly in the form that templates/EMITTED_FORM.md describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/model.h"

namespace mcpac::codegen {

// The first line of every header that is generated here, whatever the version of mcpac; the runtime
// headers have none. Removal of old headers relies on it and removes no other file.
inline constexpr std::size_t kMaxBanner = 200;  // with its line's end
[[nodiscard]] bool begins_with_banner(std::string_view text);

// One server's header, servers/<cpp_name>.hpp.
[[nodiscard]] std::string emit_server(const ServerModel& server);

// servers/mcpac/lock.hpp: the digests that each server's header compares in the preprocessor.
[[nodiscard]] std::string emit_lock_header(const std::vector<ServerModel>& servers);

// servers/mcpac.hpp: the runtime and every server.
[[nodiscard]] std::string emit_umbrella(const std::vector<std::string>& headers);

// compile_flags.txt, which clangd reads: for the headers, in servers/, or for the programs beside
// it.
enum class FlagsFor : std::uint8_t { kHeaders, kProject };
[[nodiscard]] std::string emit_compile_flags(FlagsFor place);

}  // namespace mcpac::codegen

// Emit: the model as text, exactly in the form that templates/EMITTED_FORM.md describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/model.h"

namespace mcpac::codegen {

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

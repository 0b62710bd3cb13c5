// Emit: the model as text, exactly in the form that templates/EMITTED_FORM.md describes.
#pragma once

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

// servers/compile_flags.txt, which clangd reads.
[[nodiscard]] std::string emit_compile_flags();

}  // namespace mcpac::codegen

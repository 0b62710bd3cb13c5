// The digests that an answer is bound to (gate::Binding), made of what a run really uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/lock.h"
#include "execute/authorities.h"
#include "gate/approver.h"

namespace mcpac::execute {

// `program` is its own digest. `layers` are all that load_authority() gets; mcpac.policy is read
// as it does.
[[nodiscard]] Result<gate::Binding> bind_run(std::string program, const codegen::Lock& lock,
                                             const Project& project, const PolicyWorld& world,
                                             const std::vector<policy::LayerText>& layers);

// A compiled program: its bytes and the arguments that it starts with.
[[nodiscard]] Result<std::string> digest_of_program(const std::filesystem::path& file,
                                                    const std::vector<std::string>& arguments);

}  // namespace mcpac::execute

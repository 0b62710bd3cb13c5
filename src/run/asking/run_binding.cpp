// SPDX-License-Identifier: Apache-2.0

#include "run/asking/run_binding.h"

#include "core/canonical_json.h"
#include "core/file.h"
#include "core/hash.h"
#include "policy/policy_digest.h"

namespace mcpac::run {
namespace {

constexpr std::size_t kMaxProgram = std::size_t{1} << 30U;

}  // namespace

gate::Binding bind_run(std::string program, const project::LockDigests& digests,
                       const mcp::Config& config, const policy::Authority& authority) {
  // The same call means another thing to a server with another environment.
  OrderedJson servers = OrderedJson::object();
  for (const auto& server : config.servers) servers[server.name] = mcp::to_json(server);
  return {.program = std::move(program),
          .headers = digests.of_headers,
          .lock = digests.of_text,
          .policy = policy::policy_digest(authority),
          .servers = sha256_hex(canonical_json(Json::parse(servers.dump())))};
}

std::string digest_of_arguments(const Json& given) {
  if (given.empty()) return {};
  return sha256_hex(canonical_json(Json{{"mcpac", "arguments"}, {"of", given}}));
}

Result<std::string> digest_of_program(const std::filesystem::path& file,
                                      const std::vector<std::string>& arguments) {
  auto bytes = read_file(file, kMaxProgram);
  if (!bytes) return pass_on(bytes);
  return sha256_hex(canonical_json(
      Json{{"mcpac", "program"}, {"file", sha256_hex(*bytes)}, {"arguments", arguments}}));
}

}  // namespace mcpac::run

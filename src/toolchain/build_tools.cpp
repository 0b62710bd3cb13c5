// SPDX-License-Identifier: Apache-2.0

#include "toolchain/build_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/lead.h"
#include "toolchain/lead.h"
#include "toolchain/make_runner.h"

namespace mcpac::toolchain {
namespace {

using sandbox::Mount;
using Command = std::vector<std::string>;

const std::string kObject = fmt::format("{}/agent.o", inside::kOutput);

std::vector<std::string> objects_inside(std::size_t count) {
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < count; ++i) objects.push_back(object_inside(i));
  return objects;
}

sandbox::Spec spec_of(const BuildTools& tools, const BuildFolder& folder, Command command) {
  auto spec = tool_spec(tools.folders, tools.prepared.folder, tools.lowest_tier);
  spec.mounts.push_back({folder.output(), inside::kOutput, Mount::Access::kReadWrite});
  spec.program = command.front();
  spec.arguments = std::move(command);
  spec.work_directory = inside::kOutput;
  return spec;
}

}  // namespace

sandbox::Spec BuildTools::analyzer(const std::filesystem::path& sources) const {
  auto spec = tool_spec(folders, prepared.folder, lowest_tier);
  spec.mounts.push_back({sources, inside::kSource, Mount::Access::kRead});
  spec.program = folders.analyzer();
  spec.arguments = {"mcpac-analyzer"};
  return spec;
}

sandbox::Spec BuildTools::analyzer_at(const std::filesystem::path& lead,
                                      const std::filesystem::path& sources) const {
  auto spec = analyzer(sources);
  spec.mounts.push_back(mount_of_lead(lead));
  const auto& flags = prepared.toolchain.analyze;
  spec.arguments.insert(spec.arguments.end(), flags.begin(), flags.end());
  return spec;
}

sandbox::Spec BuildTools::compiler(const BuildFolder& folder, const std::filesystem::path& lead,
                                   std::size_t source) const {
  Command command = prepared.toolchain.compile;
  std::ranges::replace(command, "{source}", analyzer::lead::kMain);
  std::ranges::replace(command, kObject, object_inside(source));
  auto spec = spec_of(*this, folder, std::move(command));
  spec.mounts.push_back({folder.source(), inside::kSource, Mount::Access::kRead});
  spec.mounts.push_back(mount_of_lead(lead));
  return spec;
}

sandbox::Spec BuildTools::image_linker(const BuildFolder& folder, std::size_t objects) const {
  auto spec =
      spec_of(*this, folder, with_objects(prepared.toolchain.link_image, objects_inside(objects)));
  spec.mounts.push_back({folder.addresses(), inside::kAddresses, Mount::Access::kRead});
  return spec;
}

sandbox::Spec BuildTools::static_linker(const BuildFolder& folder, std::size_t objects) const {
  Command command = prepared.toolchain.link;
  const auto place = command.erase(std::ranges::find(command, kObject));
  const auto all = objects_inside(objects);
  command.insert(place, all.begin(), all.end());
  return spec_of(*this, folder, std::move(command));
}

}  // namespace mcpac::toolchain

// SPDX-License-Identifier: Apache-2.0

// Property: what decodes, encodes to one line that decodes to the same message; and the line
// splitter gives the same lines however the input is cut. The first byte chooses the cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/json_rpc.h"
#include "ipc/line_splitter.h"

namespace {

constexpr std::size_t kLimit = 4'096;

std::vector<std::string> split(std::string_view text, std::size_t piece) {
  mcpac::ipc::LineSplitter splitter(kLimit);
  std::vector<std::string> lines;
  while (!text.empty()) {
    splitter.push(text.substr(0, piece));
    text.remove_prefix(piece < text.size() ? piece : text.size());
    while (const auto line = splitter.next()) lines.emplace_back(*line);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1U + data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto lines = split(text, piece);
  if (lines != split(text, text.size() + 1)) std::abort();
  for (const auto& line : lines) {
    const auto message = mcpac::ipc::decode(line);
    if (!message) continue;
    const std::string encoded = mcpac::ipc::encode(*message);
    if (encoded.find('\n') != std::string::npos) std::abort();
    const auto again = mcpac::ipc::decode(encoded);
    if (!again || *again != *message || mcpac::ipc::encode(*again) != encoded) std::abort();
  }
  return 0;
}

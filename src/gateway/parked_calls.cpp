#include "gateway/parked_calls.h"

#include <sodium.h>

#include <array>
#include <utility>
#include <vector>

#include "gateway/call_of_client.h"

namespace mcpac::gateway {
namespace {

constexpr auto kPatience = std::chrono::minutes(10);
constexpr std::size_t kMaxParked = 256;

std::string new_name() {
  std::array<unsigned char, 16> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * bytes.size() + 1> text{};
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  return text.data();
}

}  // namespace

std::string ParkedCalls::park(ParkedCall call) {
  sweep();
  if (calls_.size() >= kMaxParked) return "";
  std::string name = new_name();
  calls_.emplace(name, Entry{std::move(call), clock_.steady_now() + kPatience});
  return name;
}

std::optional<ParkedCall> ParkedCalls::take(const std::string& name, const std::string& digest,
                                            const Fits& fits) {
  sweep();
  const auto found = calls_.find(name);
  if (found == calls_.end() || found->second.call.digest != digest || !fits(found->second.call))
    return std::nullopt;
  ParkedCall call = std::move(found->second.call);
  calls_.erase(found);
  return call;
}

void ParkedCalls::sweep() {
  std::vector<std::shared_ptr<CallOfClient>> over;
  std::erase_if(calls_, [&](const auto& entry) {
    const bool is_over = entry.second.until <= clock_.steady_now();
    if (is_over) over.push_back(entry.second.call.call);
    return is_over;
  });
  for (const auto& call : over) call->take_back(gate_);
}

}  // namespace mcpac::gateway

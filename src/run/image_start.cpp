// SPDX-License-Identifier: Apache-2.0

#include "run/image_start.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "toolchain/image_file.h"

namespace mcpac::run {
namespace {

// As templates/runner/runner.cpp has them.
struct Start {
  std::uint32_t version = 2;
  std::uint32_t arguments = 0;
  std::uint32_t bytes = 0;
  std::uint32_t segments = 0;
  std::uint64_t entry = 0;
  std::array<Elf64_Phdr, toolchain::kMostImageSegments> table{};
};
constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kMostText = 4096;

}  // namespace

Result<void> send_image(int channel, int memory, const ImagePlan& plan,
                        const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text.append(argument.c_str()).push_back('\0');
  if (arguments.empty() || arguments.size() > kMostArguments || text.size() > kMostText)
    return fail(ErrorId::kInternal, "a program of this project cannot have these arguments");
  if (plan.segments.size() > toolchain::kMostImageSegments)
    return fail(ErrorId::kInternal, "a program has more segments than a runner takes");
  Start start{.arguments = static_cast<std::uint32_t>(arguments.size()),
              .bytes = static_cast<std::uint32_t>(text.size()),
              .segments = static_cast<std::uint32_t>(plan.segments.size()),
              .entry = plan.entry};
  std::ranges::copy(plan.segments, start.table.begin());
  std::array<iovec, 2> parts{iovec{&start, sizeof start}, iovec{text.data(), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof memory);
  std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  // The channel is empty, so it takes a message of this size whole.
  if (sent == static_cast<ssize_t>(sizeof start + text.size())) return {};
  return fail(ErrorId::kInternal,
              fmt::format("the program cannot be given to its runner: {}", std::strerror(errno)));
}

}  // namespace mcpac::run

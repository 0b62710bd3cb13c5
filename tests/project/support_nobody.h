// What is to fail for want of a right is done as somebody who wants it.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace mcpac::project::testing {

// Nothing is forbidden to root: what is to fail for want of a right is done as somebody else.
class AsNobody {
 public:
  static void give(const std::filesystem::path& path) {
    if (::geteuid() == 0) REQUIRE(::chown(path.c_str(), kNobody, static_cast<gid_t>(-1)) == 0);
  }
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_) REQUIRE(::seteuid(kNobody) == 0);
  }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  bool was_root_;
};

}  // namespace mcpac::project::testing

// std::random_device where there is no /dev/urandom.
//
// libc++ opens that file. In the sandbox there are no files but those that were granted, and
// getrandom(2) needs none. Linked before libc++, whose own is then left out.
#include <sys/random.h>

#include <cerrno>
#include <random>
#include <string>
#include <system_error>

namespace {

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::system_category(), what);
}

}  // namespace

std::random_device::random_device(const std::string& token) {
  if (token != "/dev/urandom" && token != "/dev/random" && token != "default")
    fail(ENOENT, "random_device: there is only the kernel's own");
}

std::random_device::~random_device() = default;

unsigned std::random_device::operator()() {
  unsigned number = 0;
  ssize_t n = 0;
  do {
    n = ::getrandom(&number, sizeof number, 0);  // so few bytes come whole or not at all
  } while (n < 0 && errno == EINTR);
  if (n != sizeof number) fail(n < 0 ? errno : EIO, "random_device: getrandom");
  return number;
}

double std::random_device::entropy() const noexcept {
  return 32;
}

// What a program says that ended it, as the error of its report.
#include "run/exit_report.h"

#include <doctest/doctest.h>

using namespace mcpac;
using namespace mcpac::run;

namespace {

ErrorId id_of(const std::string& kind, const std::string& id = "",
              const std::string& permission = "fs.read") {
  return uncaught_error({.kind = kind, .permission = permission, .message = "m", .id = id}).id;
}

}  // namespace

TEST_SUITE("execute/own end") {
  TEST_CASE("what was not caught has the id that the same has elsewhere") {
    CHECK(id_of("tool") == ErrorId::kToolError);
    CHECK(id_of("denied") == ErrorId::kCallDenied);
    CHECK(id_of("budget") == ErrorId::kCallDenied);
    CHECK(id_of("invalid_arguments") == ErrorId::kCallInvalid);
    CHECK(id_of("transport", "MCPAC-E0301") == ErrorId::kServerDied);
    CHECK(id_of("transport", "MCPAC-E0305") == ErrorId::kServerError);
    CHECK(id_of("transport") == ErrorId::kServerProtocol);
    CHECK(id_of("transport", "MCPAC-E0732", "mcpac.network") == ErrorId::kNetworkTls);
    CHECK(id_of("transport", "", "mcpac.network") == ErrorId::kNetworkConnect);
    CHECK(id_of("timeout", "MCPAC-E0302") == ErrorId::kServerTimeout);
    CHECK(id_of("timeout", "MCPAC-E0309") == ErrorId::kServerBusy);
    CHECK(id_of("timeout", "MCPAC-E0733", "mcpac.network") == ErrorId::kNetworkTimeout);
    CHECK(id_of("revoked") == ErrorId::kCallDenied);
    CHECK(id_of("revoked", "MCPAC-E0402") == ErrorId::kLockDrift);
    CHECK(id_of("exception") == ErrorId::kRunKilled);
  }

  TEST_CASE("a program says of itself what it likes, and only within bounds and as text") {
    const Error error = uncaught_error({.kind = "no such kind",
                                        .permission = "",
                                        .message = "\x1b[2J\n" + std::string(5'000, 'x'),
                                        .id = "MCPAC-E0902"});
    CHECK(error.id == ErrorId::kRunKilled);
    CHECK(error.what.size() < 1'100);
    CHECK(error.what.find('\x1b') == std::string::npos);
    CHECK(error.what.find('\n') == std::string::npos);
    CHECK(id_of("transport", "MCPAC-E0902") == ErrorId::kServerError);
  }

  TEST_CASE("a denial names its tool once, other errors are told with theirs") {
    CHECK(uncaught_error({.kind = "denied",
                          .permission = "fs.read",
                          .message = "permission denied: fs.read: no",
                          .id = ""})
              .what == "permission denied: fs.read: no");
    CHECK(
        uncaught_error({.kind = "tool", .permission = "fs.read", .message = "no", .id = ""}).what ==
        "fs.read: no");
  }
}

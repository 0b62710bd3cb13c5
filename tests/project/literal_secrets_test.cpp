// What of an entry of mcpac.json looks like a secret.
#include "project/clients/literal_secrets.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpac;
using project::literal_secrets;
using Places = std::vector<std::string>;

namespace {

Places of_arguments(OrderedJson arguments) {
  return literal_secrets({{"command", "npx"}, {"args", std::move(arguments)}});
}

}  // namespace

TEST_SUITE("execute/literal_secrets") {
  TEST_CASE("variables, headers and logins are named by their place") {
    CHECK(literal_secrets({{"command", "s"}, {"env", {{"GITHUB_TOKEN", "x"}, {"MODE", "fast"}}}}) ==
          Places{"env.GITHUB_TOKEN"});
    CHECK(literal_secrets({{"url", "https://a.example/mcp"},
                           {"headers", {{"Authorization", "Bearer x"}, {"X-Team", "blue"}}},
                           {"auth", {{"clientSecret", "s"}, {"keyId", "k"}, {"clientId", "c"}}}}) ==
          Places{"headers.Authorization", "auth.clientSecret"});
  }

  TEST_CASE("what is a reference already is none, nor is what is empty") {
    CHECK(literal_secrets({{"url", "https://a.example/mcp?key=${env:KEY}"},
                           {"headers", {{"Authorization", "Bearer ${env:TOKEN}"}}},
                           {"env", {{"API_KEY", ""}}},
                           {"auth", {{"clientSecret", "${file:/x}"}}}})
              .empty());
    CHECK(of_arguments({"--token", "${env:TOKEN}", "--key="}).empty());
  }

  TEST_CASE("arguments are named by the option that they are of") {
    CHECK(of_arguments({"-y", "server", "--token", "x"}) == Places{"args[3] (--token)"});
    CHECK(of_arguments({"--api-key=x", "--mode=fast"}) == Places{"args[0] (--api-key)"});
    CHECK(of_arguments({"mcp-remote", "https://a.example", "--header",
                        "Authorization: Bearer x"}) == Places{"args[3] (--header)"});
    CHECK(of_arguments({"postgresql://jo:pw@db.example/x"}) == Places{"args[0]"});
    CHECK(of_arguments({"ghp0123456789abcdefghijkl"}) == Places{"args[0]"});
  }

  TEST_CASE("a secret that ends in equals signs is no name, and no part of one is said") {
    CHECK(of_arguments({"--token", "dGhpc2lzYXNlY3JldA=="}) == Places{"args[1] (--token)"});
    CHECK(of_arguments({"dGhpc2lzYXNlY3JldDEyMw=="}) == Places{"args[0]"});
    CHECK(of_arguments({"--x", "secret_abc123XYZ_456789="}) == Places{"args[1] (--x)"});
    CHECK(of_arguments({"--x", "secret_abc123XYZ="}).empty());
    CHECK(of_arguments({"--token", "abc=def"}) == Places{"args[1] (--token)"});
    CHECK(of_arguments({"ghp0123456789abcdefghijkl_token=x"}) == Places{"args[0]"});
    // Of programs that set variables.
    CHECK(of_arguments({"-e", "GITHUB_TOKEN=x", "--env", "MODE=fast"}) ==
          Places{"args[1] (GITHUB_TOKEN)"});
    CHECK(of_arguments({"--define", "project_version=2026.08.31"}).empty());
  }

  TEST_CASE("names of packages, files and addresses are none") {
    CHECK(of_arguments({"-y", "@modelcontextprotocol/server-filesystem@2026.8.31",
                        "/home/jo/notes-2026/data.jsonl", "https://a.example/mcp?page=2", "--port",
                        "8080", "server.2026.8.31-beta.example"})
              .empty());
    CHECK(literal_secrets("text").empty());
    CHECK(literal_secrets({{"args", 1}, {"env", 1}, {"auth", 1}, {"url", 1}}).empty());
  }

  TEST_CASE("addresses with a password or a key in them are") {
    CHECK(literal_secrets({{"url", "https://jo:pw@a.example/mcp"}}) == Places{"url"});
    CHECK(literal_secrets({{"url", "https://a.example/mcp?page=2&api_key=x"}}) == Places{"url"});
  }
}

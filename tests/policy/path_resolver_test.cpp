#include <doctest/doctest.h>
#include <unistd.h>

#include "policy/match/path_facts.h"
#include "policy/match/path_value.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {

TEST_CASE("resolve walks links and keeps what does not exist") {
  const World world;
  const SystemPathResolver resolver;
  world.put("data/a.txt", "file");
  world.put("link", "-> data");
  world.put("absolute", "-> ${BASE}/data");
  const auto resolved = [&](const std::string& path) {
    return resolver.resolve(world.base() + path);
  };
  CHECK(resolved("/link/a.txt").value() == world.base() + "/data/a.txt");
  CHECK(resolved("/absolute/new/x").value() == world.base() + "/data/new/x");
  CHECK(resolved("/link/../data/a.txt").value() == world.base() + "/data/a.txt");
  CHECK(resolved("/missing/../data/a.txt").value() == world.base() + "/data/a.txt");
  CHECK(resolved("/data/a.txt/below").value() == world.base() + "/data/a.txt/below");
  CHECK(resolver.resolve("/../../").value() == "/");
}

TEST_CASE("resolve refuses dangling links, loops and relative paths") {
  const World world;
  const SystemPathResolver resolver;
  world.put("dangling", "-> nowhere");
  world.put("a", "-> b");
  world.put("b", "-> a");
  CHECK_FALSE(resolver.resolve(world.base() + "/dangling").has_value());
  CHECK_FALSE(resolver.resolve(world.base() + "/dangling/x").has_value());
  CHECK_FALSE(resolver.resolve(world.base() + "/a").has_value());
  CHECK_FALSE(resolver.resolve("data").has_value());
  CHECK_FALSE(resolver.resolve("").has_value());
}

TEST_CASE("resolve_beneath refuses whatever leaves the base, even when it comes back") {
  const World world;
  const SystemPathResolver resolver;
  world.put("data/sub/b.txt", "file");
  world.put("data/inside", "-> sub");
  world.put("data/absolute", "-> ${BASE}/data/sub");
  world.put("data/round", "-> ../data/sub");
  const std::string base = world.base() + "/data";
  CHECK(resolver.resolve_beneath(base, {"inside", "b.txt"}).value() == base + "/sub/b.txt");
  CHECK(resolver.resolve_beneath(base, {"inside", "..", "x"}).value() == base + "/x");
  CHECK(resolver.resolve_beneath(base, {}).value() == base);
  CHECK_FALSE(resolver.resolve_beneath(base, {"absolute", "b.txt"}).has_value());
  CHECK_FALSE(resolver.resolve_beneath(base, {"round", "b.txt"}).has_value());
  CHECK_FALSE(resolver.resolve_beneath(base, {"..", "data"}).has_value());
}

TEST_CASE("a base that turns into a link after the rule was loaded admits nothing any more") {
  const World world;
  world.put("secret/key", "file");
  auto authority = world.grant({"filesystem.read_text_file(path within ./out)"}).value();
  const auto permission = Permission::parse("filesystem.read_text_file").value();
  CHECK(authority.decide(permission, {{"path", "out/key"}}).allowed());
  world.put("out", "-> secret");
  CHECK_FALSE(authority.decide(permission, {{"path", "out/key"}}).allowed());
}

TEST_CASE("a missing name that the folder has in another normal form is refused") {
  const World world;
  world.put("data/cafe\xCC\x81", "-> ../secret");
  world.put("data/\xE2\x84\xAA", "file");  // the sign for kelvin
  world.put("data/k\xC3\xB6ln", "file");
  const SystemPathResolver resolver;
  const std::string base = world.base() + "/data";
  for (const char* name : {"caf\xC3\xA9", "K"}) {
    CAPTURE(name);
    CHECK_FALSE(resolver.resolve(base + "/" + name).has_value());
    CHECK_FALSE(resolver.resolve_beneath(base, {name, "x"}).has_value());
    CHECK_FALSE(resolver.resolve_beneath(base, {"new", "..", name}).has_value());
  }
  CHECK(resolver.resolve_beneath(base, {"k\xC3\xB6ln"}).has_value());
  CHECK(resolver.resolve_beneath(base, {"caf\xC3\xA8"}).value() == base + "/caf\xC3\xA8");
  CHECK(resolver.resolve_beneath(base, {"new", "caf\xC3\xA9"}).has_value());
  CHECK(resolver.resolve(base + "/k\xC3\xB6ln/\xC3\xA9").has_value());
}

TEST_CASE("what one decision knows of a folder changes no answer about what lies in it") {
  const World world;
  for (const char* name : {"in/File", "in/file", "in/\xC3\xA9", "in/K", "in/deep/x"})
    world.put(name, "file");
  world.put("to", "-> in");
  world.put("in/dangling", "-> nowhere");
  const SystemPathResolver resolver;
  PathWitness witness(resolver);
  for (const auto names : {PathResolver::Names::kAsked, PathResolver::Names::kOwn}) {
    witness.begin({});
    for (int round = 0; round < 2; ++round) {
      for (const char* folder :
           {"in", "to", "in/deep", "in/missing", "in/file", "in/../in", "in/."}) {
        for (const char* name : {"File", "file", "FILE", "deep", "new", "other", "dangling", "..",
                                 ".", "\xC3\xA9", "e\xCC\x81", "K", "\xE2\x84\xAA", "", "x;"}) {
          const std::string path = world.base() + "/" + folder + "/" + name;
          CAPTURE(path);
          const auto direct = resolver.look(path, names);
          const auto known = witness.look(path, names);
          CHECK(direct.has_value() == known.has_value());
          if (direct && known) CHECK(*direct == *known);
          if (!direct && !known) CHECK((direct.error().what == known.error().what || round == 1));
        }
      }
    }
    CHECK(witness.look("/", names).has_value());
    CHECK(witness.take().size() > 50);
  }
}

TEST_CASE("links of /proc are refused: they lead elsewhere in every process") {
  const World world;
  world.put("way", "-> /proc/self/cwd");
  const SystemPathResolver resolver;
  for (const std::string& path :
       {std::string("/proc/self/cwd/x"), std::string("/proc/self"),
        std::string("/proc/thread-self/root"), "/proc/" + std::to_string(::getpid()) + "/cwd/x",
        "/proc/" + std::to_string(::getpid()) + "/fd/0", world.base() + "/way/x"}) {
    CAPTURE(path);
    CHECK_FALSE(resolver.resolve(path).has_value());
    CHECK_FALSE(resolver.resolve_beneath("/", split(path)).has_value());
  }
  CHECK(resolver.resolve("/proc/version").value() == "/proc/version");
}

TEST_CASE("text in another normalisation form than C is told apart") {
  CHECK(is_nfc("caf\xC3\xA9"));
  CHECK(is_nfc("x\xCC\x82"));  // composes with nothing: NFC, though combining
  CHECK_FALSE(is_nfc("cafe\xCC\x81"));
  CHECK_FALSE(is_nfc("\xFF"));
}

}  // namespace mcpac::policy::testing

// The warden's packets: what is written is read back, and anything else is refused whole.
#include "sandbox/protocol.h"

#include <doctest/doctest.h>

namespace mcpac::sandbox {
namespace {

Spec full_spec() {
  Spec spec;
  spec.arguments = {"program", "", "third argument"};
  spec.environment = {"A=1"};
  spec.mounts = {{"/host", "/inside", Mount::Access::kReadWrite}};
  spec.mounts.front().kind = Mount::Kind::kPrivate;
  spec.mounts.front().size = 4096;
  spec.work_directory = "/inside";
  spec.admits = Admits{}.with(ReadsFiles{}).with(Compiles{});
  spec.lowest_tier = Tier::kB;
  spec.limits.cpu = std::chrono::seconds(7);
  spec.limits.memory = 1U << 20U;
  spec.kept_names = {".git", "lefthook*"};
  spec.kept_folders = {{.device = 3, .inode = 7}};
  spec.kept_places = {"/inside/tools/hooks"};
  spec.new_file_mask = 027;
  spec.standard_output = 5;
  spec.channel = 6;
  return spec;
}

}  // namespace

TEST_SUITE("sandbox/protocol") {
  TEST_CASE("a spec survives its packet") {
    const auto request = decode_request(encode_spawn(full_spec()));
    REQUIRE(request);
    const auto* spawn = std::get_if<SpawnRequest>(&*request);
    REQUIRE(spawn != nullptr);
    CHECK(spawn->spec.arguments == full_spec().arguments);
    CHECK(spawn->spec.environment == full_spec().environment);
    CHECK(spawn->spec.work_directory == "/inside");
    CHECK(spawn->spec.admits == full_spec().admits);
    CHECK(spawn->spec.lowest_tier == Tier::kB);
    CHECK(spawn->spec.limits.cpu == std::chrono::seconds(7));
    CHECK(spawn->spec.limits.memory == 1U << 20U);
    CHECK(spawn->spec.kept_names == full_spec().kept_names);
    CHECK(spawn->spec.kept_folders == full_spec().kept_folders);
    CHECK(spawn->spec.kept_places == full_spec().kept_places);
    CHECK(spawn->spec.new_file_mask == 027U);
    REQUIRE(spawn->spec.mounts.size() == 1);
    CHECK(spawn->spec.mounts[0].access == Mount::Access::kReadWrite);
    CHECK(spawn->spec.mounts[0].kind == Mount::Kind::kPrivate);
    CHECK(spawn->spec.mounts[0].size == 4096);
    CHECK_FALSE(spawn->has_input);
    CHECK(spawn->has_output);
    CHECK_FALSE(spawn->has_error);
    CHECK(spawn->has_channel);
  }

  TEST_CASE("a packet that is cut anywhere, or goes on after its end, is refused") {
    const std::string packet = encode_spawn(full_spec());
    for (std::size_t size = 0; size < packet.size(); ++size) {
      CAPTURE(size);
      CHECK_FALSE(decode_request(packet.substr(0, size)));
    }
    CHECK_FALSE(decode_request(packet + '\0'));
    CHECK_FALSE(decode_reply(packet));
  }

  TEST_CASE("a packet with any byte changed is refused or is another valid spec, never trouble") {
    const std::string packet = encode_spawn(full_spec());
    for (std::size_t at = 0; at < packet.size(); ++at) {
      for (const char change : {'\x01', '\x7f', '\xff'}) {
        std::string changed = packet;
        changed[at] = static_cast<char>(changed[at] ^ change);
        const auto request = decode_request(changed);
        if (at < 4) CHECK_FALSE(request);  // the version
        if (request && std::holds_alternative<SpawnRequest>(*request)) {
          CHECK(Admits::from_bits(std::get<SpawnRequest>(*request).spec.admits.bits()));
        }
      }
    }
  }

  TEST_CASE("a string with a NUL inside is refused") {
    Spec spec = full_spec();
    spec.arguments = {std::string("a\0b", 3)};
    CHECK_FALSE(decode_request(encode_spawn(spec)));
  }

  TEST_CASE("answers survive their packets") {
    const auto refused =
        decode_reply(encode(Refused{Refused::Kind::kTierTooLow, {Layer::kRoot, 3, 13}, "text"}));
    REQUIRE(refused);
    const auto* why = std::get_if<Refused>(&*refused);
    REQUIRE(why != nullptr);
    CHECK(why->kind == Refused::Kind::kTierTooLow);
    CHECK(why->failure.layer == Layer::kRoot);
    CHECK(why->failure.item == 3);
    CHECK(why->failure.error == 13);
    CHECK(why->text == "text");
    const auto asked = decode_request(encode_root_request());
    REQUIRE(asked);
    CHECK(std::holds_alternative<RootRequest>(*asked));
    const auto root = decode_reply(encode(RootReply{true}));
    REQUIRE(root);
    CHECK(std::get<RootReply>(*root).own);
    const auto probe = decode_reply(encode(Probe{{{"landlock", true, "ABI 7", ""}}, std::nullopt}));
    REQUIRE(probe);
    CHECK(std::get<Probe>(*probe).capabilities.at(0).detail == "ABI 7");
    CHECK_FALSE(std::get<Probe>(*probe).tier);
  }
}

}  // namespace mcpac::sandbox

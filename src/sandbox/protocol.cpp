// SPDX-License-Identifier: Apache-2.0

#include "sandbox/protocol.h"

#include "sandbox/plan.h"
#include "sandbox/wire.h"

namespace mcpac::sandbox {
namespace {

constexpr std::uint32_t kVersion = 0x4d435701;  // "MCW", 1
enum class MessageKind : std::uint8_t {
  kSpawn,
  kProbe,
  kAskRoot,
  kSpawned,
  kRefused,
  kProbed,
  kRoot
};

void begin(Writer& writer, MessageKind kind) {
  writer.number(kVersion);
  writer.number(static_cast<std::uint8_t>(kind));
}

void write_strings(Writer& writer, const std::vector<std::string>& strings) {
  writer.number(static_cast<std::uint32_t>(strings.size()));
  for (const std::string& text : strings) writer.text(text);
}

std::vector<std::string> read_strings(Reader& reader) {
  std::vector<std::string> strings;
  const std::size_t count = reader.count(kMostStrings);
  for (std::size_t i = 0; i < count && reader.ok(); ++i) strings.push_back(reader.text());
  return strings;
}

void write_limits(Writer& writer, const Limits& limits) {
  writer.number(static_cast<std::uint64_t>(limits.cpu.count()));
  writer.number(limits.memory);
  writer.number(limits.file_size);
  writer.number(limits.processes);
  writer.number(limits.open_files);
}

// The wall clock is the host's, so it does not travel.
Limits read_limits(Reader& reader) {
  Limits limits;
  limits.cpu = std::chrono::seconds(reader.number<std::int64_t>());
  limits.memory = reader.number<std::uint64_t>();
  limits.file_size = reader.number<std::uint64_t>();
  limits.processes = reader.number<std::uint64_t>();
  limits.open_files = reader.number<std::uint64_t>();
  return limits;
}

SpawnRequest read_spawn(Reader& reader) {
  SpawnRequest request;
  Spec& spec = request.spec;
  const auto admits = Admits::from_bits(reader.number<std::uint8_t>());
  if (!admits) reader.reject();
  spec.admits = admits.value_or(Admits{});
  spec.lowest_tier = reader.choice(Tier::kC);
  for (bool* has : {&request.has_input, &request.has_output, &request.has_error,
                    &request.has_channel, &request.has_observer}) {
    *has = reader.number<std::uint8_t>() != 0;
  }
  spec.limits = read_limits(reader);
  spec.work_directory = reader.text();
  spec.arguments = read_strings(reader);
  spec.environment = read_strings(reader);
  spec.kept_names = read_strings(reader);
  const std::size_t folders = reader.count(kMostFolders);
  for (std::size_t i = 0; i < folders && reader.ok(); ++i) {
    FileIdentity folder;
    folder.device = reader.number<std::uint64_t>();
    folder.inode = reader.number<std::uint64_t>();
    spec.kept_folders.push_back(folder);
  }
  spec.kept_places = read_strings(reader);
  spec.new_file_mask = reader.number<std::uint16_t>() & 0777U;
  const std::size_t listens = reader.count(kMostListens);
  for (std::size_t i = 0; i < listens && reader.ok(); ++i) {
    const auto kind = reader.choice(Listen::Kind::kDatagram);
    spec.listens.push_back({kind, reader.number<std::uint16_t>()});
  }
  const std::size_t mounts = reader.count(kMostMounts);
  for (std::size_t i = 0; i < mounts && reader.ok(); ++i) {
    Mount mount;
    mount.host = reader.text();
    mount.inside = reader.text();
    mount.access = reader.choice(Mount::Access::kReadWrite);
    mount.identity.device = reader.number<std::uint64_t>();
    mount.identity.inode = reader.number<std::uint64_t>();
    mount.changes = reader.text();
    mount.kind = reader.choice(Mount::Kind::kAbsent);
    mount.size = reader.number<std::uint64_t>();
    spec.mounts.push_back(std::move(mount));
  }
  return request;
}

void write_refused(Writer& writer, const Refused& refused) {
  writer.number(static_cast<std::uint8_t>(refused.kind));
  writer.number(static_cast<std::uint8_t>(refused.failure.layer));
  writer.number(refused.failure.item);
  writer.number(refused.failure.error);
  writer.text(refused.text);
  writer.number(static_cast<std::uint8_t>(refused.gives));
}

Refused read_refused(Reader& reader) {
  Refused refused;
  refused.kind = reader.choice(Refused::Kind::kBadRequest);
  refused.failure.layer = reader.choice(Layer::kProgram);
  refused.failure.item = reader.number<std::uint16_t>();
  refused.failure.error = reader.number<int>();
  refused.text = reader.text();
  refused.gives = reader.choice(Tier::kC);
  return refused;
}

void write_probe(Writer& writer, const Probe& probe) {
  writer.number(static_cast<std::uint8_t>(probe.tier ? 1 : 0));
  writer.number(static_cast<std::uint8_t>(probe.tier.value_or(Tier::kC)));
  writer.number(static_cast<std::uint32_t>(probe.capabilities.size()));
  for (const Capability& capability : probe.capabilities) {
    writer.text(capability.name);
    writer.number(static_cast<std::uint8_t>(capability.works ? 1 : 0));
    writer.text(capability.detail);
    writer.text(capability.remedy);
  }
}

Probe read_probe(Reader& reader) {
  constexpr std::size_t kMostCapabilities = 64;
  Probe probe;
  const bool has_tier = reader.number<std::uint8_t>() != 0;
  const Tier tier = reader.choice(Tier::kC);
  if (has_tier) probe.tier = tier;
  const std::size_t count = reader.count(kMostCapabilities);
  for (std::size_t i = 0; i < count && reader.ok(); ++i) {
    Capability capability;
    capability.name = reader.text();
    capability.works = reader.number<std::uint8_t>() != 0;
    capability.detail = reader.text();
    capability.remedy = reader.text();
    probe.capabilities.push_back(std::move(capability));
  }
  return probe;
}

}  // namespace

std::string encode_spawn(const Spec& spec) {
  Writer writer;
  begin(writer, MessageKind::kSpawn);
  writer.number(spec.admits.bits());
  writer.number(static_cast<std::uint8_t>(spec.lowest_tier));
  for (const int fd : {spec.standard_input, spec.standard_output, spec.standard_error, spec.channel,
                       spec.observer}) {
    writer.number(static_cast<std::uint8_t>(fd >= 0 ? 1 : 0));
  }
  write_limits(writer, spec.limits);
  writer.text(spec.work_directory.native());
  write_strings(writer, spec.arguments);
  write_strings(writer, spec.environment);
  write_strings(writer, spec.kept_names);
  writer.number(static_cast<std::uint32_t>(spec.kept_folders.size()));
  for (const FileIdentity& folder : spec.kept_folders) {
    writer.number(folder.device);
    writer.number(folder.inode);
  }
  write_strings(writer, spec.kept_places);
  writer.number(static_cast<std::uint16_t>(spec.new_file_mask));
  writer.number(static_cast<std::uint32_t>(spec.listens.size()));
  for (const Listen& listen : spec.listens) {
    writer.number(static_cast<std::uint8_t>(listen.kind));
    writer.number(listen.port);
  }
  writer.number(static_cast<std::uint32_t>(spec.mounts.size()));
  for (const Mount& mount : spec.mounts) {
    writer.text(mount.host.native());
    writer.text(mount.inside.native());
    writer.number(static_cast<std::uint8_t>(mount.access));
    writer.number(mount.identity.device);
    writer.number(mount.identity.inode);
    writer.text(mount.changes.native());
    writer.number(static_cast<std::uint8_t>(mount.kind));
    writer.number(mount.size);
  }
  return writer.take();
}

std::string encode_probe_request() {
  Writer writer;
  begin(writer, MessageKind::kProbe);
  return writer.take();
}

std::string encode_root_request() {
  Writer writer;
  begin(writer, MessageKind::kAskRoot);
  return writer.take();
}

std::optional<Request> decode_request(std::string_view packet) {
  Reader reader(packet);
  if (reader.number<std::uint32_t>() != kVersion) return std::nullopt;
  const MessageKind kind = reader.choice(MessageKind::kRoot);
  if (kind == MessageKind::kProbe && reader.complete()) return ProbeRequest{};
  if (kind == MessageKind::kAskRoot && reader.complete()) return RootRequest{};
  if (kind != MessageKind::kSpawn || !reader.ok()) return std::nullopt;
  SpawnRequest request = read_spawn(reader);
  if (!reader.complete()) return std::nullopt;
  return request;
}

std::string encode(const Reply& reply) {
  Writer writer;
  if (const auto* spawned = std::get_if<Spawned>(&reply)) {
    begin(writer, MessageKind::kSpawned);
    writer.number(static_cast<std::uint8_t>(spawned->tier));
  } else if (const auto* refused = std::get_if<Refused>(&reply)) {
    begin(writer, MessageKind::kRefused);
    write_refused(writer, *refused);
  } else if (const auto* root = std::get_if<RootReply>(&reply)) {
    begin(writer, MessageKind::kRoot);
    writer.number(static_cast<std::uint8_t>(root->own ? 1 : 0));
  } else {
    begin(writer, MessageKind::kProbed);
    write_probe(writer, std::get<Probe>(reply));
  }
  return writer.take();
}

std::optional<Reply> decode_reply(std::string_view packet) {
  Reader reader(packet);
  if (reader.number<std::uint32_t>() != kVersion) return std::nullopt;
  std::optional<Reply> reply;
  switch (reader.choice(MessageKind::kRoot)) {
    case MessageKind::kSpawned: reply = Spawned{reader.choice(Tier::kC)}; break;
    case MessageKind::kRefused: reply = read_refused(reader); break;
    case MessageKind::kProbed: reply = read_probe(reader); break;
    case MessageKind::kRoot: reply = RootReply{reader.number<std::uint8_t>() != 0}; break;
    case MessageKind::kSpawn:
    case MessageKind::kProbe:
    case MessageKind::kAskRoot: break;
  }
  if (!reader.complete()) return std::nullopt;
  return reply;
}

}  // namespace mcpac::sandbox

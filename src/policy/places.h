// SPDX-License-Identifier: Apache-2.0

// Places: files and network destinations that a program itself may reach, without any tool between
// (docs/grants.md, "Files and network"). They are granted as places and not as rules over
// arguments, because the kernel and the host's proxy hold them, not the gate.
//
// A layer that says nothing of files admits none, and the same of the network: as with tools, every
// layer must admit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpac::policy {

enum class FileMode : std::uint8_t { kReadOnly, kReadWrite };
[[nodiscard]] inline std::string to_string(FileMode mode) {
  return mode == FileMode::kReadWrite ? "read-write" : "read-only";
}

// A file, or a folder with all below it.
struct FilePlace {
  std::string path;  // absolute, lexically normal, as it was written
  FileMode mode = FileMode::kReadOnly;
  std::string said_in;  // "mcpac.policy:12", "--files"
  // Target of the path when the rules were loaded, links resolved: opening it must arrive there.
  // The same as `path` where the file system was not asked.
  std::string real = {};
  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

// Owner of a dialled address. One of this machine's own counts as private, however public it looks:
// behind it is what listens for this machine and its network alone.
enum class AddressOf : std::uint8_t { kOthers, kThisMachine };
// Text of a refusal for that.
inline constexpr std::string_view kOwnAddress = "an address of this machine";

// A host as a rule's `host` test names it ("example.com", "*.example.com", "*"), or an address or
// network ("10.1.0.0/16", "::1"); port 0: any port.
struct NetworkPlace {
  std::string host;
  std::uint16_t port = 0;
  std::string said_in;
  // Host "*" and port 0 alone stand for `network any`: any name, and public addresses.
  [[nodiscard]] bool is_any() const { return host == "*" && port == 0; }
  friend bool operator==(const NetworkPlace&, const NetworkPlace&) = default;
};

// Answer to one connection.
struct NetworkAnswer {
  bool allowed = false;
  std::string reason;   // of a refusal, in words
  std::string said_in;  // the statement that admits, or that denies; else empty
  std::string layer;    // that decided
  // "--network api.example.com:443" where a grant on the command line would help.
  std::string would_grant;
  std::string no_grant = {};  // of a refusal: why nothing is suggested
};

// A program's declaration of places: for its layer, all that is known of them. Such a layer admits
// every place of a declared kind, and none of any other.
struct DeclaredPlaces {
  bool files = false;
  bool network = false;
  friend bool operator==(const DeclaredPlaces&, const DeclaredPlaces&) = default;
};

enum class PlaceKind : std::uint8_t { kFiles, kNetwork };

// Why nothing of a kind is granted: the layer that admits none of what those before it do.
struct PlaceRefusal {
  std::string layer;
  std::string why;
  bool denied = false;  // by `deny network`: no grant helps
};

// The permissions that a program declares to see any of them; no rule names these.
inline constexpr char kFilesPermission[] = "mcpac.files";
inline constexpr char kNetworkPermission[] = "mcpac.network";
[[nodiscard]] inline std::optional<PlaceKind> place_kind_of(std::string_view permission) {
  if (permission == kFilesPermission) return PlaceKind::kFiles;
  if (permission == kNetworkPermission) return PlaceKind::kNetwork;
  return std::nullopt;
}

}  // namespace mcpac::policy

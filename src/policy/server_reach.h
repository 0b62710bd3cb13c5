// SPDX-License-Identifier: Apache-2.0

// ServerReach: places that the calls of one server can name, by the rules of an authority.
//
// A value, so that what several authorities admit can be put together (a gateway's clients) and
// asked about places that another one of them denies. It rests on path tests and on exact values;
// it is what a confined server is given and not given (docs/grants.md), and decides no call.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/permission.h"
#include "policy/places.h"

namespace mcpac::policy {

class ServerReach {
 public:
  // A place, and the rules that speak of it, each as "mcpac.policy:12: allow fs.read(…)".
  struct Place {
    std::string path;  // absolute, without links as far as they were known when the rules loaded
    FileMode mode = FileMode::kReadOnly;
    std::set<std::string> rules = {};
    friend bool operator==(const Place&, const Place&) = default;
  };
  // One allow or ask, as far as it speaks of one argument.
  struct Admitting {
    bool anything = false;  // it tests no place
    std::vector<Place> places = {};
    std::vector<std::string> excepted = {};
    friend bool operator==(const Admitting&, const Admitting&) = default;
  };
  struct Layer {
    std::vector<Admitting> admits = {};
    std::vector<std::string> denied = {};
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  // A call needs every layer.
  struct Argument {
    std::string name;
    std::vector<Layer> layers = {};
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  // Of `callable` a tool with arguments that may be a place.
  struct Tool {
    Permission permission;
    bool only_reads = false;  // by its word
    std::vector<Argument> arguments = {};
    friend bool operator==(const Tool&, const Tool&) = default;
  };
  // Tools that some call may be made of. A rule whose time is over admits none; one whose number of
  // calls is used up counts, as its last call may be in work.
  std::set<Permission> callable = {};
  std::vector<Tool> tools = {};
  // Places of denies and exceptions, whether or not some other rule lets calls there.
  std::vector<Place> held_back = {};
  // Rules that no place follows from, with why.
  std::set<std::string> notes = {};

  // Another authority's calls besides: what either admits.
  void add(const ServerReach& other);

  // Places that path tests can ever admit, merged: none lies within another of its mode or a wider
  // one. With the mode that the tools have there: read-only where each says of itself that it only
  // reads.
  [[nodiscard]] std::vector<Place> places() const;

  // Access of all tools' calls at a place, in it, or in what holds it.
  enum class Use : std::uint8_t { kNone, kReads, kWrites };
  struct Users {
    Use use = Use::kNone;
    std::string example;  // "fs.move_file may name it in source"; of kNone empty
  };
  [[nodiscard]] Users users_of(const std::string& path) const;
};

// Of a server's calls: programs call tools; clients of a gateway read resources and prompts, too.
enum class Callers : std::uint8_t { kPrograms, kClients };

}  // namespace mcpac::policy

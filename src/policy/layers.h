// SPDX-License-Identifier: Apache-2.0

// The layers of an authority: as texts that go in, and as rules that are printed again.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/effect.h"
#include "policy/places.h"

namespace mcpac::policy {

// The text of a policy file, and how messages call it; without a name they name the layer.
struct PolicyFile {
  PolicyFile(std::string the_text, std::string the_name = {})  // NOLINT: a text is a file
      : text(std::move(the_text)), name(std::move(the_name)) {}
  PolicyFile(const char* the_text) : text(the_text) {}  // NOLINT: a text is a file
  std::string text;
  std::string name;
};

// Texts of one layer: `--grant`, `--ask`, `--deny` values, and whole policy files.
struct LayerText {
  std::string name;  // "the command line", "mcpac.policy": stands in explanations
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::vector<std::string> denies;
  std::vector<PolicyFile> files;
  // Profiles that hold as well, by name: of `files`, or of these; nothing else is taken from these.
  std::vector<std::string> profiles = {};
  std::vector<PolicyFile> profile_files = {};
  // Statements about places, one a text, as options make them: `files ./src read-only`.
  std::vector<std::string> places = {};
  // Of the layer that says what a program declares: it cuts the places of others to the declared
  // kinds, and names none itself.
  std::optional<DeclaredPlaces> declared = {};
};

// The rules of one layer, printed canonically.
struct LayerRules {
  struct Rule {
    std::string text;
    std::string place;  // "mcpac.policy:12", "--grant"
    Effect effect = Effect::kAllow;
  };
  std::string name;
  std::vector<Rule> rules;
  // What it says of files and the network, printed canonically.
  struct Place {
    std::string text;
    std::string place;  // "mcpac.policy:12", "--files"
  };
  std::vector<Place> places = {};
  std::optional<DeclaredPlaces> declared = {};
};

}  // namespace mcpac::policy

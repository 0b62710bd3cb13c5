// SPDX-License-Identifier: Apache-2.0

// Path facts: answers of the file system while rules were loaded and calls decided, so that a
// decision can be made again when the files are others.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/environment.h"
#include "policy/evidence.h"

namespace mcpac::policy {

// Facts in the order in which they came, found by their question. Programs choose the questions, so
// they are found in a tree: no choice of theirs makes that slow.
class PathFacts {
 public:
  // The first of two about the same question stays.
  void add(PathFact fact);
  [[nodiscard]] const PathFact* find(std::string_view base, std::string_view path) const;
  // Of a question what stands there.
  [[nodiscard]] const PathFact* find_seen(std::string_view path, PathResolver::Names names) const;
  // Of a question what a folder holds.
  [[nodiscard]] const PathFact* find_held(std::string_view folder, std::string_view meaning) const;
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  // None is left.
  [[nodiscard]] std::vector<PathFact> take();

 private:
  std::vector<PathFact> list_;
  std::map<std::string, std::size_t> places_;  // in the list, by question
};

// The bytes that a record of them takes.
[[nodiscard]] std::size_t recorded_size(const std::vector<PathFact>& facts);

// How many different questions the file system may be asked, and what all of them may take.
struct PathBounds {
  std::size_t questions = std::numeric_limits<std::size_t>::max();
  std::size_t work = std::numeric_limits<std::size_t>::max();
};
// Of one call. Nothing else happens on the loop meanwhile, so it is about a tenth of a second: of
// one allow ten thousand paths that are there, or six thousand names that are missing three folders
// down; half as many where a deny asks about them, too.
inline constexpr PathBounds kPathsOfOneCall{.questions = 10'000, .work = std::size_t{1} << 24U};

// A resolver that goes on from a folder which it looked at.
class FolderResolver : public PathResolver {
 public:
  // As look() of this name in the folder, one that look() found to be a folder under the very path
  // that it was asked for: what leads to the folder is not looked at again. `folds`, of the folder,
  // is kept by the caller from one name to the next.
  [[nodiscard]] virtual Result<Sighting> look_in(const Sighting& folder, const std::string& name,
                                                 Names names, std::optional<bool>& folds,
                                                 Work* work) const = 0;
};

// Passes every question on. Between begin() and take() it notes the answers, and a question that
// comes again gets the answer that it got before: what is noted is what was decided. Not
// thread-safe.
class PathWitness final : public PathResolver {
 public:
  explicit PathWitness(const PathResolver& inner)
      : inner_(inner), by_folder_(dynamic_cast<const FolderResolver*>(&inner)) {}
  // While it notes, what it may take is said by the bounds, and not by `work`.
  [[nodiscard]] Result<std::string> resolve(std::string_view path,
                                            Work* work = nullptr) const override;
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work* work = nullptr) const override;
  [[nodiscard]] Result<Sighting> look(std::string_view path, Names names,
                                      Work* work = nullptr) const override;
  [[nodiscard]] Result<bool> holds(std::string_view folder, std::string_view meaning,
                                   const IsMeant& is_meant, Work* work = nullptr) const override;
  void begin(PathBounds bounds);
  // Something was asked beyond the bounds. That got an error, as does whatever is asked after it.
  [[nodiscard]] bool is_beyond_bounds() const { return is_beyond_; }
  [[nodiscard]] std::vector<PathFact> take();

 private:
  // A folder that several paths of one decision lie in: a list of names asks about each.
  struct Folder {
    bool was_looked_at = false;
    std::optional<Sighting> sighting;  // where it is one under the path that it is asked by
    std::optional<bool> folds;
  };
  Result<Sighting> look_anew(std::string_view path, Names names) const;
  // Whether a new question about it is within the bounds, which it then uses; `known`: an old one.
  [[nodiscard]] bool may_ask(std::size_t size, const PathFact* known) const;
  template <class Ask>
  Result<std::string> noted(std::string_view base, std::string path, Ask ask) const;

  const PathResolver& inner_;
  const FolderResolver* by_folder_;  // the same; null: it is none
  bool notes_ = false;
  std::size_t most_questions_ = 0;
  // Matchers ask through a reference to a const resolver.
  mutable PathFacts facts_;
  mutable std::map<std::pair<Names, std::string>, Folder> folders_;
  mutable Work work_{0};
  mutable bool is_beyond_ = false;
};

// Answers from facts. What was not asked then is refused, and remembered as missing.
class RecordedPaths final : public PathResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path,
                                            Work* work = nullptr) const override;
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work* work = nullptr) const override;
  [[nodiscard]] Result<Sighting> look(std::string_view path, Names names,
                                      Work* work = nullptr) const override;
  [[nodiscard]] Result<bool> holds(std::string_view folder, std::string_view meaning,
                                   const IsMeant& is_meant, Work* work = nullptr) const override;
  void set(std::vector<PathFact> facts);
  [[nodiscard]] bool missed_any() const { return missed_; }

 private:
  [[nodiscard]] Result<std::string> find(std::string_view base, std::string_view path) const;
  PathFacts facts_;
  mutable bool missed_ = false;
};

}  // namespace mcpac::policy

// Path facts: what the file system answered while rules were loaded and calls decided, so that a
// decision can be made again when the files are others.
#pragma once

#include <vector>

#include "policy/environment.h"
#include "policy/evidence.h"

namespace mcpac::policy {

// Passes every question on, and notes the answers where somebody wants them; while it does, a
// question that comes again gets the answer that it got before: what is noted is what was decided.
class PathWitness final : public PathResolver {
 public:
  explicit PathWitness(const PathResolver& inner) : inner_(inner) {}
  [[nodiscard]] Result<std::string> resolve(std::string_view path) const override;
  [[nodiscard]] Result<std::string> resolve_beneath(
      std::string_view base, const std::vector<std::string>& components) const override;
  // Borrowed; null: nobody wants them.
  void note_in(std::vector<PathFact>* facts) { facts_ = facts; }

 private:
  template <class Ask>
  Result<std::string> noted(std::string_view base, std::string path, Ask ask) const;
  const PathResolver& inner_;
  std::vector<PathFact>* facts_ = nullptr;
};

// Answers from facts. What nobody asked then is refused, and remembered as missing.
class RecordedPaths final : public PathResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path) const override;
  [[nodiscard]] Result<std::string> resolve_beneath(
      std::string_view base, const std::vector<std::string>& components) const override;
  void set(std::vector<PathFact> facts);
  [[nodiscard]] bool missed_any() const { return missed_; }

 private:
  [[nodiscard]] Result<std::string> find(std::string_view base, std::string_view path) const;
  std::vector<PathFact> facts_;
  mutable bool missed_ = false;
};

}  // namespace mcpac::policy

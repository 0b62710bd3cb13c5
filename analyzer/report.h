// SPDX-License-Identifier: Apache-2.0

// Report: declarations, uses and findings of one C++ program, as plain values.
//
// The worker (analyzer/clang, in the sandbox) writes it as JSON, the host reads it back and
// believes nothing in it beyond its form: a report can only name permissions that the request
// listed. The JSON form is published as docs/analysis-report.schema.json; to_json and
// report_from_json are inverse.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::analyzer {

// One source file of a program.
struct SourceFile {
  std::string file;         // as the user named it, for messages
  std::string source_path;  // where the worker finds it
};

// Request to the worker. Every path is one inside the worker's own sandbox.
struct Request {
  std::string file;         // the source as the user named it, for messages
  std::string source_path;  // where the worker finds it
  std::string headers_dir;  // the verified generated headers: the only home of mcpac and mcp
  std::vector<std::string> arguments;  // the compiler flags, exactly those of the compilation
  // C++ name of every permission tag in the locked headers -> "server.tool":
  // {"mcp::filesystem::read_text_file", "filesystem.read_text_file"}
  std::map<std::string, std::string> permissions;
  std::vector<SourceFile> further{};  // the other sources of the same program
  std::string source_dir{};           // the program's own folder; empty: that of source_path
};

// One permission that the program declares; `where` is the text of a Narrow, empty for the whole
// tool.
struct Declared {
  std::string permission;
  std::string where;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  // "filesystem.read_text_file" or "filesystem.read_text_file where path within ./data"
  [[nodiscard]] std::string text() const;
};

// Does a program with this declaration see files?
[[nodiscard]] bool declares_files(const std::vector<Declared>& declared);

// One argument of a call: its constant value, or nothing where only the run will tell.
struct Argument {
  bool is_constant = false;
  Json value;
};

// Predicted decision of a user's grants on a use. The host adds it (run/check/check_uses.h); a
// worker that says so itself is not believed. How explanations call what a program declares: the
// layer of a use that its own Narrow denies.
inline constexpr std::string_view kDeclarationLayer = "the program's declaration";

struct Foreseen {
  enum class Answer : std::uint8_t { kCovered, kConditional, kDenied };
  Answer answer = Answer::kDenied;
  std::string reason;                   // why it is not covered
  std::string rule;                     // that decides, or came nearest; may be empty
  std::string layer;                    // whose rule that is
  std::string place{};                  // where it stands: "mcpac.policy:12", "--grant"
  std::vector<std::string> depends_on;  // arguments that only the run knows
  bool is_expected = false;             // denied, and the user said that this is meant
  std::size_t other_rules = 0;          // of that layer, that missed as well
  std::string would_grant{};            // the least that would admit it; may be empty
  std::string no_grant{};               // denied: why there is none
  bool asks = false;                    // conditional: a rule may want an answer first
  bool is_lifted = false;               // denied, and made all the same (--no-permission-check)
};
[[nodiscard]] std::string to_string(Foreseen::Answer answer);

struct Use {
  std::string permission;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  std::string function;  // the qualified name of the function that holds the call
  std::map<std::string, Argument> arguments;  // by the tool's original property name
  // The call's arguments could not be read off: others than these may be passed as well. Where it
  // is not set, what is not among them is absent.
  bool open = false;
  std::optional<Foreseen> foreseen{};  // nothing: no grants were given
};

enum class Severity : std::uint8_t { kNote, kWarns, kRefuses };
[[nodiscard]] std::string to_string(Severity severity);

struct Finding {
  std::string rule;  // "forged-type", "foreign-header", "reopened-namespace", "inline-assembly", …
  Severity severity = Severity::kNote;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  std::string message;
  std::string fix;
  std::string allowed{};  // the reason of a `// mcpac-allow:`; empty where there is none
};

// kDenied: nothing speaks against the source, but the grants do not admit all of it. A report holds
// what was found in the source; only overall() says kDenied.
enum class Verdict : std::uint8_t { kOk, kRefused, kCompileError, kDenied };
[[nodiscard]] std::string to_string(Verdict verdict);

// Entry form of the program, one of two. kBinary: it is compiled already, and its note says what it
// declares; what it uses and hides cannot be seen there.
enum class Entry : std::uint8_t { kNone, kAgentMain, kRuntimeObject, kBinary };

struct Report {
  std::string file;  // the source that holds the entry; without one, the first
  // SHA-256 over every file that was read, sources and local headers, with their names
  // (Snapshot::digest); of a binary, over its bytes.
  std::string source_digest;
  Verdict verdict = Verdict::kOk;
  Entry entry = Entry::kNone;
  std::vector<Declared> declared;   // what the entry receives: sorted, without repetition
  std::vector<Use> uses;            // in the order of the source
  std::vector<std::string> unused;  // declared permissions that no use needs
  std::vector<Finding> findings;    // in the order of the source; compile errors are findings too
  // Declared and not granted, as texts; the host adds them (run/check/would_be_granted.h).
  std::vector<std::string> not_granted{};
  std::string grant_fix{};  // what would grant them, for a shell
};

// All that speaks against the program: the findings, and after them, where grants were given, what
// is declared and not granted (rule "not-granted") and the uses that will be denied and are not
// meant to be ("denied-use").
[[nodiscard]] std::vector<Finding> problems(const Report& report);
// Summary in every form of the report: the verdict on the source, and where that is ok, whether the
// grants admit what it declares and uses.
[[nodiscard]] Verdict overall(const Report& report);
// The rules that only a host with grants finds.
[[nodiscard]] bool is_of_grants(const Finding& finding);

[[nodiscard]] Json to_json(const Report& report);
// Origin of a report: a worker of this mcpac, which knows exactly these rules and no grants, or one
// that was saved, perhaps by another version.
enum class Writer : std::uint8_t { kWorker, kSaved };
[[nodiscard]] Result<Report> report_from_json(const Json& json, Writer writer = Writer::kWorker);
[[nodiscard]] Json to_json(const Request& request);
[[nodiscard]] Result<Request> request_from_json(const Json& json);

// Terminal escapes are ours alone: none comes from the source.
enum class Colours : std::uint8_t { kNo, kYes };
// "FILE:LINE:COLUMN: refuses: message [rule]" lines with the source line, a caret and the fix, for
// all problems.
[[nodiscard]] std::string findings_text(const Report& report, std::string_view source,
                                        Colours colours = Colours::kNo);
// The findings, then what the program declares and uses, then the verdict.
[[nodiscard]] std::string to_human_text(const Report& report, std::string_view source,
                                        Colours colours = Colours::kNo);

}  // namespace mcpac::analyzer

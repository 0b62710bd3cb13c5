// SPDX-License-Identifier: Apache-2.0

#include "toolchain/program_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "analyzer/binary_note.h"
#include "core/elf.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/shell_quote.h"

namespace mcpac::toolchain {
namespace {

constexpr std::size_t kMaxInterpreter = 256;
constexpr std::uint64_t kMaxSegments = 65'535;  // a header cannot count more
// Read whole for its digest; a static program with its debug information has tens of megabytes.
constexpr std::size_t kMaxAnalysed = std::size_t{1} << 30U;

std::unexpected<Error> unusable(const std::filesystem::path& file, std::string why,
                                std::string fix = "") {
  return fail(ErrorId::kProgramUnusable,
              fmt::format("{} is not a program that can be run here", file.string()),
              {.where = file.string(), .why = std::move(why), .fix = std::move(fix)});
}

}  // namespace

Result<ProgramFile> inspect_program(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return fail(ErrorId::kFileUnreadable,
                fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return unusable(file, "it is not a regular file");
  const auto read_at = elf::reader_of(fd.get());
  if (!elf::has_magic(read_at)) {
    return unusable(
        file, "it is not an ELF file; scripts have no interpreter in the sandbox",
        fmt::format("a source in C++ is run by: mcpac execute -f {}", shell_quoted(file.string())));
  }
  const auto header = elf::read_header(read_at);
  if (!header || (header->e_type != ET_EXEC && header->e_type != ET_DYN))
    return unusable(file, "it is not a 64-bit x86 program");
  const auto segments = elf::read_segments(read_at, *header, kMaxSegments);
  if (!segments) return unusable(file, segments.error());
  ProgramFile result;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz > kMaxInterpreter)
      return unusable(file, "its interpreter has no usable name");
    result.interpreter.resize(segment.p_filesz);
    if (!read_at(segment.p_offset, std::as_writable_bytes(std::span(result.interpreter))))
      return unusable(file, "it is cut off");
    result.interpreter = result.interpreter.c_str();  // the name ends at its NUL
  }
  auto declared = analyzer::declared_in_binary(read_at, file.string());
  if (!declared) return pass_on(declared);
  result.declared = std::move(*declared);
  return result;
}

Result<DeclaredInNotes> declared_in(std::string_view bytes, const std::filesystem::path& file) {
  return analyzer::declared_in_binary(elf::reader_of(bytes), file.string());
}

bool is_elf_file(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd && elf::has_magic(elf::reader_of(fd.get()));
}

analyzer::Report report_of_binary(const std::filesystem::path& file,
                                  std::vector<analyzer::Declared> declared) {
  analyzer::Report report;
  report.file = file.string();
  report.entry = analyzer::Entry::kBinary;
  report.declared = std::move(declared);
  return report;
}

Result<analyzer::Report> analyze_binary(const std::filesystem::path& file) {
  auto bytes = read_file(file, kMaxAnalysed);
  if (!bytes) return pass_on(bytes);
  auto declared = declared_in(*bytes, file);
  if (!declared) return pass_on(declared);
  if (!*declared) {
    return fail(ErrorId::kProgramUnusable,
                fmt::format("{} does not say what it declares", file.string()),
                {.where = file.string(),
                 .why = "it has no mcpac note: it takes no capability by mcpac::connect, or was "
                        "built with older headers",
                 .fix = "analyse its source, or build it again"});
  }
  auto report = report_of_binary(file, std::move(**declared));
  report.source_digest = sha256_hex(*bytes);
  return report;
}

}  // namespace mcpac::toolchain

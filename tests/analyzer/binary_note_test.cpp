// The reader of notes against files made byte by byte: right ones, broken ones, and thousands that
// were changed at random. What compilers and linkers really write is tested in tests/install.
#include "analyzer/binary_note.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <random>
#include <string>

#include "core/permission.h"

namespace {

using namespace mcpac;
using namespace mcpac::analyzer;

constexpr std::uint64_t kBase = 0x400000;

std::string bytes_of(const auto& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct NoteSpec {
  std::string text;  // as the runtime header writes it
  std::string owner = std::string("mcpac\0", 6);
  std::uint32_t type = 1;
  std::int64_t move = 0;            // added to the right distance
  std::uint64_t size = UINT64_MAX;  // instead of the text's
};

// A program of one loaded segment: headers, notes, texts.
std::string make_elf(const std::vector<NoteSpec>& specs, std::uint16_t type = ET_DYN) {
  const std::size_t segments = 2;
  const std::size_t notes_at = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
  const std::size_t note_size = sizeof(Elf64_Nhdr) + 8 + 16;
  std::size_t text_at = notes_at + specs.size() * note_size;
  std::string notes;
  std::string texts;
  for (const NoteSpec& spec : specs) {
    const auto field = notes_at + notes.size() + sizeof(Elf64_Nhdr) + 8;
    notes += bytes_of(Elf64_Nhdr{static_cast<std::uint32_t>(spec.owner.size()), 16, spec.type});
    notes += spec.owner + std::string(8 - spec.owner.size(), '\0');
    notes += bytes_of(static_cast<std::int64_t>(text_at + texts.size() - field) + spec.move);
    notes += bytes_of(spec.size == UINT64_MAX ? spec.text.size() : spec.size);
    texts += spec.text;
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = type;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = segments;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kBase;
  load.p_filesz = text_at + texts.size();
  Elf64_Phdr note{};
  note.p_type = PT_NOTE;
  note.p_offset = notes_at;
  note.p_vaddr = kBase + notes_at;
  note.p_filesz = notes.size();
  note.p_align = 4;
  return bytes_of(header) + bytes_of(load) + bytes_of(note) + notes + texts;
}

Result<std::optional<std::vector<Declared>>> read(const std::string& file) {
  return declared_in_binary(elf::reader_of(file), "app");
}

std::string zeros(std::string text) {
  for (char& c : text) {
    if (c == '|') c = '\0';
  }
  return text;
}

std::vector<std::string> texts_of(const std::string& file) {
  const auto declared = read(file);
  REQUIRE(declared.has_value());
  REQUIRE(declared->has_value());
  std::vector<std::string> texts;
  for (const Declared& item : **declared) texts.push_back(item.text());
  return texts;
}

std::string why_of(const std::string& file) {
  const auto declared = read(file);
  REQUIRE_FALSE(declared.has_value());
  CHECK(declared.error().id == ErrorId::kProgramUnusable);
  return declared.error().why;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("analyzer/binary_note") {
  TEST_CASE("the notes of a program are read together, sorted and each once") {
    const auto file =
        make_elf({{zeros("memory.read_graph||filesystem.read_text_file|path within ./data|")},
                  {zeros("a.b||memory.read_graph||")}});
    CHECK(texts_of(file) ==
          Texts{"a.b", "filesystem.read_text_file where path within ./data", "memory.read_graph"});
    CHECK(texts_of(make_elf({{zeros("a.b||")}}, ET_EXEC)) == Texts{"a.b"});
  }

  TEST_CASE("declaring nothing and saying nothing are not the same") {
    CHECK(texts_of(make_elf({{""}})).empty());
    const auto silent = read(make_elf({}));
    REQUIRE(silent.has_value());
    CHECK_FALSE(silent->has_value());
    // Another owner's note is another's business.
    const auto other = read(make_elf({{.text = "x", .owner = std::string("GNU\0", 4)}}));
    REQUIRE(other.has_value());
    CHECK_FALSE(other->has_value());
  }

  TEST_CASE("more permissions than any program declares are an error, doubles counted") {
    std::string text;
    for (int i = 0; i < 4'096; ++i) text += zeros("a.b|path within ./" + std::to_string(i) + "|");
    CHECK(texts_of(make_elf({{text}})).size() == 4'096);
    CHECK(why_of(make_elf({{text}, {zeros("a.b||")}})).find("more than 4096 permissions") !=
          std::string::npos);
  }

  TEST_CASE("a note that cannot be read is an error, never an empty declaration") {
    CHECK(why_of(make_elf({{.text = zeros("a.b||"), .type = 2}})).find("does not know") !=
          std::string::npos);
    CHECK(why_of(make_elf({{.text = zeros("a.b||"), .move = 1 << 30}})).find("outside") !=
          std::string::npos);
    CHECK(why_of(make_elf({{.text = zeros("a.b||"), .move = INT64_MIN / 2}})).find("outside") !=
          std::string::npos);
    CHECK(why_of(make_elf({{.text = zeros("a.b||"), .size = 6}})).find("outside") !=
          std::string::npos);
    CHECK(why_of(make_elf({{.text = zeros("a.b||"), .size = UINT64_MAX - 1}})).find("longer") !=
          std::string::npos);
    CHECK(why_of(make_elf({{zeros("a.b|")}})).find("middle of a name") != std::string::npos);
    CHECK(why_of(make_elf({{zeros("nodot||")}})).find("no permission") != std::string::npos);
    CHECK(why_of(make_elf({{zeros("a.\xff||")}})).find("no permission") != std::string::npos);
    CHECK(why_of(make_elf({{zeros("a.b|x\x1b[2J|")}})).find("no rule") != std::string::npos);
    CHECK(why_of(make_elf({{zeros("a.b|" + std::string(5'000, 'x') + "|")}})).find("no rule") !=
          std::string::npos);
  }

  TEST_CASE("what is no linked 64-bit program is refused") {
    CHECK(why_of("int main() {}").find("not an ELF") != std::string::npos);
    CHECK(why_of("").find("not an ELF") != std::string::npos);
    CHECK(why_of(make_elf({{zeros("a.b||")}}, ET_REL)).find("not linked") != std::string::npos);
    std::string other_machine = make_elf({});
    other_machine[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
    CHECK(why_of(other_machine).find("x86") != std::string::npos);
  }

  TEST_CASE("a file that was cut off gives an error or nothing, wherever the cut is") {
    const std::string whole = make_elf({{zeros("a.b||c.d|e|")}, {zeros("f.g||")}});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK_FALSE(read(whole.substr(0, size)).has_value());
    }
  }

  TEST_CASE("files changed at random are read or refused, and never invent what is no permission") {
    const std::string whole = make_elf({{zeros("a.b||c.d|e|")}, {zeros("f.g||")}});
    std::mt19937_64 random(20'261'121);
    std::size_t read_well = 0;
    for (int i = 0; i < 50'000; ++i) {
      std::string file = whole;
      for (auto changes = 1 + random() % 4; changes > 0; --changes)
        file[random() % file.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
      const auto declared = read(file);
      if (!declared || !*declared) continue;
      ++read_well;
      for (const Declared& item : **declared)
        REQUIRE(Permission::parse(item.permission).has_value());
    }
    CHECK(read_well > 1'000);  // else the changes would say nothing about the reader
  }
}

#include "toolchain/image_file.h"

#include <doctest/doctest.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

#include "core/file.h"
#include "toolchain/support_image.h"

using namespace mcpac;
using toolchain::Image;
using toolchain::kImageBegin;
using toolchain::kImageEnd;
using toolchain::testing::ImageBytes;

namespace {

namespace fs = std::filesystem;

// Why the image is refused; empty: it is not.
std::string refused(const std::function<void(ImageBytes&)>& change) {
  ImageBytes image;
  change(image);
  const auto checked = Image::checked(image.bytes());
  if (checked) return "";
  CHECK(checked.error().id == ErrorId::kProgramUnusable);
  return checked.error().why;
}

}  // namespace

TEST_SUITE("execute/image file") {
  TEST_CASE("an image as the linker makes it is one") {
    CHECK(refused([](ImageBytes&) {}) == "");
    CHECK(refused([](ImageBytes& image) { image.add(PT_GNU_EH_FRAME); }) == "");
    CHECK(refused([](ImageBytes& image) { image.add(PT_NOTE); }) == "");
  }

  TEST_CASE("segments lie in the place of programs, apart, and inside of the file") {
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_vaddr = toolchain::kRunnerBegin;
          }).contains("outside of the place"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[0].p_vaddr = 0x1000;
          }).contains("outside of the place"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_memsz = kImageEnd - kImageBegin;
          }).contains("outside of the place"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_memsz = ~std::uint64_t{0};
          }).contains("outside of the place"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[1].p_vaddr = kImageBegin;
          }).contains("on one page"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[0].p_memsz = i.segments[0].p_filesz = 0x1001;
          }).contains("on one page"));
    CHECK(refused([](ImageBytes& i) {
            std::swap(i.segments[1], i.segments[2]);
          }).contains("on one page"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_offset = 0x3000;
          }).contains("outside of the file"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_filesz = ~std::uint64_t{0};
          }).contains("outside of the file"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_memsz = 1;
          }).contains("larger than its memory"));
    CHECK(refused([](ImageBytes& i) {
            i.segments[1].p_offset = 0x1004;
          }).contains("cannot be mapped"));
  }

  TEST_CASE("nothing can be written and executed, and only writable memory is zero at first") {
    CHECK(refused([](ImageBytes& i) {
            i.segments[2].p_flags |= PF_X;
          }).contains("written and executed"));
    CHECK(refused([](ImageBytes& i) { i.segments[1].p_memsz = 0x200; }).contains("zeros"));
  }

  TEST_CASE("no interpreter, no loader, no thread-local variables, no segment that is not known") {
    for (const std::uint32_t type :
         {std::uint32_t{PT_INTERP}, std::uint32_t{PT_DYNAMIC}, std::uint32_t{PT_TLS},
          std::uint32_t{PT_GNU_RELRO}, std::uint32_t{PT_SHLIB}, 0x70000001U}) {
      CHECK(refused([type](ImageBytes& image) { image.add(type); }).contains("of the type"));
    }
  }

  TEST_CASE("the entry names a function, and lists that lie inside") {
    CHECK(refused([](ImageBytes& i) { i.header.e_entry = 0; }).contains("its entry"));
    CHECK(refused([](ImageBytes& i) {
            i.header.e_entry = kImageBegin + 0xfe0;
          }).contains("its entry"));
    CHECK(refused([](ImageBytes& i) { i.table[0] = kImageBegin + 0x2000; }).contains("its main"));
    CHECK(
        refused([](ImageBytes& i) { i.table[0] = toolchain::kRunnerBegin; }).contains("its main"));
    CHECK(refused([](ImageBytes& i) { i.table[2] = i.table[1] - 8; }).contains("around the entry"));
    CHECK(refused([](ImageBytes& i) { i.table[2] = i.table[1] + 4; }).contains("around the entry"));
    CHECK(refused([](ImageBytes& i) { i.table[2] = kImageEnd; }).contains("around the entry"));
    CHECK(refused([](ImageBytes& i) {
            i.table[4] = kImageBegin + 0x1010;
          }).contains("around the entry"));
    CHECK(refused([](ImageBytes& i) {
            i.add(PT_GNU_EH_FRAME);
            i.segments.back().p_vaddr = kImageEnd;
          }).contains("table of frames"));
  }

  TEST_CASE("headers of another kind, too many of them, or beyond the first page are refused") {
    CHECK(refused([](ImageBytes& i) { i.header.e_type = ET_DYN; }).contains("fixed address"));
    CHECK(refused([](ImageBytes& i) { i.header.e_machine = EM_386; }).contains("64-bit x86"));
    CHECK(refused([](ImageBytes& i) { i.header.e_phnum = 17; }).contains("no usual form"));
    CHECK(refused([](ImageBytes& i) { i.header.e_phoff = 4000; }).contains("no usual form"));
    CHECK(refused([](ImageBytes& i) {
            i.header.e_phoff = ~std::uint64_t{0};
          }).contains("no usual form"));
    CHECK(refused([](ImageBytes& i) { i.header.e_phentsize = 8; }).contains("no usual form"));
    CHECK_FALSE(Image::checked(std::string(toolchain::kLargestImage + 1, '\0')).has_value());
  }

  TEST_CASE("an image cut anywhere is refused") {
    const std::string whole = ImageBytes().bytes();
    for (std::size_t size = 0; size < whole.size(); size += 7)
      CHECK_FALSE(Image::checked(whole.substr(0, size)).has_value());
  }

  TEST_CASE("what is mapped of an image is its beginning, and its segments are those of it") {
    ImageBytes bytes;
    bytes.add(PT_NOTE);
    bytes.add(PT_GNU_EH_FRAME);
    const std::string whole = bytes.bytes();
    const auto image = Image::checked("before" + whole + "names", 6);
    REQUIRE(image.has_value());
    CHECK(image->bytes() == whole + "names");
    CHECK(image->mapped() == whole);
    CHECK(image->entry() == bytes.header.e_entry);
    REQUIRE(image->segments().size() == 4);  // nobody asks for the note
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(image->segments()[i].p_vaddr == bytes.segments[i].p_vaddr);
    CHECK(image->segments()[3].p_type == PT_GNU_EH_FRAME);
    const Image copy = *image;
    CHECK(copy.bytes().data() == image->bytes().data());
  }

  TEST_CASE("a segment without memory is nothing that a runner maps") {
    ImageBytes bytes;
    bytes.segments.push_back(ImageBytes::load(~std::uint64_t{0}, 0x1000, 1, 0, PF_R | PF_W | PF_X));
    const auto image = Image::checked(bytes.bytes());
    REQUIRE(image.has_value());
    CHECK(image->segments().size() == 3);
    CHECK(image->mapped() == bytes.bytes());
  }

  TEST_CASE("an image is read from its file; links and folders are none") {
    auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-");
    REQUIRE(folder.has_value());
    const fs::path file = folder->path() / "agent";
    REQUIRE(write_file_atomic(file, ImageBytes().bytes()).has_value());
    const auto image = Image::read(file);
    REQUIRE(image.has_value());
    CHECK(image->bytes() == ImageBytes().bytes());
    fs::create_symlink(file, folder->path() / "link");
    CHECK_FALSE(Image::read(folder->path() / "link").has_value());
    CHECK_FALSE(Image::read(folder->path()).has_value());
    CHECK_FALSE(Image::read(folder->path() / "none").has_value());
  }

  TEST_CASE("what cannot be a program is told from what this machine cannot do") {
    auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-");
    REQUIRE(folder.has_value());
    const auto error_of = [&](const fs::path& file) {
      const auto image = Image::read(folder->path() / file);
      return image ? std::string("none") : std::string(to_string(image.error().id));
    };
    const std::string unusable{to_string(ErrorId::kProgramUnusable)};
    REQUIRE(write_file_atomic(folder->path() / "empty", "").has_value());
    CHECK(error_of("empty") == unusable);
    REQUIRE(write_file_atomic(folder->path() / "large", "").has_value());
    fs::resize_file(folder->path() / "large", toolchain::kLargestImage + 1);
    CHECK(error_of("large") == unusable);
    CHECK(error_of("none") == unusable);
    CHECK(error_of("/proc/self/status") == unusable);
    REQUIRE(write_file_atomic(folder->path() / "agent", ImageBytes().bytes()).has_value());
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const std::string without_descriptors = error_of("agent");
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(without_descriptors == std::string(to_string(ErrorId::kInternal)));
  }
}

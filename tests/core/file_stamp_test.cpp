#include "core/file_stamp.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "core/file.h"

using namespace mcpac;

namespace {

struct Folder {
  TemporaryFolder temporary =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "stamp-").value();
  std::filesystem::path file = temporary.path() / "file";
  Folder() { write("one"); }
  void write(const std::string& text) const { REQUIRE(write_file_atomic(file, text)); }
  // As `touch -d` does it.
  void set_time(timespec time) const {
    const timespec both[] = {time, time};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), both, 0) == 0);
  }
};

}  // namespace

TEST_SUITE("core/file_stamp") {
  TEST_CASE("a file keeps its stamp until it is exchanged, written or made somebody else's") {
    const Folder folder;
    const auto before = stamp_of(folder.file);
    REQUIRE(before.has_value());
    CHECK(before->is_regular);
    CHECK(stamp_of(folder.file) == before);
    folder.write("one");  // another file of the same bytes
    const auto exchanged = stamp_of(folder.file);
    CHECK(exchanged != before);
    CHECK(exchanged->text() != before->text());
    folder.set_time({.tv_sec = 1, .tv_nsec = 0});
    CHECK(stamp_of(folder.file) != exchanged);
  }

  TEST_CASE("what leads to nothing has no stamp, and a folder is no regular file") {
    const Folder folder;
    CHECK(!stamp_of(folder.temporary.path() / "absent"));
    CHECK(!stamp_of(folder.temporary.path())->is_regular);
  }

  TEST_CASE("a link has the stamp of what it leads to") {
    const Folder folder;
    const auto link = folder.temporary.path() / "link";
    std::filesystem::create_symlink(folder.file, link);
    CHECK(stamp_of(link) == stamp_of(folder.file));
  }

  TEST_CASE("a time that no count of nanoseconds can say is told apart all the same") {
    const Folder folder;
    folder.set_time({.tv_sec = 99'999'999'999, .tv_nsec = 1});
    const auto far = stamp_of(folder.file);
    folder.set_time({.tv_sec = 99'999'999'999, .tv_nsec = 2});
    CHECK(stamp_of(folder.file)->text() != far->text());
  }

  TEST_CASE("a file that was just changed is not settled, one of long ago is") {
    const Folder folder;
    auto stamp = *stamp_of(folder.file);
    CHECK(!is_settled(stamp));
    stamp.changed.seconds -= 10;
    CHECK(is_settled(stamp));
    stamp.changed.seconds += 1000;  // of a clock that was set back since
    CHECK(!is_settled(stamp));
  }
}

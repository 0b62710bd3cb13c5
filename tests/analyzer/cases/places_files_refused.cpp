#include <mcpac.hpp>
#include <filesystem>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
int agent_main(mcpac::Requires<mcpac::files>) {  // declared: mcpac.files
  (void)inotify_init1(0);  // expect: warns os-call // fix: last_write_time
  (void)flock(0, LOCK_EX);  // expect: warns os-call // message: on granted files as well // fix: rename
  (void)lockf(0, F_LOCK, 0);  // expect: warns os-call
  (void)link("data/a", "data/b");  // expect: warns os-call // fix: copy the file
  (void)symlink("data/a", "data/b");  // expect: warns os-call
  std::filesystem::create_hard_link("data/a", "data/b");  // expect: warns os-call // fix: copy the file
  std::filesystem::create_symlink("data/a", "data/b");  // expect: warns os-call
  (void)chown("data/a", 1, 1);  // expect: warns os-call
  (void)setxattr("data/a", "user.x", "1", 1, 0);  // expect: warns os-call // fix: file of its own
  (void)fgetxattr(0, "user.x", nullptr, 0);  // expect: warns os-call
  (void)chdir("data");  // expect: warns os-call
  // These are admitted where files are granted read-write.
  (void)chmod("data/a", 0600);
  std::filesystem::permissions("data/a", std::filesystem::perms::owner_read);
  std::filesystem::copy_file("data/a", "data/b");
  std::filesystem::rename("data/a", "data/b");
  return 0;
}

// Granted: programs that were given a place, to read, to write, or to write as changes. What lies
// beside it stays out of reach, whatever they make in it.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {
namespace {

// Where neither a root of its own nor Landlock would hold the grant, there is none.
constexpr const char* kNoGrant = "error MCPAC-E0603 cannot make the sandbox: without namespace";
constexpr const char* kNoGuard = "error MCPAC-E0601 cannot make the sandbox: without namespace";
constexpr const char* kNoChanges = "error MCPAC-E0603 cannot make the sandbox: without a mount n";

Row row(const std::string& name, const std::string& inside, const std::string& below = "") {
  return {"granted_" + name, inside, Control::kWorks, "", below, "", kNoGrant};
}

// In a root of its own there is nothing else; Landlock says no, and is not asked by name.
Row beside(const std::string& name) {
  return row(name, "ENOENT", "EACCES");
}

Row in_tier_a(const std::string& name, const std::string& inside) {
  return row(name, inside, kNoChanges);
}

Row guarded(const std::string& name, const std::string& inside) {
  return {"guarded_" + name, inside, Control::kWorks, "", kNoGuard, "", kNoGrant};
}

Row by_guard(Row row) {
  row.below = kNoGuard;
  return row;
}

Row alone(Row row, const std::string& why) {
  row.control = Control::kNone;
  row.why = why;
  return row;
}

}  // namespace

TEST_SUITE("hostile/granted") {
  TEST_CASE("a place to read is read, and nothing in it or beside it is written") {
    check_granted(
        {
            row("read", "works"),
            beside("read_beside"),
            beside("read_by_dots"),
            beside("read_by_folder"),
            beside("read_by_link"),
            beside("read_link_to_passwd"),
            beside("read_root_of_process"),
            alone(beside("read_host_by_proc"), "hidden on some machines"),
            beside("list_beside"),
            row("write_given", "EACCES"),
            row("append_given", "EACCES"),
            row("empty_given", "EACCES"),
            row("make", "EACCES"),
            row("make_folder", "EACCES"),
            row("remove_given", "EACCES"),
            row("rename_given", "EACCES"),
            row("mode_given", "EACCES"),
            row("time_given", "EACCES"),
            row("truncate_given", "EACCES"),
            alone(row("write_read_only", "EBADF"), "refused anywhere"),
        },
        Granted::kReading);
  }

  TEST_CASE("a place to write is written, and nothing gets out of it or into it") {
    check_granted(
        {
            row("read", "works"),
            row("write", "works"),
            beside("read_beside"),
            beside("read_by_dots"),
            beside("read_by_folder"),
            beside("read_by_link"),
            beside("read_link_to_passwd"),
            beside("read_root_of_process"),
            alone(beside("read_host_by_proc"), "hidden on some machines"),
            beside("write_beside"),
            beside("make_beside"),
            beside("make_folder_beside"),
            beside("remove_beside"),
            beside("empty_beside"),
            beside("mode_beside"),
            beside("time_beside"),
            row("list_beside", "EPERM"),
            beside("rename_out"),
            beside("rename_in"),
            beside("exchange"),
            row("exchange_within", "works"),
            row("leave_whiteout", "EINVAL"),
            beside("write_by_link"),
            row("link_in", "EACCES"),
            row("link_out", "EACCES"),
            row("link_within", "EACCES"),
            row("link_symbolic", "EACCES"),
            row("link_without_name", "EACCES"),
            row("make_fifo", "EACCES"),
            row("make_device", "EACCES"),
            row("make_setuid", "EPERM"),
            row("set_setuid", "EPERM", "EACCES"),
            row("set_setgid_of_folder", "EPERM", "EACCES"),
            row("set_owner", "EACCES"),
            row("set_attribute", "violated fsetxattr"),
            row("set_capability", "violated setxattr"),
            row("run", "EPERM"),
            row("map_to_run", "EPERM", "works"),
            row("copy", "works"),
            row("copy_to_stream", "EINVAL"),
            alone(row("copy_to_channel", "EINVAL"), "is no channel there"),
            row("flood_file", "EFBIG", "signal 25"),
            row("flood_beyond_end", "EOPNOTSUPP"),
            row("reserve", "works"),
            row("sparse_file", "EFBIG", "signal 25"),
            row("grow_file", "EFBIG", "signal 25"),
            row("share_memory_of_file", "EPERM"),
            row("depth_bomb", "works"),
            row("lock", "EPERM"),
            row("lock_range", "EPERM"),
            row("lease", "EPERM"),
            row("notify_folder", "EPERM"),
            row("watch", "violated inotify_add_watch"),
        },
        Granted::kWriting);
  }

  TEST_CASE("names that tools obey are neither made nor changed in a place to write") {
    check_granted(
        {
            guarded("works", "works"),
            alone(guarded("path_only", "EACCES"), "may write what it names"),
            guarded("grow", "EFBIG"),
            guarded("make_folder", "EACCES"),
            guarded("make_in_new", "EACCES"),
            guarded("make_by_dots", "EACCES"),
            guarded("make_by_folder", "EACCES"),
            guarded("make_file", "EACCES"),
            guarded("make_other_case", "EACCES"),
            guarded("make_unseen", "EACCES"),
            guarded("make_through_link", "EACCES"),
            guarded("make_in_kept", "EACCES"),
            guarded("rename_to", "EACCES"),
            guarded("rename_file_to", "EACCES"),
            guarded("link_to", "EACCES"),
            alone(guarded("symlink_to", "EACCES"), "the link is there by then"),
            guarded("write", "EACCES"),
            guarded("empty", "EACCES"),
            guarded("empty_by_reading", "EACCES"),
            guarded("remove", "EACCES"),
            guarded("rename_away", "EACCES"),
            guarded("move_parent", "EBUSY"),
            guarded("move_parent_by_folder", "EBUSY"),
            guarded("exchange_parent", "EBUSY"),
            guarded("exchange_with_parent", "EBUSY"),
            guarded("repository", "EACCES"),
            guarded("repository_by_rename", "EACCES"),
            guarded("worktree", "EACCES"),
            alone(guarded("named", "EACCES"), "nothing names it"),
            alone(guarded("named_below", "EACCES"), "nothing names it"),
            alone(guarded("named_by_link", "EACCES"), "nothing names it"),
            guarded("named_by_rename", "EBUSY"),
            alone(guarded("pipe", "ENXIO"), "it would wait"),
            guarded("signals", "works"),
            guarded("race", "EACCES"),
            guarded("forbidden", "violated getxattr"),
            guarded("make_set_id", "EPERM"),
            alone(guarded("bad_address", "EFAULT"), "refused anywhere"),
        },
        Granted::kGuarded);
  }

  TEST_CASE("what names no kept file goes the same way with a guard as without") {
    check_granted(
        {
            by_guard(row("read", "works")),
            by_guard(row("write", "works")),
            by_guard(row("read_beside", "ENOENT")),
            by_guard(row("write_beside", "ENOENT")),
            by_guard(row("make_beside", "ENOENT")),
            by_guard(row("make_folder_beside", "ENOENT")),
            by_guard(row("remove_beside", "ENOENT")),
            by_guard(row("empty_beside", "ENOENT")),
            by_guard(row("rename_out", "ENOENT")),
            by_guard(row("rename_in", "ENOENT")),
            by_guard(row("exchange", "ENOENT")),
            by_guard(row("exchange_within", "works")),
            by_guard(row("leave_whiteout", "EINVAL")),
            by_guard(row("write_by_link", "ENOENT")),
            by_guard(row("link_in", "EACCES")),
            by_guard(row("link_symbolic", "EACCES")),
            by_guard(row("link_without_name", "EACCES")),
            by_guard(row("make_fifo", "EACCES")),
            by_guard(row("make_setuid", "EPERM")),
            by_guard(row("set_setuid", "EPERM")),
            by_guard(row("set_owner", "EACCES")),
            by_guard(row("set_attribute", "violated fsetxattr")),
            by_guard(row("run", "EPERM")),
            by_guard(row("flood_file", "EFBIG")),
            // A path that the kernel cannot tell is not looked at, so nothing is made there.
            by_guard(row("depth_bomb", "ENAMETOOLONG")),
        },
        Granted::kGuarded);
  }

  TEST_CASE("the same where what is written are changes, which are another folder's") {
    check_granted(
        {
            in_tier_a("read", "works"),
            in_tier_a("write", "works"),
            in_tier_a("read_beside", "ENOENT"),
            in_tier_a("read_by_dots", "ENOENT"),
            in_tier_a("read_by_folder", "ENOENT"),
            in_tier_a("read_by_link", "ENOENT"),
            in_tier_a("read_link_to_passwd", "ENOENT"),
            in_tier_a("read_root_of_process", "ENOENT"),
            alone(in_tier_a("read_host_by_proc", "ENOENT"), "hidden on some machines"),
            in_tier_a("write_beside", "ENOENT"),
            in_tier_a("make_beside", "ENOENT"),
            in_tier_a("make_folder_beside", "ENOENT"),
            in_tier_a("remove_beside", "ENOENT"),
            in_tier_a("empty_beside", "ENOENT"),
            in_tier_a("mode_beside", "ENOENT"),
            in_tier_a("time_beside", "ENOENT"),
            in_tier_a("list_beside", "EPERM"),
            in_tier_a("rename_out", "ENOENT"),
            in_tier_a("rename_in", "ENOENT"),
            in_tier_a("exchange", "ENOENT"),
            in_tier_a("exchange_within", "works"),
            in_tier_a("leave_whiteout", "EINVAL"),
            in_tier_a("write_by_link", "ENOENT"),
            in_tier_a("link_in", "EACCES"),
            in_tier_a("link_out", "EACCES"),
            in_tier_a("link_within", "EACCES"),
            in_tier_a("link_symbolic", "EACCES"),
            in_tier_a("link_without_name", "EACCES"),
            in_tier_a("make_fifo", "EACCES"),
            in_tier_a("make_device", "EACCES"),
            in_tier_a("make_setuid", "EPERM"),
            in_tier_a("set_setuid", "EPERM"),
            in_tier_a("set_setgid_of_folder", "EPERM"),
            in_tier_a("set_owner", "EACCES"),
            in_tier_a("set_attribute", "violated fsetxattr"),
            in_tier_a("set_capability", "violated setxattr"),
            in_tier_a("run", "EPERM"),
            in_tier_a("map_to_run", "EPERM"),
            in_tier_a("flood_file", "EFBIG"),
            in_tier_a("flood_beyond_end", "EOPNOTSUPP"),
            in_tier_a("reserve", "works"),
            in_tier_a("sparse_file", "EFBIG"),
            in_tier_a("grow_file", "EFBIG"),
            in_tier_a("share_memory_of_file", "EPERM"),
            in_tier_a("depth_bomb", "works"),
            in_tier_a("lock", "EPERM"),
            in_tier_a("lock_range", "EPERM"),
            in_tier_a("lease", "EPERM"),
            in_tier_a("notify_folder", "EPERM"),
            in_tier_a("watch", "violated inotify_add_watch"),
        },
        Granted::kChanges);
  }
}

}  // namespace mcpac::hostile

// Files: read, probe, write, link, and the ways around names.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/files") {
  TEST_CASE("no file is read, by no way to its name") {
    check({
        {"read_passwd", "EACCES"},
        {"read_secret", "EACCES"},
        {"read_through_link", "EACCES"},
        {"read_with_dots", "EACCES"},
        {"read_null_device", "EACCES"},
        {"read_random_device", "EACCES"},
        {"read_environment_file", "EACCES"},
        {"read_kernel_file", "EACCES"},
        {"open_root", "EACCES"},
        {"open_here", "EACCES"},
        {"open_path_only", "EACCES"},
        {"open_by_openat2", "EACCES"},
        {"list_root", "EACCES"},
    });
  }

  TEST_CASE("no question about a file is answered: it could be there or not") {
    check({
        {"probe_stat", "EACCES"},
        {"probe_lstat", "EACCES"},
        {"probe_newfstatat", "EACCES"},
        {"probe_statx", "EACCES"},
        {"probe_access", "EACCES"},
        {"probe_faccessat", "EACCES"},
        {"probe_faccessat2", "EACCES"},
        {"probe_readlink", "EACCES"},
        {"probe_readlinkat", "EACCES"},
        {"probe_statfs", "EACCES"},
        {"probe_fstatfs", "EACCES"},
        {"probe_working_folder", "EACCES"},
        {"probe_attribute", "violated getxattr"},
        {"probe_attributes", "violated listxattr"},
        {"watch_begin", "EPERM"},
        {"watch_add", "violated inotify_add_watch"},
        {"watch_whole_system", "violated fanotify_init"},
    });
  }

  TEST_CASE("no file is made, written, renamed, removed or marked") {
    check({
        {"create_by_open", "EACCES"},
        {"create_by_openat", "EACCES"},
        {"create_by_creat", "EACCES"},
        {"create_setuid", "EACCES"},
        {"create_without_name", "EACCES"},
        {"append", "EACCES"},
        {"overwrite_own", "EACCES"},
        {"truncate_by_open", "EACCES"},
        {"truncate_by_name", "EACCES"},
        {"truncate_output", "EACCES"},
        {"grow_by_fallocate", "EACCES"},
        {"make_folder", "EACCES"},
        {"make_folder_at", "EACCES"},
        {"remove_folder", "EACCES"},
        {"remove_file", "EACCES"},
        {"remove_file_at", "EACCES"},
        {"rename_file", "EACCES"},
        {"rename_file_at", "EACCES"},
        {"exchange_files", "EACCES"},
        {"change_mode", "EACCES"},
        {"change_mode_of_open", "EACCES"},
        {"change_mode_at", "EACCES"},
        {"change_mode_at2", "violated fchmodat2"},
        {"change_owner", "EACCES"},
        {"change_owner_of_link", "EACCES"},
        {"change_owner_at", "EACCES"},
        {"change_owner_of_output", "EACCES"},
        {"change_time", "EACCES"},
        {"change_time_old", "EACCES"},
        {"change_times_old", "EACCES"},
        {"change_attribute", "violated setxattr"},
        {"change_attribute_of_open", "violated fsetxattr"},
        {"change_mask", "EACCES"},
        {"change_folder", "EACCES"},
        {"write_back_everything", "violated sync"},
    });
  }

  TEST_CASE("no link and no special file is made") {
    check({
        {"link_hard", "EACCES"},
        {"link_hard_at", "EACCES"},
        {"link_symbolic", "EACCES"},
        {"link_symbolic_at", "EACCES"},
        {"link_open_file", "EACCES"},
        {"make_fifo", "EACCES"},
        {"make_fifo_at", "EACCES"},
        {"make_device", "EACCES"},
        {"make_block_device", "EACCES"},
    });
  }

  TEST_CASE("no file is reached by its number") {
    check({
        {"handle_take", "violated name_to_handle_at"},
        {"handle_open", "violated name_to_handle_at"},
        {"handle_guess", "violated open_by_handle_at"},
    });
  }

  TEST_CASE("nothing below /proc tells of the program or of the host") {
    check({
        {"proc_own_memory", "EACCES"},
        {"proc_own_root", "EACCES"},
        {"proc_own_folder", "EACCES"},
        {"proc_own_program", "EACCES"},
        {"proc_own_descriptor", "EACCES"},
        {"proc_thread_descriptors", "EACCES"},
        {"proc_id_map", "EACCES"},
        {"proc_oom", "EACCES"},
        {"proc_mounts", "EACCES"},
        {"proc_host_environment", "EACCES"},
        {"proc_host_memory", "EACCES"},
        {"proc_host_folder", "EACCES"},
        {"proc_host_root", "EACCES"},
        {"proc_host_descriptors", "EACCES"},
        {"proc_host_namespace", "EACCES"},
        {"proc_settings", "EACCES"},
        {"proc_core_pattern", "EACCES"},
        {"proc_drop_caches", "EACCES"},
    });
  }
}

}  // namespace mcpac::hostile

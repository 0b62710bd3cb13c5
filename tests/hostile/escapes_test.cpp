// Escapes: other roots, mounts, namespaces, ids and programs.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/escapes") {
  TEST_CASE("no other root is entered") {
    check({
        {"chroot_dance", "violated chroot", Control::kApart},
        {"chroot_here", "violated chroot", Control::kApart},
        {"pivot_root", "violated mount", Control::kApart, "", "EPERM"},
    });
  }

  TEST_CASE("nothing is mounted") {
    check({
        {"mount_tmpfs", "violated mount", Control::kApart, "", "EPERM"},
        {"mount_bind", "violated mount", Control::kApart, "", "EPERM"},
        {"mount_proc", "violated mount", Control::kApart, "", "EPERM"},
        {"mount_remount", "violated mount", Control::kApart, "", "EPERM"},
        {"mount_overlay", "violated mount", Control::kApart, "", "EPERM"},
        {"unmount_root", "violated umount2", Control::kApart, "", "EPERM"},
        {"mount_api_open", "violated fsopen", Control::kApart, "", "EPERM"},
        {"mount_api_pick", "violated fspick", Control::kApart},
        {"mount_api_tree", "violated open_tree", Control::kApart, "", "EPERM"},
        {"mount_api_move", "violated open_tree", Control::kApart, "", "EPERM"},
        {"mount_api_change", "violated mount_setattr", Control::kApart, "", "EPERM"},
        {"mount_api_list", "violated system call 458", Control::kApart},
    });
  }

  TEST_CASE("no namespace is made or entered") {
    check({
        {"namespace_user", "violated unshare", Control::kApart, "", "EPERM"},
        {"namespace_mount", "violated unshare", Control::kApart, "", "EPERM"},
        {"namespace_network", "violated unshare", Control::kApart, "", "EPERM"},
        {"namespace_time", "violated unshare", Control::kApart, "", "EPERM"},
        {"namespace_by_clone", "EPERM", Control::kApart},
        {"namespace_by_clone3", "ENOSYS", Control::kApart},
        {"namespace_by_thread", "violated clone", Control::kApart, "", "EPERM"},
        {"namespace_enter", "violated setns", Control::kApart, "", "EPERM"},
        {"namespace_enter_process", "violated pidfd_open"},
        {"host_name", "violated sethostname", Control::kApart},
        {"domain_name", "violated setdomainname", Control::kApart},
    });
  }

  TEST_CASE("no other id and no capability is had") {
    check({
        {"id_user", "violated setuid", Control::kApart},
        {"id_user_both", "violated setreuid", Control::kApart},
        {"id_user_all", "violated setresuid", Control::kApart},
        {"id_group", "violated setgid", Control::kApart},
        {"id_group_all", "violated setresgid", Control::kApart},
        {"id_groups", "violated setgroups", Control::kApart},
        {"id_of_files", "violated setfsuid", Control::kApart},
        {"id_read", "EPERM", Control::kApart},
        {"capabilities_set", "violated capset", Control::kApart},
        {"capabilities_get", "violated capget", Control::kApart},
    });
  }

  TEST_CASE("the rules of the process stay as they are") {
    check({
        {"prctl_keep", "EPERM", Control::kApart},
        {"prctl_dumpable", "EPERM", Control::kApart},
        {"prctl_outlive", "EPERM", Control::kApart},
        {"prctl_reaper", "EPERM", Control::kApart},
        {"prctl_slack", "EPERM", Control::kApart},
        {"prctl_name", "EPERM", Control::kApart},
        {"prctl_filter", "EPERM", Control::kApart},
        {"personality_set", "violated personality", Control::kApart},
        {"filter_more", "violated seccomp", Control::kApart},
    });
  }

  TEST_CASE("no other program is started") {
    check({
        {"run_shell", "EPERM", Control::kApart},
        {"run_itself", "EPERM", Control::kApart},
        {"run_done", "works", Control::kApart},
        {"run_by_path", "EPERM", Control::kApart},
        {"run_memory_file", "EPERM", Control::kApart},
        {"run_descriptors", "EBADF", Control::kApart},
        {"run_from_number", "violated execveat", Control::kApart},
        {"run_after_raising_limit", "EPERM", Control::kApart},
    });
  }
}

}  // namespace mcpac::hostile

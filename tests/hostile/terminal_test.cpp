// The terminal of the user, when it is standard input.
#include <doctest/doctest.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {

TEST_SUITE("hostile/terminal") {
  TEST_CASE("a terminal on standard input takes no orders") {
    check(
        {
            {"push_input", "ENOTTY"},
            {"take_terminal", "ENOTTY"},
            {"read_modes", "ENOTTY"},
            {"change_modes", "ENOTTY"},
            {"change_size", "ENOTTY"},
            {"change_discipline", "ENOTTY"},
            {"foreground_group", "ENOTTY"},
            {"hang_up_terminal", "ENOTTY"},
            {"count_input", "ENOTTY"},
            {"open_terminal", "EACCES"},
            {"open_new_terminal", "EACCES"},
            {"is_terminal", "ENOTTY"},
        },
        Input::kTerminal);
  }
}

}  // namespace mcpac::hostile

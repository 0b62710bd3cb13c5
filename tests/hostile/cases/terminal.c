/* Terminal: standard input is one here, and the case leads its session outside of the sandbox. */
#include <sys/ioctl.h>
#include <termios.h>

#include "cases.h"

static struct termios modes;
CASE(push_input) { return ioctl(0, TIOCSTI, "x"); }
CASE(take_terminal) { return ioctl(0, TIOCSCTTY, 0); }
CASE(read_modes) { return ioctl(0, TCGETS, &modes); }
CASE(change_modes) { return ioctl(0, TCGETS, &modes) < 0 ? -1 : ioctl(0, TCSETS, &modes); }
CASE(change_size) { return ioctl(0, TIOCSWINSZ, &(struct winsize){1, 1, 0, 0}); }
CASE(change_discipline) { return ioctl(0, TIOCSETD, &(int){0}); }
CASE(foreground_group) { return ioctl(0, TIOCGPGRP, &(pid_t){0}); }
CASE(hang_up_terminal) {
  signal(SIGHUP, SIG_IGN); /* outside it comes to the one who asks */
  return ioctl(0, TIOCNOTTY, 0);
}
CASE(count_input) { return ioctl(0, FIONREAD, &(int){0}); }
CASE(open_terminal) { return open("/dev/tty", O_RDWR | O_NOCTTY); }
CASE(open_new_terminal) { return open("/dev/ptmx", O_RDWR | O_NOCTTY); }
CASE(is_terminal) { return isatty(0) ? 0 : -1; }

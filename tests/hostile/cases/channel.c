/* The channel: frames that are wrong, never finished, or too many. The rest is the gate's. */
#include <time.h>

#include "cases.h"

static const char kBegin[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",";
static const char kCall[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"none.none\",\"arguments\":{}}}\n";

static long answers(void) {
  char text[4096];
  ssize_t size = read(kChannel, text, sizeof text - 1);
  if (size <= 0) return say("end");
  text[size] = 0;
  const char* code = strstr(text, "\"code\":");
  if (code == NULL) return say("answer");
  text[strcspn(text, "\n")] = 0;
  char number[16];
  snprintf(number, sizeof number, "%.6s", code + 7);
  return say(number);
}
static long send_text(const char* text, size_t size) {
  while (size > 0) {
    ssize_t sent = write(kChannel, text, size);
    if (sent < 0) return -1;
    text += sent;
    size -= (size_t)sent;
  }
  return 0;
}
/* The host hangs up on who says too much. */
static long cut(void) {
  return errno == EPIPE || errno == ECONNRESET ? say("cut") : -1;
}
CASE(frame_never_finished) {
  if (send_text(kBegin, sizeof kBegin - 1) != 0) return -1;
  for (;;) sleep(1000);
}
CASE(frame_slowly) {
  for (const char* c = kCall;; c = c[1] == 0 ? kCall : c + 1) {
    if (c[1] == 0) continue; /* never its last byte */
    if (write(kChannel, c, 1) < 0) return -1;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
}
CASE(frame_without_tool) { return send_text(kCall, sizeof kCall - 1) != 0 ? -1 : answers(); }
CASE(frame_no_json) { return send_text("{{{\n", 4) != 0 ? -1 : answers(); }
CASE(frame_binary) { return send_text("\0\xff\xfe\x80\n", 5) != 0 ? -1 : answers(); }
CASE(frame_deep) {
  static char text[200001];
  memset(text, '[', sizeof text - 1);
  text[sizeof text - 1] = '\n';
  return send_text(text, sizeof text) != 0 ? -1 : answers();
}
CASE(frame_too_long) {
  static char block[65536];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 4096; ++i) /* 256 MiB */
    if (send_text(block, sizeof block) != 0) return cut();
  return 0;
}
CASE(frame_flood_unread) {
  for (int i = 0; i < 1000000; ++i)
    if (send_text(kCall, sizeof kCall - 1) != 0) return cut();
  return 0;
}
CASE(channel_closed) {
  close(kChannel);
  return 0;
}

/* opened.h: what opened.c asks of the library that does the work. */
#pragma once

/* Whether this thread is in one of our functions, which wait by themselves; null where there are none. */
extern int (*penstock_inside)(void) __attribute__((visibility("hidden")));

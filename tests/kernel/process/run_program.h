/* For tests that run ring-3 programs. Task context. */
#pragma once

/*
 * Runs a program on the console, with one argument or (NULL) none; its exit status as $? shows it.
 */
int run_program(const char *path, const char *arg);

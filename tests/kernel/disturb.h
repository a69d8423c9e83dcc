/*
 * Tests on a machine with other work: with the boot word disturb=SEED, a real-time task on each CPU
 * takes it at random moments, for up to 20 ms. Cases that depend on what runs meanwhile fail here
 * within minutes, and not once in hundreds of runs elsewhere.
 */
#pragma once

/* Starts the tasks, if the word is there; they never end. Task context, once. */
void disturb_begin(void);

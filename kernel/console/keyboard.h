/* The PS/2 keyboard as input of the console terminal. */
#pragma once

/* Boot, when interrupts come: by interrupt where one comes when asked for, else by looking. */
void keyboard_init(void);
/* Takes the keys that wait, on a CPU that gets no interrupts any more. */
void keyboard_look(void);

/*
 * The names of the shell's commands, for a program that looks into the file of the kernel before it boots it (trapline run): behind these
 * bytes a line for each, then a NUL.
 */
#pragma once

#define SHELL_NAMES_MAGIC "Trapline's commands:\n"

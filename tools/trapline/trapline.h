/* The commands of trapline, the program on the host. */
#pragma once

#include "tools/trapline/lib/util.h"

/* The commands: argv[0] is the name of the command. They return the exit status. */
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_extract(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_goto(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);

/* Patterns of file names and `case`: * ? [..] with ! or ^, ranges and [:classes:]; a backslash takes a character as it is. */
#pragma once

#include "kernel/shell/arena.h"

bool sh_glob_match(const char *pattern, const char *text);
/* As above for the first n bytes of text. */
bool sh_glob_match_n(const char *pattern, const char *text, size_t n);
/* Is there an unquoted * ? or [ ? */
bool sh_glob_magic(const char *pattern);
/* Is c of the class named by the n bytes at name ("alpha")? */
bool sh_class_has(const char *name, size_t n, unsigned char c);

struct sh_words { /* a growing array of words in an arena */
	char **v;
	int n, room;
	bool failed;
};

void sh_words_add(struct sh_words *w, struct sh_arena *a, char *word);
void sh_words_sort(char **v, int n);
/* Adds the paths matching the pattern, sorted; false: none does (nothing added). Task context: reads directories. */
bool sh_glob_paths(const char *pattern, struct sh_arena *a, struct sh_words *out);

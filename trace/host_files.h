/*
 * What a host may want to know about the directories that it shows of the tracer. Weak: it is not
 * told.
 */
#pragma once

/*
 * A directory has come: of an event in its system's, or of an instance in "instances". host_lock
 * held.
 */
void host_directory_made(const char *name, const char *parent);

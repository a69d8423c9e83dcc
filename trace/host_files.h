/*
 * New directories of the tracer, for a host that shows their times. Weak: does nothing.
 */
#pragma once

/*
 * A directory has come: of an event in its system's, of an instance in "instances", of a monitor in
 * "monitors". host_lock held.
 */
void host_directory_made(const char *name, const char *parent);

/*
 * Events of programs.
 */
#pragma once

/*
 * Asks for user_events_settle(), and for the words of programs to be set, once the control lock is
 * given up: events of programs were switched, or nobody needs one any more. host_lock held. Weak:
 * does nothing, for a host without programs.
 */
void host_user_events_changed(void);
/* trace/user/user.c: user events that were to go when unused, and are. Takes host_lock. */
void user_events_settle(void);

/* For the defaults alone: a function that another of its name replaces when both are linked. */
#pragma once

#define __weak __attribute__((weak))

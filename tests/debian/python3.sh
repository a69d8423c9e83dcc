# Threads, processes, files, signals, sockets, an event loop.
python3.11 -B "${0%/*}/python3.py"

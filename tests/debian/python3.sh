# Threads, processes, files, signals.
python3.11 -B "${0%/*}/python3.py"

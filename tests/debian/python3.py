import hashlib
import json
import multiprocessing
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading

q = queue.Queue()
threads = [threading.Thread(target=lambda i=i: q.put(i * i)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(q.get() for _ in range(8)))
print(json.dumps({"a": [1, 2, {"b": None}]}, sort_keys=True), hashlib.sha256(b"x" * 1000).hexdigest())
print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 4"], capture_output=True, text=True))
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "f")
    with open(path, "w") as f:
        f.write("abc")
    os.chmod(path, 0o640)
    print(os.stat(path).st_size, oct(os.stat(path).st_mode), os.listdir(d))
signal.signal(signal.SIGALRM, lambda sig, frame: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()

def square(x):
    return x * x


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(square, range(10)))
    poll = select.poll()
    r, w = os.pipe()
    poll.register(r, select.POLLIN)
    print(poll.poll(1))
    os.write(w, b"x")
    print([event for fd, event in poll.poll()])
    sys.stdout.flush()
    sys.exit(5)

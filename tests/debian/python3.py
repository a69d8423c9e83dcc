import asyncio
import hashlib
import json
import multiprocessing
import os
import queue
import select
import signal
import socket
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
alarms = []
signal.signal(signal.SIGALRM, lambda sig, frame: alarms.append(sig))
# More than once: on a busy machine the first may come before pause() is reached, which would then wait for ever.
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print("alarm" if alarms else "no alarm")

a, b = socket.socketpair()
a.sendall(b"x" * 100000 if a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > 200000 else b"small")
print(len(b.recv(1000)), a.family.name, a.type.name)
a.close()
server = socket.socket(socket.AF_UNIX)
server.bind("sock")
server.listen()
print(server.getsockname(), oct(os.stat("sock").st_mode & 0o170000))


def serve():
    conn, peer = server.accept()
    with conn:
        print("accepted", repr(peer))
        fds = socket.recv_fds(conn, 100, 1)
        print(fds[0], os.read(fds[1][0], 100))
        conn.sendall(b"done")


t = threading.Thread(target=serve)
t.start()
client = socket.socket(socket.AF_UNIX)
client.connect("sock")
r, w = os.pipe()
os.write(w, b"through a passed descriptor")
socket.send_fds(client, [b"with it"], [r])
print(client.recv(100), client.getpeername())
t.join()
try:
    socket.socket(socket.AF_INET).connect(("127.0.0.1", 1))
except OSError as e:
    print("no network here" if e.errno else e)


async def chat():
    async def handle(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    srv = await asyncio.start_unix_server(handle, "async")
    reader, writer = await asyncio.open_unix_connection("async")
    writer.write(b"an event loop\n")
    print(await reader.read())
    writer.close()
    srv.close()
    proc = await asyncio.create_subprocess_exec("echo", "a child", stdout=subprocess.PIPE)
    print(await proc.communicate())
    print(await asyncio.gather(*(asyncio.sleep(0.001 * i, i) for i in range(5))))


asyncio.run(chat())


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

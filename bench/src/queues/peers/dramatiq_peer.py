"""dramatiq as a producer or as a worker of the benchmark `queues`; see orders.rs."""

import json
import os
import sys
import threading
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker

# More threads get less done, as only one of them runs at a time.
PRODUCER_THREADS = 4

role, _, place, task = sys.argv[1:5]
task = json.loads(task)
broker = RedisBroker(url=place)
dramatiq.set_broker(broker)

lock = threading.Lock()
tally = {"started": 0, "ran": 0, "first_ns": 0, "last_ns": 0, "cpu_first_us": 0.0}
latencies = []


def say(what):
    print(json.dumps(what), flush=True)


def cpu_us():
    return time.process_time_ns() / 1000


def payload(submitted_ns, size):
    return f"{submitted_ns:020}".ljust(size, "x")


@dramatiq.actor(queue_name="bench")
def job(payload):
    now = time.monotonic_ns()
    submitted = int(payload[:20])
    with lock:
        if tally["started"] == 0:
            tally["first_ns"] = now
            tally["cpu_first_us"] = cpu_us()
        tally["started"] += 1
        if submitted:
            latencies.append((now - submitted) / 1000)
    if task["work"] == "hold":
        threading.Event().wait()
    with lock:
        tally["last_ns"] = max(tally["last_ns"], now)
        tally["ran"] += 1


def enqueue(how, jobs, width, stamped):
    def send(jobs):
        for _ in range(jobs):
            job.send(payload(0, task["payload"]))

    if how == "single":
        send(jobs)
    elif how == "concurrent":
        share = jobs // PRODUCER_THREADS
        shares = [share] * (PRODUCER_THREADS - 1) + [jobs - share * (PRODUCER_THREADS - 1)]
        threads = [threading.Thread(target=send, args=[share]) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif how == "paced":
        start = time.monotonic()
        for index in range(jobs):
            time.sleep(max(0.0, start + index / width - time.monotonic()))
            job.send(payload(time.monotonic_ns() if stamped else 0, task["payload"]))
    else:
        sys.exit("it has no call for many jobs")


def produce():
    how, width = task["how"], task["width"]
    if task["warm_up"]:
        enqueue(how, task["warm_up"], width, False)
    start, cpu = time.monotonic(), cpu_us()
    enqueue(how, task["jobs"], width, True)
    say({"seconds": time.monotonic() - start, "cpu_us": cpu_us() - cpu})


def work():
    worker = dramatiq.Worker(broker, worker_threads=task["concurrency"])
    worker.start()
    say({})
    for line in sys.stdin:
        if line.strip() == "latencies":
            say(latencies)
        else:
            with lock:
                report = dict(tally)
            say({**report, "cpu_us": cpu_us()})


if role == "produce":
    produce()
else:
    work()
# The threads of a worker would keep the process alive.
os._exit(0)

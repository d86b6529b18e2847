// BullMQ as a producer or as a worker of the benchmark `queues`; what is said is in orders.rs.

import { createInterface } from "node:readline";
import { Queue, Worker } from "bullmq";

const QUEUE = "bench";
const [role, , place, task] = process.argv.slice(2);
const url = new URL(place);
const connection = { host: url.hostname, port: Number(url.port), maxRetriesPerRequest: null };

const say = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const payload = (submittedNs, size) => String(submittedNs).padStart(20, "0").padEnd(size, "x");
const options = { removeOnComplete: true };

async function enqueue(queue, order, stamped) {
  const add = (moment) => queue.add("job", { payload: payload(moment, order.payload) }, options);
  if (order.how === "single") {
    for (let job = 0; job < order.jobs; job++) await add(0n);
  } else if (order.how === "concurrent") {
    let left = order.jobs;
    const place = async () => {
      while (0 < left--) await add(0n);
    };
    await Promise.all(Array.from({ length: order.width }, place));
  } else if (order.how === "bulk") {
    for (let first = 0; first < order.jobs; first += order.width) {
      const length = Math.min(order.width, order.jobs - first);
      const data = { payload: payload(0n, order.payload) };
      await queue.addBulk(Array.from({ length }, () => ({ name: "job", data, opts: options })));
    }
  } else {
    await paced(order, () => add(stamped ? process.hrtime.bigint() : 0n));
  }
}

// At an even pace, whether or not the jobs before have been acknowledged.
async function paced(order, add) {
  const start = performance.now();
  const underWay = [];
  while (underWay.length < order.jobs) {
    const due = Math.min(order.jobs, 1 + ((performance.now() - start) * order.width) / 1000);
    while (underWay.length < Math.floor(due)) underWay.push(add());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(underWay);
}

async function produce(order) {
  const queue = new Queue(QUEUE, { connection });
  await queue.waitUntilReady();
  if (0 < order.warm_up) await enqueue(queue, { ...order, jobs: order.warm_up }, false);
  const [start, cpu] = [performance.now(), cpuUs()];
  await enqueue(queue, order, true);
  say({ seconds: (performance.now() - start) / 1000, cpu_us: cpuUs() - cpu });
  process.exit(0);
}

async function work(shift) {
  const tally = { started: 0, ran: 0, first_ns: 0, last_ns: 0, cpu_first_us: 0 };
  const latencies = [];
  const run = async (job) => {
    const now = process.hrtime.bigint();
    if (tally.started++ === 0) {
      tally.first_ns = Number(now);
      tally.cpu_first_us = cpuUs();
    }
    const submitted = BigInt(job.data.payload.slice(0, 20));
    if (submitted !== 0n) latencies.push(Number(now - submitted) / 1000);
    if (shift.work === "hold") await new Promise(() => {});
    tally.last_ns = Number(now);
    tally.ran++;
  };
  const worker = new Worker(QUEUE, run, { connection, concurrency: shift.concurrency });
  worker.on("error", (error) => console.error(error));
  await worker.waitUntilReady();
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    say(line === "latencies" ? latencies : { ...tally, cpu_us: cpuUs() });
  });
  lines.on("close", () => process.exit(0));
  say({});
}

await (role === "produce" ? produce : work)(JSON.parse(task));

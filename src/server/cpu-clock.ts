import { openSync, readSync } from 'node:fs';

/**
 * Readings of the operating system are this old at most. Within a millisecond the thread is taken to run, which makes
 * a call as cheap as one of `performance.now()` and an error small: a reading takes 2 µs from `schedstat`.
 */
const MAX_AGE_MS = 1;

let readAt = -Infinity;
let readMs = 0;
const readThreadMs = chooseClock();

/**
 * Returns the processor time of this thread in milliseconds. Unlike the time of a clock, it stands still while other
 * processes have the processor, so that a busy host does not make a query look expensive.
 */
export function readCpuMs(): number {
  const age = performance.now() - readAt;
  if (age < MAX_AGE_MS) return readMs + age;
  readMs = readThreadMs();
  readAt = performance.now();
  return readMs;
}

/**
 * The best clock that there is: Node's own from 23.9 on; else that of Linux, which counts at each tick of the
 * scheduler, some 4 ms; else the processor time of the whole process, which is more than the thread's while others,
 * such as those that make images, work beside it, but never more than the time that has passed.
 */
function chooseClock(): () => number {
  // The types are those of the oldest Node.js that is supported.
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage) return () => toMs(threadCpuUsage());
  return openSchedstat() ?? createProcessClock();
}

/** The first number of the file is the time on the processor in nanoseconds. The main thread has the process's own. */
function openSchedstat(): (() => number) | undefined {
  const buffer = Buffer.alloc(64);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const read = (): number => {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
    };
    return read() > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}

function createProcessClock(): () => number {
  let last = { wall: performance.now(), process: readProcessMs(), thread: 0 };
  return () => {
    const now = { wall: performance.now(), process: readProcessMs() };
    last = { ...now, thread: last.thread + Math.min(now.wall - last.wall, now.process - last.process) };
    return last.thread;
  };
}

const readProcessMs = (): number => toMs(process.cpuUsage());

const toMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

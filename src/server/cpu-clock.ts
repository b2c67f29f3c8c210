import { openSync, readSync } from 'node:fs';

/**
 * The largest age of a value from the operating system, which takes 2 µs to read from `schedstat`. Until then the
 * thread is assumed to run all the time, which makes a call as cheap as `performance.now()` with a small error.
 */
const MAX_AGE_MS = 1;

let readAt = -Infinity;
let readMs = 0;
const readThreadMs = chooseClock();

/**
 * Returns the processor time of this thread in milliseconds. Unlike wall-clock time, it does not advance while other
 * processes have the processor, so a busy host does not make a query look expensive.
 */
export function readCpuMs(): number {
  const age = performance.now() - readAt;
  if (age < MAX_AGE_MS) return readMs + age;
  readMs = readThreadMs();
  readAt = performance.now();
  return readMs;
}

/**
 * Chooses the most accurate clock available. Node.js has one since 23.9. The clock of Linux advances at each tick of
 * the scheduler, about every 4 ms. The fallback is the processor time of the whole process, capped by the elapsed time;
 * it is too high while other threads, such as those for images, are busy.
 */
function chooseClock(): () => number {
  // The type definitions are those of the oldest supported Node.js.
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage) return () => toMs(threadCpuUsage());
  return openSchedstat() ?? createProcessClock();
}

/** The first number of the file is the processor time of the thread in nanoseconds. */
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

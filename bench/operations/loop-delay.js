// Loaded into a server by `--import`. Reports the longest time that the event loop was blocked when its parent asks for
// it: in wall-clock time and in processor time of the thread, which other processes of a busy machine do not lengthen.
import { Buffer } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setInterval } from 'node:timers';

const EVERY_MS = 2;

const buffer = Buffer.alloc(64);
const schedstat = openSync('/proc/thread-self/schedstat', 'r');
const cpuMs = () => parseInt(buffer.toString('latin1', 0, readSync(schedstat, buffer, 0, 64, 0)), 10) / 1e6;

let longest = { wallMs: 0, cpuMs: 0 };
let last = { wall: performance.now(), cpu: cpuMs() };
setInterval(() => {
  const now = { wall: performance.now(), cpu: cpuMs() };
  longest = {
    wallMs: Math.max(longest.wallMs, now.wall - last.wall - EVERY_MS),
    cpuMs: Math.max(longest.cpuMs, now.cpu - last.cpu),
  };
  last = now;
}, EVERY_MS).unref();

process.on('message', (message) => {
  if (message !== 'longest block') return;
  process.send?.(longest);
  longest = { wallMs: 0, cpuMs: 0 };
});
process.channel?.unref();

// Loaded with `--import` into processes that tests and benchmarks start, each with an IPC channel. The channel closes
// when the parent ends in whatever way, also by SIGKILL, and no cleanup of its own could run.
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

const end = () => process.kill(process.pid, 'SIGKILL');

// Threads load this as well, and have no channel.
if (isMainThread) {
  // The parent may have ended while this process was starting.
  if (!process.connected) end();
  process.once('disconnect', end);
  // An open channel must not keep a program running that has finished.
  process.channel?.unref();
}

// The lower bound of a scan: it lists and stats every entry and, for `hash`, reads every byte.
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { URL } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** Lists the path and size of each file, in order. */
function list(root) {
  const files = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      const { size } = lstatSync(path);
      if (entry.isDirectory()) folders.push(path);
      else files.push({ path, size });
    }
  }
  return files;
}

function digest(files) {
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  for (const { path } of files) {
    const descriptor = openSync(path);
    hash('md5', buffer.subarray(0, readSync(descriptor, buffer)));
    closeSync(descriptor);
  }
}

function inThreads(files, count) {
  const parts = Array.from({ length: count }, (_, part) => files.filter((_file, index) => index % count === part));
  return Promise.all(
    parts.map((part) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: part });
      return new Promise((resolve) => worker.on('exit', resolve));
    }),
  );
}

if (isMainThread) {
  const [directory, what, threads] = process.argv.slice(2);
  const started = performance.now();
  const files = list(directory);
  if (what === 'hash') await inThreads(files, Number(threads));
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage();
  const cpuMilliseconds = (user + system) / 1000;
  const megabytes = process.memoryUsage().rss / 1e6;
  process.stdout.write(JSON.stringify({ milliseconds, cpuMilliseconds, megabytes, files: files.length }));
} else {
  digest(workerData);
}

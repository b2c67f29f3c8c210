import { spawn } from 'node:child_process';

/**
 * Ends a PostgreSQL server and deletes its folder once this process has ended, in whatever way it did. A server that was
 * stopped before is left alone.
 *
 * @param {string} folder holds `data`, the folder of the database
 */
export function endPostgresWithProcess(folder) {
  // `cat` returns when the pipe closes, which the kernel does for a process that was killed, too.
  const script = 'cat >/dev/null; kill -INT "$(head -n 1 "$1/data/postmaster.pid")" && sleep 1; rm -rf "$1"';
  const guard = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.stdin.on('error', () => undefined);
  guard.stdin.unref?.();
  guard.unref();
}

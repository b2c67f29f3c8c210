import { spawn } from 'node:child_process';

/**
 * Stops a PostgreSQL server and deletes its folder once this process has ended for any reason. A server that was
 * stopped before is ignored.
 *
 * @param {string} folder holds `data`, the folder of the database
 */
export function endPostgresWithProcess(folder) {
  // `cat` returns when the pipe closes, which the kernel does even for a killed process.
  const script = 'cat >/dev/null; kill -INT "$(head -n 1 "$1/data/postmaster.pid")" && sleep 1; rm -rf "$1"';
  const guard = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.stdin.on('error', () => undefined);
  guard.stdin.unref?.();
  guard.unref();
}
